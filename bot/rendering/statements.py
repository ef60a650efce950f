"""Renders a written answer's sentences as blocks, each with its citation markers beside it or below a table or code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.messages.catalog import Messages
from bot.rendering.citation_blocks import citation_mark
from bot.rendering.layout import Block, blocks_of
from bot.rendering.mrkdwn import Piece, as_mrkdwn, to_pieces
from bot.rendering.warnings import format_page
from kb.answer import Answer, Sentence
from kb.marked import marked_markdown

_OPEN, _CLOSE = "\ue000", "\ue001"
"""Private-use characters around a citation's number while Markdown is converted; taken out of the texts before."""


def statement_blocks(answer: Answer, messages: Messages, *, budget: int) -> tuple[list[Block], str, bool]:
    """Returns the sentences as blocks and as mrkdwn with numbers for marks, and whether they had to be shortened."""
    cited = {citation.n: citation for citation in answer.citations}
    pieces = to_pieces(_marked(answer.sentences, messages, cited=frozenset(cited)))
    beside = _beside(answer, messages)
    links = {n: citation_mark(citation) + beside.get(n, "") for n, citation in cited.items()}
    numbers = {n: f"[{n}]" + beside.get(n, "") for n in cited}
    blocks, shortened = blocks_of([_with_marks(piece, links) for piece in pieces], budget=budget)
    return blocks, "\n".join(as_mrkdwn(_with_marks(piece, numbers)) for piece in pieces), shortened


def _beside(answer: Answer, messages: Messages) -> dict[int, str]:
    """Returns what stands beside the mark of a disputed statement: its page and that page's date."""
    disputed = {n for warning in answer.warnings for n in warning.disputed}
    return {
        citation.n: f" {format_page(citation.chunk.page, messages)}"
        for citation in answer.citations
        if citation.n in disputed
    }


def _marked(sentences: Sequence[Sentence], messages: Messages, *, cited: frozenset[int]) -> str:
    """Returns the answer as one Markdown text, with private-use marks around the numbers of each sentence's sources."""
    clean = [
        replace(sentence, text=sentence.text.replace(_OPEN, "").replace(_CLOSE, "")) for sentence in sentences
    ]
    text = marked_markdown(
        clean, lambda n: f"{_OPEN}{n}{_CLOSE}" if n in cited else "", below=messages.sources_below
    )
    return text.replace(f"{_CLOSE}{_OPEN}", f"{_CLOSE} {_OPEN}")


def _with_marks(piece: Piece, marks: Mapping[int, str]) -> Piece:
    text = piece.text
    for n, shown in marks.items():
        text = text.replace(f"{_OPEN}{n}{_CLOSE}", shown)
    return replace(piece, text=text)
