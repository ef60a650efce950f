"""An `Answer` as a Slack message. Pure: the day is an argument.

A doubt about the page that carries the answer comes first, then the answer, doubts about further pages, the sources, a
quiet line on what was degraded, and the buttons. Slack's limits hold by construction: each part has its share of the
13,200 characters that a message's blocks may have together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from bot.cited import TITLE_CHARACTERS, mark, source_line, titled_link, told_page, warning_line
from bot.layout import Block, blocks_of, context, label, section, shorten
from bot.messages import Messages, messages_in
from bot.mrkdwn import Piece, as_mrkdwn, escape, to_pieces
from kb.answer import Answer, NearestPage, Note, Sentence, is_block

ANSWER_CHARACTERS = 8500
WARNING_CHARACTERS = 1200
SOURCE_CHARACTERS = 2400
QUERY_CHARACTERS = 250
TEXT_CHARACTERS = 4000
"""Slack advises at most this much for the text that notifications and screen readers use."""

HELPFUL, NOT_HELPFUL, WHY = "footnote_helpful", "footnote_not_helpful", "footnote_why"

_OPEN, _CLOSE = "\ue000", "\ue001"
"""Private-use characters around a citation's number while Markdown is converted; taken out of the texts before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rendered:
    """A message. `text` says the same as the blocks: notifications, screen readers and clients without blocks use it."""

    text: str
    blocks: tuple[Block, ...] = ()


def render(answer: Answer, *, question_id: str, today: date) -> Rendered:
    words = messages_in(answer.language)
    body, said, shortened = _body(answer, words)
    interpreted = _interpreted(answer, words)
    cited = {one.n: one for one in answer.citations}
    carrying, others = (
        [warning_line(one, cited, words, today) for one in answer.warnings if one.carries == carries]
        for carries in (True, False)
    )
    doubts = {one.page.id: one for one in answer.warnings if one.kind != "conflict"}
    sources = [source_line(one, doubts.get(one.chunk.page.id), words) for one in answer.citations]
    notes = _notes(_telling(answer), words, shortened=shortened)
    blocks = [
        *([context(interpreted)] if interpreted else []),
        *_lines(carrying, section, budget=WARNING_CHARACTERS),
        *body,
        *_lines(others, section, budget=WARNING_CHARACTERS),
        *_lines(sources, context, budget=SOURCE_CHARACTERS),
        *([context(notes)] if notes else []),
        *([_buttons(words, question_id)] if answer.outcome in {"answered", "declined", "unclear"} else []),
    ]
    heading = [f"{words.sources}:"] if sources else []
    told = [said, *carrying, *others, *heading, *sources, notes, interpreted]
    return Rendered(
        text=shorten("\n".join(line for line in told if line), TEXT_CHARACTERS), blocks=tuple(blocks)
    )


def plain(text: str) -> Rendered:
    """One of our own sentences, without blocks."""
    return Rendered(text=text)


def spoken(answer: Answer) -> str:
    """What the answer says, as Markdown with its marks, for a terminal or an API: nothing is linked or escaped."""
    if _has_own_words(answer):
        return answer.marked_text
    return _said(answer, messages_in(answer.language), lambda page: f"{page.title} ({page.url})", str)


def _interpreted(answer: Answer, words: Messages) -> str:
    if answer.rewritten is None:
        return ""
    return words.interpreted_as.format(
        query=escape(shorten(" ".join(answer.rewritten.split()), QUERY_CHARACTERS))
    )


def _body(answer: Answer, words: Messages) -> tuple[list[Block], str, bool]:
    """The answer's blocks, its plain text, and whether it had to be shortened."""
    if _has_own_words(answer):
        cited = {one.n: one for one in answer.citations}
        pieces = to_pieces(_marked(answer.sentences, known=frozenset(cited)))
        beside = _beside(answer, words)
        links = {n: mark(citation) + beside.get(n, "") for n, citation in cited.items()}
        numbers = {n: f"[{n}]" + beside.get(n, "") for n in cited}
        blocks, shortened = blocks_of([_with_marks(one, links) for one in pieces], budget=ANSWER_CHARACTERS)
        return blocks, "\n".join(as_mrkdwn(_with_marks(one, numbers)) for one in pieces), shortened
    said = _said(answer, words, lambda page: titled_link(page.title, page.url), escape)
    return [section(said)], said, False


def _beside(answer: Answer, words: Messages) -> dict[int, str]:
    """What stands beside the mark of a disputed statement: its page and that page's date."""
    disputed = {n for warning in answer.warnings for n in warning.disputed}
    return {one.n: f" {told_page(one.chunk.page, words)}" for one in answer.citations if one.n in disputed}


def _has_own_words(answer: Answer) -> bool:
    return answer.outcome == "answered" or bool(answer.sentences and answer.outcome in {"unclear", "chat"})


def _said(
    answer: Answer, words: Messages, shown: Callable[[NearestPage], str], as_text: Callable[[str], str]
) -> str:
    match answer.outcome:
        case "declined":
            pages = ", ".join(shown(page) for page in answer.nearest)
            if not pages:
                return f"{words.declined} {words.ask_better_alone}"
            return "\n".join([words.declined, words.nearest.format(pages=pages), words.ask_better])
        case "unavailable":
            return words.unavailable
        case "chat":
            return str(getattr(words, answer.small_talk or "greeting"))
        case _:
            return _clarifying([as_text(_short_title(one)) for one in answer.readings], words)


def _short_title(title: str) -> str:
    return shorten(" ".join(title.split()), TITLE_CHARACTERS)


def _clarifying(readings: Sequence[str], words: Messages) -> str:
    """One question, with the readings where there are any: "Do you mean A, B or C?"."""
    if len(readings) < 2:
        return words.unclear
    *first, last = readings
    return words.unclear_readings.format(readings=words.or_else.format(first=", ".join(first), last=last))


def _marked(sentences: Sequence[Sentence], *, known: frozenset[int]) -> str:
    """The answer as one Markdown text, with the numbers of its sources at each sentence between private-use marks."""
    text, before, waiting = "", "", ""
    for sentence in sentences:
        own = _closed_fence(sentence.text.replace(_OPEN, "").replace(_CLOSE, "").strip("\n"))
        marks = "".join(f" {_OPEN}{n}{_CLOSE}" for n in sentence.citations if n in known)
        kind = _family(own.split("\n", 1)[0])
        if waiting and kind != "table":  # a table is cited below it: a mark inside would be part of a cell
            text, before, waiting = f"{text}\n\n{waiting.strip()}", "other", ""
        text += _joint(before, kind) if text else ""
        before = _family(own.rsplit("\n", 1)[-1])
        if before == "table":
            text, waiting = text + own, waiting + marks
        elif before == "fence" and marks:
            text, before = f"{text}{own}\n\n{marks.strip()}", "other"
        else:
            text += own + marks
    return f"{text}\n\n{waiting.strip()}" if waiting else text


def _family(line: str) -> str:
    if not is_block(line):
        return "prose"
    start = line.lstrip()[:1]
    return {"|": "table", ">": "quote", "`": "fence", "#": "other"}.get(start, "list")


def _joint(before: str, kind: str) -> str:
    if before == kind == "prose":
        return " "
    return "\n" if before == kind and kind in {"list", "table", "quote"} else "\n\n"


def _closed_fence(text: str) -> str:
    fences = sum(line.lstrip().startswith("```") for line in text.split("\n"))
    return f"{text}\n```" if fences % 2 else text


def _with_marks(piece: Piece, marks: Mapping[int, str]) -> Piece:
    text = piece.text
    for n, shown in marks.items():
        text = text.replace(f"{_OPEN}{n}{_CLOSE}", shown)
    return replace(piece, text=text)


def note_wording(note: str, words: Messages) -> str:
    """A note in the reader's language; one that we have no words for as it stands."""
    wordings = {
        "extractive mode": words.note_extractive,
        "model unavailable": words.note_model_unavailable,
        "model refused": words.note_model_refused,
        "reranker unavailable": words.note_reranker,
        "history unavailable": words.note_history,
        "shortened": words.shortened,
        "pages' language": words.note_pages_language,
        "sentences removed": words.removed(1),
    }
    return wordings.get(note, escape(note))


def _telling(answer: Answer) -> list[Note]:
    """The notes that tell the reader something: without sources there is no order of them to doubt."""
    return [note for note in answer.notes if note != "reranker unavailable" or answer.citations]


def _notes(notes: Sequence[Note], words: Messages, *, shortened: bool) -> str:
    implied = {"model unavailable", "model refused"} & set(notes)  # each says that these are quotes
    told = [note_wording(note, words) for note in notes if note != "extractive mode" or not implied]
    return " ".join([words.shortened, *told] if shortened and "shortened" not in notes else told)


def _lines(lines: Sequence[str], make: Callable[[str], Block], *, budget: int) -> list[Block]:
    kept: list[str] = []
    for line in lines:
        budget -= len(line) + 1
        if budget < 0:
            break
        kept.append(line)
    return [make("\n".join(kept))] if kept else []


def _buttons(words: Messages, question_id: str) -> Block:
    def button(action: str, shown: str, meaning: str) -> Block:
        return {
            "type": "button",
            "action_id": action,
            "value": question_id,
            "text": label(shown) | {"emoji": True},
            "accessibility_label": meaning,
        }

    return {
        "type": "actions",
        "elements": [
            button(HELPFUL, "👍", words.helpful),
            button(NOT_HELPFUL, "👎", words.not_helpful),
            button(WHY, words.why, words.why),
        ],
    }
