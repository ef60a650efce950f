"""An answer and its trace as plain data, for `ask --json` and whatever else reads JSON in a terminal.

What the HTTP API gives is described in `bot.api.schemas`.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kb.answer import Answer, Citation, Quote
from kb.models import Hit


def answer_as_json(answer: Answer, *, text: str | None = None) -> dict[str, Any]:
    """Writes an answer for programs. `text`: what a reader is told, where the caller words it, as of a declined one."""
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
    """Writes the trace as "Why this answer?" shows it: rewrite, anchors, scores of every stage; no passage text."""
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
        "context": {"words": list(trace.context), "need": _rounded(trace.context_share)},
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
    """Writes a quote. `citation`: the number of its source. `shown` of `total` rows or items; both 0: all of them."""
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
    return {
        "title": hit.chunk.page.title,
        "section": hit.chunk.section_label,
        "url": hit.chunk.url,
        "scores": {stage: _rounded(score) for stage, score in asdict(hit.scores).items()},
    }


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)
