"""The figures of `/kb stats` and of the process, in the text format that Prometheus reads.

https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

from bot.claims import Depth
from bot.stats import Stats
from kb.llm.usage import ModelUsage, UsageByModel
from kb.loop_watch import BUCKETS_S, LoopLag
from kb.rewrite import RewriteTally

Sample = tuple[Mapping[str, str], float]


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
    """`dead`: how many questions could not be answered, by reason."""

    depth: Depth
    dead: Mapping[str, int]


def exposition(
    stats: Stats | None,
    tally: RewriteTally,
    usage: UsageByModel | None = None,
    *,
    lag: LoopLag | None = None,
    queue: QueueFigures | None = None,
) -> str:
    """`stats` are everybody's since the beginning, None where Redis does not answer, as `queue`; the rest is this process's."""
    lines = [*_of_everybody(stats)] if stats is not None else []
    lines += _of_queue(queue) if queue is not None else []
    lines += _of_this_process(tally, usage or {})
    if lag is not None:
        lines += _of_the_loop(lag)
    return "\n".join(lines) + "\n"


def _of_everybody(stats: Stats) -> Iterable[str]:
    yield from _metric("footnote_questions_total", "counter", "Questions asked.", [({}, stats.questions)])
    yield from _metric(
        "footnote_questions_rewritten_total",
        "counter",
        "Questions that were searched in other words.",
        [({}, stats.rewritten)],
    )
    yield from _metric(
        "footnote_rewrites_lost_total",
        "counter",
        "Rewrites of the model that were late or could not be used.",
        [({}, stats.lost_rewrites)],
    )
    if stats.mean_rewrite_ms is not None:
        yield from _metric(
            "footnote_rewrite_mean_seconds",
            "gauge",
            "Mean time of a rewrite.",
            [({}, stats.mean_rewrite_ms / 1000)],
        )
    yield from _metric(
        "footnote_answers_total",
        "counter",
        "Answers that are none, by their outcome.",
        [({"outcome": "declined"}, stats.declined), ({"outcome": "unavailable"}, stats.unavailable)],
    )
    yield from _metric(
        "footnote_votes_total",
        "counter",
        "Votes on answers.",
        [({"vote": "good"}, stats.positive), ({"vote": "bad"}, stats.negative)],
    )
    checked = stats.checked
    yield from _metric(
        "footnote_answer_sentences_total",
        "counter",
        "Sentences that state something, by what the check of their citations found.",
        [
            ({"check": "cited"}, checked.cited),
            ({"check": "supported"}, checked.supported),
            ({"check": "removed"}, checked.removed),
            ({"check": "all"}, checked.sentences),
        ],
    )
    yield from _metric(
        "footnote_citations_dropped_total",
        "counter",
        "Marks of the model that pointed at no passage.",
        [({}, checked.dropped_citations)],
    )
    yield from _metric(
        "footnote_judged_answers_total",
        "counter",
        "Answers whose sentences went to the judge, by what became of it.",
        [({"status": status}, count) for status, count in stats.judge.items()],
    )
    yield from _of_models("footnote_model", stats.models)
    if stats.p50_ms is not None and stats.p95_ms is not None:
        yield from _metric(
            "footnote_answer_seconds",
            "gauge",
            "Time to an answer, of the latest 1,000.",
            [({"quantile": "0.5"}, stats.p50_ms / 1000), ({"quantile": "0.95"}, stats.p95_ms / 1000)],
        )


def _of_queue(queue: QueueFigures) -> Iterable[str]:
    depth = queue.depth
    yield from _metric(
        "footnote_questions_waiting",
        "gauge",
        "Questions of all replicas that wait for a worker, those behind others of their thread included.",
        [({}, depth.waiting)],
    )
    yield from _metric(
        "footnote_questions_running", "gauge", "Questions that are worked on.", [({}, depth.running)]
    )
    yield from _metric(
        "footnote_threads_waiting_for_slack",
        "gauge",
        "Threads whose first question waits because Slack, or Redis, did not answer.",
        [({}, depth.for_slack)],
    )
    yield from _metric(
        "footnote_dead_letters",
        "gauge",
        "Questions that could not be answered and are kept, by reason.",
        [({"reason": reason}, number) for reason, number in sorted(queue.dead.items())],
    )


def _of_models(prefix: str, usage: UsageByModel) -> Iterable[str]:
    """`input` leaves out what was read from the cache or written to it."""
    for name, told, label, figures in (
        ("tokens", "Tokens, by model and kind.", "kind", TOKENS),
        ("calls", "Requests to models: all, failed for good, and further attempts.", "result", CALLS),
    ):
        samples = [
            ({"model": model, label: value}, figure(used))
            for model, used in sorted(usage.items())
            for value, figure in figures.items()
        ]
        yield from _metric(f"{prefix}_{name}_total", "counter", told, samples)


def _of_this_process(tally: RewriteTally, usage: UsageByModel) -> Iterable[str]:
    yield from _of_models("footnote_process_model", usage)
    yield from _metric(
        "footnote_process_rewrites_total",
        "counter",
        "Questions that went through rewriting, by what became of them.",
        [
            ({"outcome": outcome, "reason": reason}, count)
            for (outcome, reason), count in sorted(tally.outcomes.items())
        ],
    )
    yield from _metric(
        "footnote_process_rewrite_seconds_total",
        "counter",
        "Time spent on rewriting.",
        [({}, tally.milliseconds / 1000)],
    )
    yield from _metric(
        "footnote_process_rewrite_cache_total",
        "counter",
        "Looks into the cache of the model's rewrites.",
        [({"event": event}, count) for event, count in sorted(tally.cache.items())],
    )


def _of_the_loop(lag: LoopLag) -> Iterable[str]:
    name, told = (
        "footnote_event_loop_lag_seconds",
        "How late the event loop was, looked at twenty times a second.",
    )
    yield f"# HELP {name} {told}"
    yield f"# TYPE {name} histogram"
    bounds = [*(f"{bound:g}" for bound in BUCKETS_S), "+Inf"]
    for bound, count in zip(bounds, accumulate(lag.counts), strict=True):
        yield f'{name}_bucket{{le="{bound}"}} {count}'
    yield f"{name}_sum {lag.total:.10g}"
    yield f"{name}_count {sum(lag.counts)}"
    yield from _metric(
        "footnote_event_loop_lag_max_seconds",
        "gauge",
        "The latest that the event loop was since the process began.",
        [({}, lag.longest)],
    )


def _metric(name: str, kind: str, told: str, samples: Iterable[Sample]) -> Iterable[str]:
    yield f"# HELP {name} {told}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        yield f"{name}{_labels(labels)} {value:.10g}"


def _labels(labels: Mapping[str, str]) -> str:
    """Labels are our own words and codes, and names of models; quotes and backslashes are escaped all the same."""
    told = ",".join(
        f'{name}="{value.replace(chr(92), chr(92) * 2).replace(chr(34), chr(92) + chr(34))}"'
        for name, value in labels.items()
    )
    return f"{{{told}}}" if told else ""
