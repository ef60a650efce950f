"""The answer in a language model's words: the evidence goes in as citable passages, sentences with citations come out.

Claude cites by itself (`search_result` blocks); other endpoints get numbered passages and are asked for [n] markers.
What comes out is a draft: whether the passages support it is `kb.citations`' to say.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Literal

from kb.answer import join_sentences
from kb.answering.draft import Draft, DraftSentence
from kb.answering.language import is_in_other_language
from kb.citations.marks import Marked, SplitPassage, from_citations, from_markers
from kb.confidence import Evidence
from kb.errors import ModelRefusedError, ModelReplyError, ModelUnavailableError
from kb.llm.client import CitablePassage, LanguageModel, Spoken
from kb.models import Chunk, Turn
from kb.settings import ModelSettings
from kb.text.sentences import split_units

logger = logging.getLogger(__name__)

DECLINE = "NOT_IN_PASSAGES"
"""What the model says when the passages do not answer: no word of any language."""
EARLIER_TURNS = 4
EARLIER_CHARACTERS = 6000
"""About 1,500 tokens of what was said before; whole turns, the newest first."""

Form = Literal["text", "list", "steps", "table"]

_LANGUAGES = {
    "en": "English", "nl": "Dutch", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian",
    "pt": "Portuguese", "pl": "Polish", "ja": "Japanese", "zh": "Chinese", "ko": "Korean",
}  # fmt: skip
_REMINDER = "You have answered in another language. Answer in {language}, whatever the passages are in."
SHORTEST_RETRY_S = 3.0
"""A second answer within less would not be whole."""
_KEEP_FORM: dict[Form, str] = {
    "text": "",
    "list": "- Your previous answer was a bulleted list. If this question asks for the same kind of thing, answer with a list.",
    "steps": "- Your previous answer was a numbered list. If this question asks for the same kind of thing, number it as before.",
    "table": "- Your previous answer was a table. If this question asks for the same kind of thing, answer with a table.",
}


class ModelAnswerer:
    """A `Drafter`."""

    def __init__(self, model: LanguageModel, settings: ModelSettings, *, max_sentences: int = 4) -> None:
        self._model = model
        self._settings = settings
        self._max_sentences = max_sentences

    async def draft(
        self, question: str, query: str, evidence: Evidence, turns: Sequence[Turn], *, language: str
    ) -> Draft:
        """Answers the user's own words. `query` goes along where it says what they refer to.

        Raises:
            ModelUnavailableError, ModelRefusedError, ModelReplyError: as `LanguageModel` does.
        """
        chunks = [hit.chunk for hit in evidence.hits]
        system = self._system(language, previous_form(turns))
        asked = _asked(question, query)
        earlier = earlier_turns(turns)
        started = time.monotonic()
        deadline_s = self._settings.answer_deadline_s
        draft = as_draft(await self._answered(system, chunks, asked, earlier, deadline_s))
        left_s = deadline_s - (time.monotonic() - started)
        said = join_sentences([sentence.text for sentence in draft.sentences])
        if left_s < SHORTEST_RETRY_S or not is_in_other_language(said, language):
            return draft
        logger.info("answer.in_other_language", extra={"wanted": language})
        reminded = f"{system}\n{_REMINDER.format(language=_LANGUAGES.get(language, language))}"
        try:
            return as_draft(await self._answered(reminded, chunks, asked, earlier, left_s))
        except (ModelUnavailableError, ModelReplyError, ModelRefusedError) as error:
            logger.info("answer.language_not_mended", extra={"cause": repr(error)})
            return draft

    async def _answered(
        self, system: str, chunks: Sequence[Chunk], asked: str, earlier: Sequence[Spoken], deadline_s: float
    ) -> Marked:
        ask = self._cited if self._model.native_citations else self._marked
        return await ask(system, chunks, asked, earlier, deadline_s)

    async def _cited(
        self, system: str, chunks: Sequence[Chunk], asked: str, earlier: Sequence[Spoken], deadline_s: float
    ) -> Marked:
        passages = [SplitPassage.of(chunk.text) for chunk in chunks]
        blocks = await self._model.complete_cited(
            system,
            [
                CitablePassage(
                    source=chunk.url, title=_title(chunk), blocks=tuple(unit.text for unit in passage.units)
                )
                for chunk, passage in zip(chunks, passages, strict=True)
            ],
            asked,
            earlier=earlier,
            max_tokens=self._settings.max_answer_tokens,
            deadline_s=deadline_s,
        )
        return from_citations(blocks, passages)

    async def _marked(
        self, system: str, chunks: Sequence[Chunk], asked: str, earlier: Sequence[Spoken], deadline_s: float
    ) -> Marked:
        numbered = [f"[{n}] {_title(chunk)}\n{chunk.text}" for n, chunk in enumerate(chunks, 1)]
        text = await self._model.complete_text(
            f"{system}\n{prompt('answer_markers.md')}",
            "\n\n".join(["Passages:", *numbered, asked]),
            earlier=earlier,
            max_tokens=self._settings.max_answer_tokens,
            deadline_s=deadline_s,
        )
        return from_markers(text, len(chunks))

    def _system(self, language: str, form: Form) -> str:
        return prompt("answer.md").format(
            decline=DECLINE,
            language=_LANGUAGES.get(language, "the language of the question"),
            sentences=self._max_sentences,
            form=_KEEP_FORM[form],
        )


@cache
def prompt(name: str) -> str:
    return resources.files("kb.prompts").joinpath(name).read_text(encoding="utf-8")


def as_draft(marked: Marked) -> Draft:
    """The draft, or a declined one where the model said nothing but that the passages do not answer."""
    said = [sentence for sentence in marked.sentences if not _declines(sentence)]
    declined = len(said) < len(marked.sentences) and not any(sentence.hits for sentence in said)
    if marked.dropped:
        logger.info("answer.markers_dropped", extra={"dropped": marked.dropped})
    return Draft(sentences=() if declined else tuple(said), declined=declined, dropped_markers=marked.dropped)


def earlier_turns(turns: Sequence[Turn]) -> list[Spoken]:
    """What was said before, oldest first. Plain text: the API refuses citations in replayed turns."""
    chosen: list[Turn] = []
    left = EARLIER_CHARACTERS
    for turn in reversed(turns[-EARLIER_TURNS:]):
        left -= len(turn.question) + len(turn.answer)
        if left < 0:
            break
        if turn.question.strip() and turn.answer.strip():
            chosen.append(turn)
    return [
        spoken
        for turn in reversed(chosen)
        for spoken in (Spoken(role="user", text=turn.question), Spoken(role="assistant", text=turn.answer))
    ]


def previous_form(turns: Sequence[Turn]) -> Form:
    """The form of the last answer: most of its units decide."""
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


def _asked(question: str, query: str) -> str:
    if query.strip().casefold() == question.strip().casefold():
        return f"Question: {question}"
    return f"Question: {question}\n(In this thread it was understood as: {query})"


def _title(chunk: Chunk) -> str:
    return " › ".join((chunk.page.title, *chunk.section))


def _declines(sentence: DraftSentence) -> bool:
    return DECLINE in re.sub(r"[\\*`]", "", sentence.text)
