"""Builds the requests to the answering model: system prompt, passages with their metadata, question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Literal

from anthropic.types import MessageParam, ToolParam
from babel import Locale

from kb.answering.answerer import Asked
from kb.answering.language import SURE_LANGUAGES
from kb.answering.parsed_reply import DECLINE, LEFT_OPEN, NOTHING_MORE
from kb.citations.passage import passage_head
from kb.models import Hit, Turn
from kb.text.sentences import split_units

EARLIER_TURNS = 4
EARLIER_CHARACTERS = 6000
"""Most characters of earlier turns, some 1,500 tokens; whole turns, the newest first."""
SEARCH_TOOL: ToolParam = {
    "name": "search_pages",
    "description": (
        "Searches the company's pages and returns the passages that come nearest. Use it for a part "
        "of the question that the passages so far leave open."
    ),
    "input_schema": {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "What to look for, in the words that a page would use. One subject a search.",
            }
        },
        "required": ["query"],
    },
}
RECITED_WORDS = 6
"""Words of a rule in a row that count as reciting it; fewer may occur in any sentence."""
REMINDER = "You have answered in another language. Answer in {language}, whatever the passages are in."

Form = Literal["text", "list", "steps", "table"]

_KEEP_FORM: dict[Form, str] = {
    "text": "",
    "list": (
        "Your previous answer was a bulleted list. If this question asks for the same kind of thing, "
        "answer with a list."
    ),
    "steps": (
        "Your previous answer was a numbered list. If this question asks for the same kind of thing, "
        "number it as before."
    ),
    "table": "Your previous answer was a table. If this question asks for the same kind of thing, answer with a table.",
}


@cache
def answer_system(*, sentences: int, marked: bool, searches: int) -> str:
    """Builds the system prompt, identical for every question of an installation, so that the API can cache it."""
    parts = [
        prompt("answer.md").format(
            sentences=sentences, decline=DECLINE, open=LEFT_OPEN, nothing_more=NOTHING_MORE
        )
    ]
    if searches:
        parts.append(prompt("answer_tools.md").format(searches=searches))
    if marked:
        parts.append(prompt("answer_markers.md"))
    return "\n".join(parts)


@cache
def prompt(name: str) -> str:
    return resources.files("kb.prompts").joinpath(name).read_text(encoding="utf-8")


def recites_rules(text: str) -> bool:
    """Tells whether a sentence is one of the rules that the model was given: no page says it, whatever a page asks."""
    words = _words(text)
    return len(words) >= RECITED_WORDS and f" {' '.join(words)} " in _rules()


@cache
def _rules() -> str:
    parts = ("answer.md", "answer_tools.md", "answer_markers.md")
    return f" {' '.join(word for part in parts for word in _words(prompt(part)))} "


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def question_text(asked: Asked) -> str:
    """Words the question: the language of the answer, the user's own words, their rewrite in the thread."""
    question, query = asked.question.text, asked.rewrite.query
    lines = [f"Answer in {language_name(asked.reply_in)}."]
    if form := _KEEP_FORM[previous_form(asked.turns)]:
        lines.append(form)
    lines.append(f"Question: {question}")
    if query.strip().casefold() != question.strip().casefold():
        lines.append(f"({'In this thread it was understood' if asked.turns else 'Read it'} as: {query})")
    return "\n".join(lines)


def language_name(language: str) -> str:
    """Names a language in English, for the prompt; without a name where the detector is not sure of it."""
    if language not in SURE_LANGUAGES:
        return "the language of the question"
    return str(Locale("en").languages[language])


def numbered_passages(passages: Sequence[Hit], *, first: int) -> list[str]:
    return [
        f"[{number}] {passage_head(hit.chunk)}\n{hit.chunk.text}"
        for number, hit in enumerate(passages, first)
    ]


def earlier_turns(turns: Sequence[Turn]) -> list[MessageParam]:
    """Returns the earlier turns, oldest first, as plain text: the API refuses citations in replayed turns."""
    chosen: list[Turn] = []
    left = EARLIER_CHARACTERS
    for turn in reversed(turns[-EARLIER_TURNS:]):
        left -= len(turn.question) + len(turn.answer)
        if left < 0:
            break
        if turn.question.strip() and turn.answer.strip():
            chosen.append(turn)
    messages: list[MessageParam] = []
    for turn in reversed(chosen):
        messages += [
            {"role": "user", "content": turn.question},
            {"role": "assistant", "content": turn.answer},
        ]
    return messages


def previous_form(turns: Sequence[Turn]) -> Form:
    """Returns the form of the last answer, by the majority of its units."""
    if not turns:
        return "text"
    units = split_units(turns[-1].answer)
    rows = sum(unit.kind == "row" for unit in units)
    items = [unit.text.lstrip() for unit in units if unit.kind == "item"]
    if rows >= 2:
        return "table"
    if len(items) < 2:
        return "text"
    return "steps" if sum(item[0].isdigit() for item in items) * 2 > len(items) else "list"
