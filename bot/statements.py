"""An answer's own sentences as blocks: each with the marks of its sources, beside it or below a table or code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.cited import mark, told_page
from bot.layout import Block, blocks_of
from bot.messages import Messages
from bot.mrkdwn import Piece, as_mrkdwn, to_pieces
from bot.quotes import closed
from kb.answer import Answer, Sentence, is_block

_OPEN, _CLOSE = "\ue000", "\ue001"
"""Private-use characters around a citation's number while Markdown is converted; taken out of the texts before."""


def statement_blocks(answer: Answer, words: Messages, *, budget: int) -> tuple[list[Block], str, bool]:
    """The sentences as blocks and as mrkdwn with numbers for marks, and whether they had to be shortened."""
    cited = {one.n: one for one in answer.citations}
    pieces = to_pieces(_marked(answer.sentences, known=frozenset(cited)))
    beside = _beside(answer, words)
    links = {n: mark(citation) + beside.get(n, "") for n, citation in cited.items()}
    numbers = {n: f"[{n}]" + beside.get(n, "") for n in cited}
    blocks, shortened = blocks_of([_with_marks(one, links) for one in pieces], budget=budget)
    return blocks, "\n".join(as_mrkdwn(_with_marks(one, numbers)) for one in pieces), shortened


def _beside(answer: Answer, words: Messages) -> dict[int, str]:
    """What stands beside the mark of a disputed statement: its page and that page's date."""
    disputed = {n for warning in answer.warnings for n in warning.disputed}
    return {one.n: f" {told_page(one.chunk.page, words)}" for one in answer.citations if one.n in disputed}


def _marked(sentences: Sequence[Sentence], *, known: frozenset[int]) -> str:
    """The answer as one Markdown text, with the numbers of its sources at each sentence between private-use marks."""
    text, before, waiting = "", "", ""
    for sentence in sentences:
        own = closed(sentence.text.replace(_OPEN, "").replace(_CLOSE, "").strip("\n"))
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


def _with_marks(piece: Piece, marks: Mapping[int, str]) -> Piece:
    text = piece.text
    for n, shown in marks.items():
        text = text.replace(f"{_OPEN}{n}{_CLOSE}", shown)
    return replace(piece, text=text)
