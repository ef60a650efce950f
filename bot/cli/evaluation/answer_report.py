"""What `footnote eval answers` shows: two tables for a terminal, and everything that is needed to judge by eye."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

from rich.table import Table

from bot.cli.evaluation.report import table
from kb.answer import Quote
from kb.config.settings import Settings
from kb.evaluation.answer_sets import CHECKS, ENDINGS, AnswerCase, AnswerResult, cited_pages
from kb.evaluation.answer_tallies import BEST, tallies


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingCase:
    """A case that waits. `requests`: the ids of what has no reply yet."""

    case: AnswerCase
    requests: tuple[str, ...]


def answer_tables(results: Sequence[AnswerResult], pending: Sequence[AnswerCase]) -> list[Table]:
    passed = table(
        "category", "cases", "passed", "facts shown", *(f"in best {best}" for best in BEST), *CHECKS,
        title="Answers",
        caption="In best: facts that so many of the passages found hold. Under a check: cases that failed it",
    )  # fmt: skip
    ended = table(
        "category", *ENDINGS, "pending",
        title="How they end", caption="pending: waits for a reply of the model, and is in no other figure",
    )  # fmt: skip
    for name, tally in tallies(results, pending).items():
        failed = [_number(tally.failed[check]) for check in CHECKS]
        counts = (tally.facts_shown, *(tally.facts_in_best[best] for best in BEST))
        facts = [_share(count, tally.facts) for count in counts]
        passed.add_row(name, str(tally.cases), str(tally.passed), *facts, *failed)
        endings = [_number(tally.endings[ending]) for ending in ENDINGS]
        ended.add_row(name, *endings, _number(tally.pending))
    return [passed, ended]


def report_json(
    settings: Settings,
    results: Sequence[AnswerResult],
    pending: Sequence[PendingCase],
    *,
    language: str | None = None,
) -> dict[str, Any]:
    """Returns everything that is needed to judge by eye. `language`: that of translated questions."""
    model = settings.model
    return {
        "config": {
            "language": language,
            "rewriter": settings.rewrite.mode,
            "model": model.effective_provider,
            "answer_model": model.answer_model,
            "rewrite_model": model.rewrite_model,
            "embedder": settings.embed.model,
            "reranker": settings.rerank.model,
            "answer": settings.answer.model_dump(mode="json"),
            "search": settings.search.model_dump(mode="json"),
        },
        "categories": {
            name: asdict(tally)
            for name, tally in tallies(results, [waiting.case for waiting in pending]).items()
        },
        "pending": [{"id": waiting.case.id, "requests": list(waiting.requests)} for waiting in pending],
        "cases": [_case(result) for result in results],
    }


def _case(result: AnswerResult) -> dict[str, Any]:
    case, answer = result.case, result.answer
    trace = answer.trace
    return {
        "id": case.id,
        "category": case.category,
        "expect_unknown": case.expect_unknown,
        "problems": result.problems,
        "facts": [
            {"wordings": list(wordings), "shown": shown, "rank": rank}
            for wordings, shown, rank in zip(case.keywords, result.seen, result.ranks, strict=True)
        ],
        "question": case.question,
        "chat_history": [message.model_dump() for message in case.chat_history],
        "rewritten": answer.rewritten,
        "outcome": answer.outcome,
        "ending": result.ending,
        "mode": answer.mode,
        "answer": answer.marked_text,
        "quotes": [_quote(quote) for quote in answer.quotes],
        "left_open": answer.left_open,
        "unfound": list(answer.unfound),
        "warnings": [warning.text for warning in answer.warnings],
        "cited": cited_pages(answer),
        "sources": [
            {
                "n": citation.n,
                "path": citation.chunk.page.path,
                "section": list(citation.chunk.section),
                "quote": citation.quote,
                "score": citation.score,
            }
            for citation in answer.citations
        ],
        "removed": [
            {"sentence": sentence, "reason": reason}
            for sentence, reason in zip_longest(trace.removed_sentences, trace.removed_reasons, fillvalue="")
        ],
        "searches": list(trace.searches),
        "judge": trace.judge,
        "decision": trace.decision,
        "confidence": round(answer.confidence, 3),
        "notes": list(answer.notes),
    }


def _quote(quote: Quote) -> dict[str, Any]:
    return {
        "path": quote.citation.chunk.page.path,
        "section": list(quote.citation.chunk.section),
        "blocks": list(quote.blocks),
        "best": quote.best,
        "shown": quote.shown,
        "total": quote.total,
        "part": quote.part,
    }


def _share(count: int, facts: int) -> str:
    return f"{count} of {facts}" if facts else ""


def _number(count: int) -> str:
    return str(count) if count else ""
