"""Reads a model's reply: its sentences, or that no page tells, or what the pages leave open."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kb.answer import join_sentences
from kb.citations import DraftSentence

DECLINE = "NOT_IN_PASSAGES"
"""What the model writes where the passages do not answer; a word of no language."""
NOTHING_MORE = "NOTHING_MORE"
LEFT_OPEN = "LEFT_OPEN"

_SIGN = re.compile(
    rf"(?<![\\*`_])[\\*`_]*(?:{DECLINE}|{NOTHING_MORE}|{LEFT_OPEN})\b[\\*`_]*:?[ \t]*".replace("_", r"\\?_"),
    re.IGNORECASE,  # a small model writes "Not_IN_PASSAGES"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedReply:
    """`closest`: the chunk id of the passage that a declining reply names as close; None for none.

    `left_open`: one sentence on the part of the question that the pages leave open.
    """

    sentences: tuple[DraftSentence, ...] = ()
    declined: bool = False
    nothing_more: bool = False
    closest: str | None = None
    left_open: str = ""


def parse_reply_text(sentences: Sequence[DraftSentence]) -> ParsedReply:
    """Reads the signs that the prompt agrees on. One that declines and yet cites what answers is taken to answer."""
    answering: list[DraftSentence] = []
    left_open: list[DraftSentence] = []
    signs: dict[str, DraftSentence] = {}
    for sentence in sentences:
        before, sign, after = _parted(sentence.text)
        if not sign:
            (left_open if LEFT_OPEN in signs else answering).append(sentence)
            continue
        if before.strip():
            answering.append(replace(sentence, text=before.rstrip()))
        signs.setdefault(sign, sentence)
        if sign == LEFT_OPEN and after.strip():
            left_open.append(replace(sentence, text=after.strip()))
    answers = any(sentence.cites for sentence in answering)
    if DECLINE in signs and not answers:
        return ParsedReply(declined=True, closest=next(iter(signs[DECLINE].cites), None))
    if NOTHING_MORE in signs and not answers:
        return ParsedReply(nothing_more=True)
    return ParsedReply(
        sentences=tuple(answering),
        left_open=join_sentences([" ".join(sentence.text.split()) for sentence in left_open]),
    )


def finished_part(sentences: Sequence[DraftSentence]) -> Sequence[DraftSentence]:
    """Returns the sentences of an unfinished reply that will not change any more: all but the last, up to a sign."""
    certain = sentences[:-1]
    end = next((index for index, sentence in enumerate(certain) if _parted(sentence.text)[1]), len(certain))
    return certain[:end]


def _parted(text: str) -> tuple[str, str, str]:
    """Parts a text at its first sign: the text before it, the sign, and the text behind it."""
    found = _SIGN.search(text)
    if found is None:
        return text, "", ""
    sign = next(
        candidate
        for candidate in (DECLINE, NOTHING_MORE, LEFT_OPEN)
        if candidate in found.group().replace("\\", "").upper()
    )
    return text[: found.start()], sign, text[found.end() :]
