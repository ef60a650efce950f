"""Exports the figures of `/kb stats` and of this process to Prometheus.

https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric

from bot.queue.claims import Depth
from bot.stats.counts import Stats
from bot.stats.metric_families import by, counter, exposition_text, gauge, histogram
from bot.stats.process_state import ProcessState, state_families
from kb.llm.usage import ModelUsage, UsageByModel
from kb.rewriting.tally import RewriteTally
from kb.runtime.loop_watch import BUCKETS_S, LoopLag

TOKENS: Mapping[str, Callable[[ModelUsage], int]] = {
    "input": lambda used: used.input_tokens,
    "output": lambda used: used.output_tokens,
    "cache_read": lambda used: used.cache_read_tokens,
    "cache_written": lambda used: used.cache_written_tokens,
}
CALLS: Mapping[str, Callable[[ModelUsage], int]] = {
    "all": lambda used: used.calls,
    "failed": lambda used: used.failures,
    "retried": lambda used: used.retries,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueFigures:
    """`dead`: questions that could not be answered, by reason. `oldest`: how long ago the first unfinished one came."""

    depth: Depth
    dead: Mapping[str, int]
    oldest: timedelta | None = None


def exposition(
    stats: Stats | None,
    tally: RewriteTally,
    usage: UsageByModel | None = None,
    *,
    lag: LoopLag | None = None,
    queue: QueueFigures | None = None,
    state: ProcessState | None = None,
    own: CollectorRegistry | None = None,
) -> str:
    """Writes all figures in Prometheus' text format.

    `stats`: everybody's since the beginning; None where Redis does not answer, as `queue`. The rest is this process's.
    `own`: what is counted as it happens (`bot.stats.process_state.ProcessMetrics`).
    """
    families = [
        *(_of_everybody(stats) if stats is not None else ()),
        *(_of_queue(queue) if queue is not None else ()),
        *(state_families(state) if state is not None else ()),
        *_of_this_process(tally, usage or {}),
        *(_of_the_loop(lag) if lag is not None else ()),
    ]
    return exposition_text(families, own=own)


def _of_everybody(stats: Stats) -> Iterable[Metric]:
    yield counter("footnote_questions_total", "Questions asked.", stats.questions)
    yield counter(
        "footnote_questions_rewritten_total", "Questions that were searched in other words.", stats.rewritten
    )
    yield counter(
        "footnote_rewrites_lost_total",
        "Rewrites of the model that were late or could not be used.",
        stats.lost_rewrites,
    )
    if stats.mean_rewrite_ms is not None:
        yield gauge("footnote_rewrite_mean_seconds", "Mean time of a rewrite.", stats.mean_rewrite_ms / 1000)
    yield counter(
        "footnote_answers_total",
        "Answers that are none, by their outcome.",
        by("outcome", {"declined": stats.declined, "unavailable": stats.unavailable}),
    )
    yield counter(
        "footnote_votes_total",
        "Votes on answers.",
        by("vote", {"good": stats.positive, "bad": stats.negative}),
    )
    checked = stats.checked
    yield counter(
        "footnote_answer_sentences_total",
        "Sentences that state something, by what the check of their citations found.",
        by(
            "check",
            {
                "cited": checked.cited,
                "supported": checked.supported,
                "removed": checked.removed,
                "all": checked.sentences,
            },
        ),
    )
    yield counter(
        "footnote_citations_dropped_total",
        "Marks of the model that pointed at no passage.",
        checked.dropped_citations,
    )
    yield counter(
        "footnote_judged_answers_total",
        "Answers whose sentences went to the judge, by what became of it.",
        by("status", stats.judge),
    )
    yield from _of_models("footnote_model", stats.models)
    if stats.p50_ms is not None and stats.p95_ms is not None:
        yield gauge(
            "footnote_answer_seconds",
            "Time to an answer, of the latest 1,000.",
            by("quantile", {"0.5": stats.p50_ms / 1000, "0.95": stats.p95_ms / 1000}),
        )


def _of_queue(queue: QueueFigures) -> Iterable[Metric]:
    depth = queue.depth
    yield gauge(
        "footnote_questions_waiting",
        "Questions of all replicas that wait for a worker, those behind others of their thread included.",
        depth.waiting,
    )
    yield gauge("footnote_questions_running", "Questions that are worked on.", depth.running)
    yield gauge(
        "footnote_threads_waiting_for_slack",
        "Threads whose first question waits because Slack, or Redis, did not answer.",
        depth.for_slack,
    )
    yield gauge(
        "footnote_questions_oldest_age_seconds",
        "How long ago the first question came that is not answered yet; 0 where there is none.",
        queue.oldest.total_seconds() if queue.oldest else 0,
    )
    yield gauge(
        "footnote_dead_letters",
        "Questions that could not be answered and are kept, by reason.",
        by("reason", dict(sorted(queue.dead.items()))),
    )


def _of_models(prefix: str, usage: UsageByModel) -> Iterable[Metric]:
    """Yields tokens and calls by model. `input` leaves out what was read from the cache or written to it."""
    for name, description, label, figures in (
        ("tokens", "Tokens, by model and kind.", "kind", TOKENS),
        ("calls", "Requests to models: all, failed for good, and further attempts.", "result", CALLS),
    ):
        samples = [
            ({"model": model, label: value}, figure(used))
            for model, used in sorted(usage.items())
            for value, figure in figures.items()
        ]
        yield counter(f"{prefix}_{name}_total", description, samples)


def _of_this_process(tally: RewriteTally, usage: UsageByModel) -> Iterable[Metric]:
    yield from _of_models("footnote_process_model", usage)
    yield counter(
        "footnote_process_rewrites_total",
        "Questions that went through rewriting, by what became of them.",
        [
            ({"outcome": outcome, "reason": reason}, count)
            for (outcome, reason), count in sorted(tally.outcomes.items())
        ],
    )
    yield counter(
        "footnote_process_rewrite_seconds_total", "Time spent on rewriting.", tally.milliseconds / 1000
    )
    yield counter(
        "footnote_process_rewrite_cache_total",
        "Looks into the cache of the model's rewrites.",
        by("event", dict(sorted(tally.cache.items()))),
    )


def _of_the_loop(lag: LoopLag) -> Iterable[Metric]:
    yield histogram(
        "footnote_event_loop_lag_seconds",
        "How late the event loop was, looked at twenty times a second.",
        bounds=BUCKETS_S,
        counts=lag.counts,
        total=lag.total,
    )
    yield gauge(
        "footnote_event_loop_lag_max_seconds",
        "The latest that the event loop was since the process began.",
        lag.longest,
    )
