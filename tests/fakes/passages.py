"""Builders of pages, passages and hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kb.index.port import Candidate, Choose, FoundScores
from kb.models import Chunk, Hit, Page, Scores


def a_passage(
    text: str, *, title: str = "Leave policy", section: tuple[str, ...] = (), position: int = 0, **page: Any
) -> Chunk:
    """A passage of the page of that title; `page` changes the page's fields."""
    path = title.lower().replace(" ", "-") + ".md"
    fields: dict[str, Any] = {
        "id": f"handbook:{path}",
        "source": "handbook",
        "path": path,
        "title": title,
        "url": f"https://handbook.example/{path}",
    }
    made = Page(**fields | page)
    return Chunk(
        id=f"{made.id}#{position}", page=made, position=position, text=text, section=section, url=made.url
    )


def equal_hits(*chunks: Chunk) -> tuple[Hit, ...]:
    return tuple(Hit(chunk=chunk, scores=Scores(dense=0.8, final=0.8)) for chunk in chunks)


def a_candidate(chunk_id: str, dense: Sequence[float], lexical: Sequence[float]) -> Candidate:
    """One score for each query."""
    page = Page(id=f"page-of-{chunk_id}", source="s", path="p.md", title="T", url="https://kb.example/p")
    chunk = Chunk(id=chunk_id, page=page, position=0, text="text", url=page.url)
    return Candidate(chunk=chunk, dense=tuple(dense), lexical=tuple(lexical))


def chosen(
    candidates: Sequence[Candidate], choose: Choose | None, anchor_pages: Sequence[str] = ()
) -> list[Candidate]:
    """Those that `choose` wants, as an index gives them back."""
    rows = [replace(one, row=row) for row, one in enumerate(candidates)]
    if choose is None or not rows:
        return rows
    scores = FoundScores(
        dense=np.array([one.dense for one in rows], dtype=float),
        lexical=np.array([one.lexical for one in rows], dtype=float),
        anchored=np.array([one.chunk.page.id in anchor_pages for one in rows]),
    )
    return [rows[row] for row in choose(scores)]
