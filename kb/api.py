"""The HTTP API: search and answer for programs, and health for whoever watches.

`POST /api/v1/search` takes `{"query": "...", "include_answer": false, "limit": 5}`. It speaks for nobody in
particular, so it sees the pages that everyone may read; only the socket in the data folder, which belongs to the
operator, may name a channel.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kb.answer import Answer, Citation, Quote
from kb.errors import UnavailableError
from kb.models import Audience, Hit, Question
from kb.pipeline import Pipeline
from kb.text.language import detect

logger = logging.getLogger(__name__)

Health = Callable[[], Awaitable[dict[str, Any]]]
OnLanguage = Callable[[str], Awaitable[None]]
"""Told the language (ISO 639-1) of each question."""
Metrics = Callable[[], Awaitable[str]]
"""Figures in the text format of Prometheus."""


class SearchRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=4000)
    include_answer: bool = False
    limit: int = Field(default=5, ge=1, le=50)


def create_api(
    pipeline: Pipeline,
    *,
    health: Health,
    metrics: Metrics | None = None,
    on_language: OnLanguage | None = None,
) -> web.Application:
    """The application; the caller decides where it listens. Without `metrics` there is no /metrics."""
    app = web.Application(client_max_size=64 * 1024)

    async def search(request: web.Request) -> web.Response:
        try:
            wanted = SearchRequest.model_validate_json(await request.read())
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False, include_context=False)
            return web.json_response({"error": "invalid_request", "problems": problems}, status=400)
        question = Question(id=uuid.uuid4().hex, text=wanted.query, audience=Audience())
        try:
            found = await pipeline.find(question)
        except UnavailableError:
            logger.exception("api.unavailable")
            return web.json_response({"error": "unavailable"}, status=503)
        reply: dict[str, Any] = {
            "query": found.rewrite.query,
            "results": [{**_hit_as_json(hit), "text": hit.chunk.text} for hit in found.hits[: wanted.limit]],
        }
        if wanted.include_answer:
            reply["answer"] = answer_as_json(await pipeline.answer(question))
        if on_language is not None:
            await on_language(detect(question.text))
        return web.json_response(reply)

    async def healthy(_: web.Request) -> web.Response:
        told = await health()
        return web.json_response(told, status=200 if told["status"] == "ok" else 503)

    app.router.add_post("/api/v1/search", search)
    app.router.add_get("/health", healthy)
    if metrics is not None:
        told = metrics

        async def figures(_: web.Request) -> web.Response:
            headers = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
            return web.Response(text=await told(), headers=headers)

        app.router.add_get("/metrics", figures)
    return app


def answer_as_json(answer: Answer, *, text: str | None = None) -> dict[str, Any]:
    """The answer for programs. `text`: what a reader is told, where the caller words it, e.g. a declined one's."""
    return {
        "question": answer.question,
        "answer": text or answer.marked_text or answer.text,
        "outcome": answer.outcome,
        "mode": answer.mode,
        "language": answer.language,
        "rewritten": answer.rewritten,
        "interpreted": answer.interpreted,
        "is_follow_up": answer.trace.rewrite.is_follow_up,
        "topics": list(answer.trace.rewrite.topics),
        "confidence": round(answer.confidence, 3),
        "citations": [_citation_as_json(citation) for citation in answer.citations],
        "quotes": [_quote_as_json(quote) for quote in answer.quotes],
        "left_open": answer.left_open,
        "unfound": list(answer.unfound),
        "warnings": [
            {
                "kind": warning.kind,
                "title": warning.page.title,
                "date": warning.date.isoformat() if warning.date else None,
                "text": warning.text,
            }
            for warning in answer.warnings
        ],
        "nearest": [{"title": page.title, "url": page.url, "owner": page.owner} for page in answer.nearest],
        "notes": list(answer.notes),
        "timings_ms": dict(answer.timings_ms),
    }


def trace_as_json(answer: Answer) -> dict[str, Any]:
    """What "Why this answer?" shows: rewrite, anchors and the scores of every stage. No passage text."""
    trace = answer.trace
    return {
        "rewrite": {
            "query": trace.rewrite.query,
            "translated": trace.rewrite.translated,
            "needs_rewrite": trace.rewrite.needs_rewrite,
            "is_follow_up": trace.rewrite.is_follow_up,
            "method": trace.rewrite.method,
            "confidence": trace.rewrite.confidence,
            "topics": list(trace.rewrite.topics),
            "reasoning": trace.rewrite.reasoning,
            "lost": trace.rewrite.lost,
            "parts": list(trace.rewrite.parts),
        },
        "context": {"words": list(trace.context), "need": _rounded(trace.context_need)},
        "anchors": {"pages": list(trace.anchors), "reason": trace.anchor_reason},
        "decision": trace.decision,
        "removed_sentences": len(trace.removed_sentences),
        "checked": asdict(trace.checked) if trace.checked else None,
        "searches": list(trace.searches),
        "judge": trace.judge,
        "hits": [_hit_as_json(hit) for hit in trace.hits],
    }


def _citation_as_json(citation: Citation) -> dict[str, Any]:
    return {
        "n": citation.n,
        "title": citation.chunk.page.title,
        "section": citation.chunk.section_label,
        "url": citation.chunk.url,
        "date": citation.date.isoformat() if citation.date else None,
        "score": None if citation.score is None else round(citation.score, 3),
        "freshness": citation.freshness,
        "quote": citation.quote,
    }


def _quote_as_json(quote: Quote) -> dict[str, Any]:
    """`citation`: the number of its source. `shown` of `total` rows or items; both 0 where nothing was left out."""
    chunk = quote.citation.chunk
    return {
        "citation": quote.citation.n,
        "title": chunk.page.title,
        "section": chunk.section_label,
        "url": chunk.url,
        "owner": chunk.page.owner,
        "language": chunk.page.language,
        "blocks": list(quote.blocks),
        "best": quote.best,
        "shown": quote.shown,
        "total": quote.total,
        "part": quote.part,
    }


def _hit_as_json(hit: Hit) -> dict[str, Any]:
    scores = hit.scores
    return {
        "title": hit.chunk.page.title,
        "section": hit.chunk.section_label,
        "url": hit.chunk.url,
        "scores": {
            "dense": _rounded(scores.dense),
            "lexical": _rounded(scores.lexical),
            "fused": _rounded(scores.fused),
            "anchor": _rounded(scores.anchor),
            "rerank": _rounded(scores.rerank),
            "final": _rounded(scores.final),
        },
    }


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)
