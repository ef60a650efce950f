"""Exports the state of this process as metrics: what an operator is alerted by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import get_args

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector, disable_created_metrics
from prometheus_client.metrics_core import Metric

from bot.stats.metric_families import by, counter, gauge
from kb.index.port import IndexCounts
from kb.jobs import SourceState
from kb.models import Outcome

ANSWER_BUCKETS_S = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0)
"""Seconds, from what quotes take to the longest that a model may."""

disable_created_metrics()  # type: ignore[no-untyped-call]


class ProcessMetrics:
    """Metrics that are counted as they happen, and what the system knows of this process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._answers = Histogram(
            "footnote_process_answer_seconds",
            "Time to an answer of this process, by the answer's outcome.",
            ["outcome"],
            buckets=ANSWER_BUCKETS_S,
            registry=self.registry,
        )
        for outcome in get_args(Outcome):
            self._answers.labels(outcome)  # from 0: Prometheus sees no increase in what starts at 1

    def answered(self, outcome: str, milliseconds: float) -> None:
        self._answers.labels(outcome).observe(milliseconds / 1000)


@dataclass(frozen=True, kw_only=True, slots=True)
class SlackFigures:
    """`posts`: messages by what became of them; `failures`: events that were not acknowledged."""

    connected: bool
    last_event: datetime | None
    events: int
    failures: int
    posts: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessState:
    """`pages`: None where the index does not answer. `slack`: None where nobody connects to it."""

    version: str
    pages: IndexCounts | None
    store: bool
    reranker: bool | None
    """None: none is wanted."""
    workers: int | None
    sources: Sequence[SourceState]
    slack: SlackFigures | None


def state_families(state: ProcessState) -> Iterable[Metric]:
    yield gauge("footnote_build_info", "Always 1; the version is a label.", [({"version": state.version}, 1)])
    yield gauge("footnote_index_up", "1 where the index answers.", state.pages is not None)
    if state.pages is not None:
        yield gauge("footnote_index_pages", "Pages in the index.", state.pages.pages)
        yield gauge("footnote_index_passages", "Passages in the index.", state.pages.chunks)
    yield gauge("footnote_store_up", "1 where Redis answers.", state.store)
    if state.reranker is not None:
        yield gauge("footnote_reranker_up", "1 where the reranker that is wanted works.", state.reranker)
    if state.workers is not None:
        yield gauge(
            "footnote_ingest_workers",
            "Processes of `footnote worker` that were heard of lately.",
            state.workers,
        )
    yield from _of_syncs(state.sources)
    if state.slack is not None:
        yield from _of_slack(state.slack)


def _of_syncs(sources: Sequence[SourceState]) -> Iterable[Metric]:
    ended = [(source.name, source.last) for source in sources if source.last is not None]
    yield gauge(
        "footnote_sync_last_success_timestamp_seconds",
        "When the latest sync of the source ended that went well.",
        by(
            "source",
            {name: last.succeeded_at.timestamp() for name, last in ended if last.succeeded_at is not None},
        ),
    )
    yield gauge(
        "footnote_sync_failures_in_a_row",
        "Syncs of the source that have failed since one went well.",
        by("source", {name: last.failures for name, last in ended}),
    )
    yield gauge(
        "footnote_sync_failed_pages",
        "Pages that the source's last sync could not read; where several sources were synced together, of all of them.",
        by("source", {name: last.failed for name, last in ended}),
    )
    yield gauge(
        "footnote_sync_seconds",
        "How long the source's last sync took.",
        by("source", {name: last.seconds for name, last in ended}),
    )
    yield gauge(
        "footnote_sync_interval_seconds",
        "How often the source is synced by the clock; none where only on request.",
        by(
            "source",
            {source.name: source.every.total_seconds() for source in sources if source.every is not None},
        ),
    )


def _of_slack(slack: SlackFigures) -> Iterable[Metric]:
    yield gauge("footnote_slack_connected", "1 where Slack can reach this process.", slack.connected)
    yield counter("footnote_slack_events_total", "Events and interactions from Slack.", slack.events)
    yield counter(
        "footnote_slack_event_failures_total",
        "Of these, those that could not be accepted, which Slack sends again.",
        slack.failures,
    )
    if slack.last_event is not None:
        yield gauge(
            "footnote_slack_last_event_timestamp_seconds",
            "When Slack was last heard.",
            slack.last_event.timestamp(),
        )
    yield counter(
        "footnote_process_posts_total",
        (
            "Messages to Slack: posted, refused for good, or uncertain, which are tried again after a "
            "look into the thread."
        ),
        by("result", {result: slack.posts.get(result, 0) for result in ("posted", "refused", "uncertain")}),
    )
