"""Builders for answers: say what matters to the test, the rest is a plain page of the handbook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from kb.answer import Answer, Citation, Quote, Sentence, Trace
from kb.models import Chunk, Hit, Outcome, Page, PageDates, Rewrite, Scores

REVIEWED = PageDates(reviewed=date(2024, 5, 3))


def a_page(**given: Any) -> Page:
    title = given.setdefault("title", "Leave policy")
    slug = "".join(letter if letter.isalnum() else "-" for letter in title.lower())[:40]
    values: dict[str, Any] = {
        "id": f"page-{slug}",
        "source": "handbook",
        "path": f"{slug}.md",
        "url": f"https://kb.example/{slug}",
        "dates": REVIEWED,
    }
    return Page(**(values | given))


def a_chunk(page: Page | None = None, **given: Any) -> Chunk:
    page = page or a_page()
    values: dict[str, Any] = {
        "id": f"{page.id}-1",
        "page": page,
        "position": 0,
        "text": "Full-time employees get 25 days of paid holiday a year.",
        "section": ("Annual leave",),
        "url": f"{page.url}#annual-leave",
    }
    return Chunk(**(values | given))


def a_citation(n: int = 1, page: Page | None = None, **given: Any) -> Citation:
    chunk = given.pop("chunk", None) or a_chunk(page, id=f"chunk-{n}")
    values: dict[str, Any] = {
        "n": n,
        "chunk": chunk,
        "quote": chunk.text,
        "score": 0.92,
        "freshness": "current",
    }
    return Citation(**(values | given))


def a_quote(*blocks: str, page: Page | None = None, **given: Any) -> Quote:
    said = blocks or ("Full-time employees get 25 days of paid holiday a year. Public holidays come on top.",)
    citation = given.pop("citation", None) or a_citation(given.pop("n", 1), page)
    values: dict[str, Any] = {"citation": citation, "blocks": said}
    return Quote(**(values | given))


def quotes_of(*quotes: Quote, **given: Any) -> Answer:
    """An answer without a model: what the pages say."""
    shown = quotes or (a_quote(best="Full-time employees get 25 days of paid holiday a year."),)
    values: dict[str, Any] = {
        "mode": "extractive",
        "sentences": tuple(
            Sentence(text=block, citations=(one.citation.n,)) for one in shown for block in one.blocks
        ),
        "citations": tuple({one.citation.n: one.citation for one in shown}.values()),
        "quotes": shown,
        "notes": ("extractive mode",),
    }
    return an_answer(**(values | given))


def an_answer(*sentences: str | Sentence, **given: Any) -> Answer:
    """Sentences given as text cite source 1."""
    citations: Sequence[Citation] = given.setdefault("citations", (a_citation(),))
    said = sentences or ("Full-time employees get 25 days of paid holiday a year.",)
    rewrite = given.pop("rewrite", None) or Rewrite(
        query=given.get("question", "How many days of holiday do I get?")
    )
    hits = tuple(
        Hit(chunk=one.chunk, scores=Scores(dense=0.7, lexical=4.2, fused=0.8, rerank=None, final=0.8))
        for one in citations
    )
    values: dict[str, Any] = {
        "question": "How many days of holiday do I get?",
        "outcome": "answered",
        "mode": "model",
        "language": "en",
        "sentences": tuple(
            Sentence(text=one, citations=(1,)) if isinstance(one, str) else one for one in said
        ),
        "confidence": 0.8,
        "trace": Trace(rewrite=rewrite, hits=hits, decision="answered"),
        "timings_ms": {"search": 3.0, "total": 12.0},
    }
    return Answer(**(values | given))


def cell_text(cell: dict[str, Any]) -> str:
    """What a cell of a table block says, as plain text or as rich text."""
    if cell["type"] == "raw_text":
        return str(cell["text"])
    return "".join(part["text"] for element in cell["elements"] for part in element["elements"])


def without_answer(outcome: Outcome, **given: Any) -> Answer:
    return replace(an_answer(), outcome=outcome, sentences=(), citations=(), **given)
