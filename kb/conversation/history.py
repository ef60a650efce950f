"""Withholds earlier answers of a thread that rest on pages which may not be read here any more.

A page can be limited, deleted, or its channel opened to others after it was quoted. Then the answer that it stood in is
no context any more: neither for rewriting, nor for anchors, nor for a model. The people's own questions stay.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Protocol

from kb.models import Audience, Turn


class Readable(Protocol):
    """`kb.index.port.VectorIndex`, as this uses it. Raises `IndexUnavailableError`."""

    async def readable(self, page_ids: Collection[str], *, audience: Audience) -> frozenset[str]: ...


async def readable_turns(turns: Sequence[Turn], index: Readable, *, audience: Audience) -> list[Turn]:
    """Returns the turns without those answers that may not be read any more.

    Raises:
        IndexUnavailableError: it cannot be told.
    """
    pages = {page for turn in turns for page in _pages(turn)}
    readable = await index.readable(pages, audience=audience) if pages else frozenset()
    kept: list[Turn] = []
    withheld = False
    for turn in turns:
        if not _pages(turn) <= readable or (_is_unsourced(turn) and not audience.everyone):
            withheld = True
            turn = replace(turn, answer="", retrieved=())
        # A later rewrite and its topics may come from the answer that was withheld, whatever that turn itself cited.
        kept.append(replace(turn, rewritten=None, topics=()) if withheld else turn)
    return kept


def _pages(turn: Turn) -> set[str]:
    return {passage.page_id for passage in turn.retrieved if passage.cited}


def _is_unsourced(turn: Turn) -> bool:
    """Whether an answer's pages are unknown, since it was read from a message without our metadata."""
    return turn.outcome == "answered" and bool(turn.answer) and not _pages(turn)
