from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.stats.counts import Stats
from bot.stats.metrics import exposition
from bot.stats.process_state import ProcessMetrics, ProcessState, SlackFigures
from kb.answer import Checked
from kb.index.port import IndexCounts
from kb.jobs import SourceState, SyncRecord
from kb.llm.usage import ModelUsage
from kb.rewriting.tally import RewriteTally
from kb.runtime.loop_watch import LoopLag

STATS = Stats(
    questions=1_234_567,
    rewritten=2,
    mean_rewrite_ms=15.5,
    lost_rewrites=1,
    positive=3,
    negative=1,
    declined=1,
    unavailable=0,
    p50_ms=200,
    p95_ms=1000,
    checked=Checked(sentences=6, cited=5, supported=5, removed=1, dropped_citations=2),
    judge={"judged": 4, "late": 1},
    models={"qwen3:8b": ModelUsage(calls=3, failures=1, input_tokens=900, cache_read_tokens=50)},
)


def a_tally() -> RewriteTally:
    tally = RewriteTally()
    tally.rewritten("model", "", 400.0)
    tally.rewritten("fallback", "late", 1000.0)
    tally.rewritten("fallback", 'odd "one"', 100.0)
    tally.cached("hit")
    return tally


def samples(text: str) -> dict[str, float]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_what_the_check_of_citations_found_is_told():
    told = samples(exposition(STATS, RewriteTally()))
    assert told['footnote_answer_sentences_total{check="all"}'] == 6
    assert told['footnote_answer_sentences_total{check="removed"}'] == 1
    assert told["footnote_citations_dropped_total"] == 2


def test_questions_rewrites_votes_and_times_are_told():
    told = samples(exposition(STATS, RewriteTally()))
    assert told["footnote_questions_total"] == 1_234_567
    assert told["footnote_questions_rewritten_total"] == 2
    assert told["footnote_rewrites_lost_total"] == 1
    assert told["footnote_rewrite_mean_seconds"] == 0.0155
    assert told['footnote_votes_total{vote="bad"}'] == 1
    assert told['footnote_answer_seconds{quantile="0.95"}'] == 1


def test_tokens_are_told_by_model_and_kind():
    told = samples(exposition(STATS, RewriteTally(), {"small": ModelUsage(calls=1, output_tokens=7)}))
    assert told['footnote_model_tokens_total{kind="input",model="qwen3:8b"}'] == 900
    assert told['footnote_model_tokens_total{kind="cache_read",model="qwen3:8b"}'] == 50
    assert told['footnote_model_calls_total{model="qwen3:8b",result="failed"}'] == 1
    assert told['footnote_process_model_tokens_total{kind="output",model="small"}'] == 7


def test_a_judge_that_was_late_is_told():
    assert samples(exposition(STATS, RewriteTally()))['footnote_judged_answers_total{status="late"}'] == 1


def test_what_became_of_the_models_rewrites_is_told_by_reason():
    told = samples(exposition(STATS, a_tally()))
    assert told['footnote_process_rewrites_total{outcome="fallback",reason="late"}'] == 1
    assert told['footnote_process_rewrites_total{outcome="model",reason=""}'] == 1
    assert told["footnote_process_rewrite_seconds_total"] == 1.5
    assert told['footnote_process_rewrite_cache_total{event="hit"}'] == 1


def test_prometheus_own_parser_reads_all_of_it():
    families = list(text_string_to_metric_families(exposition(STATS, a_tally(), lag=LoopLag())))
    assert {family.type for family in families} == {"counter", "gauge", "histogram"}
    reasons = {
        sample.labels["reason"]
        for family in families
        for sample in family.samples
        if family.name == "footnote_process_rewrites"
    }
    assert 'odd "one"' in reasons


def test_without_redis_the_process_still_tells_its_own():
    told = samples(exposition(None, a_tally()))
    assert "footnote_questions_total" not in told
    assert told['footnote_process_rewrites_total{outcome="model",reason=""}'] == 1


def test_how_late_the_event_loop_was_is_told_as_a_histogram():
    lag = LoopLag()
    for seconds in (0.001, 0.002, 0.3, 20.0):
        lag.note(seconds)
    told = samples(exposition(None, RewriteTally(), lag=lag))
    name = "footnote_event_loop_lag_seconds"
    assert told[f'{name}_bucket{{le="0.005"}}'] == 2
    assert told[f'{name}_bucket{{le="0.5"}}'] == 3
    assert told[f'{name}_bucket{{le="+Inf"}}'] == told[f"{name}_count"] == 4
    assert told[f"{name}_sum"] == pytest.approx(20.303)
    assert told["footnote_event_loop_lag_max_seconds"] == 20.0


NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


def a_condition(**changed: Any) -> ProcessState:
    well: dict[str, Any] = {
        "version": "1.2.3",
        "pages": IndexCounts(pages=20, chunks=300),
        "store": True,
        "reranker": True,
        "workers": 0,
        "sources": (),
        "slack": SlackFigures(connected=True, last_event=NOON, events=7, failures=1, posts={"posted": 5}),
    }
    return ProcessState(**well | changed)


def test_what_is_away_is_told_as_zero_and_its_figures_are_not_told_at_all():
    gone = SlackFigures(connected=False, last_event=None, events=0, failures=0, posts={"refused": 2})
    away = a_condition(pages=None, store=False, reranker=None, workers=None, slack=gone)
    well, ill = (samples(exposition(None, RewriteTally(), state=one)) for one in (a_condition(), away))
    for part in ("index_up", "store_up", "slack_connected"):
        assert (well[f"footnote_{part}"], ill[f"footnote_{part}"]) == (1, 0)
    assert well["footnote_index_pages"] == 20
    assert well["footnote_slack_last_event_timestamp_seconds"] == NOON.timestamp()
    assert ill['footnote_process_posts_total{result="refused"}'] == 2
    assert {
        "footnote_index_pages",
        "footnote_ingest_workers",
        "footnote_reranker_up",
        "footnote_slack_last_event_timestamp_seconds",
    }.isdisjoint(ill)


def test_of_a_sync_that_fails_the_last_success_and_the_failures_since_are_told():
    went_well = SyncRecord(at=NOON, added=3).following(None)
    fails = SyncRecord(at=NOON + timedelta(hours=1), error="no connection")
    twice = fails.following(fails.following(went_well))
    sources = (
        SourceState(name="wiki", pages=None, every=timedelta(minutes=5), last=twice),
        SourceState(name="new", pages=None),
    )
    told = samples(exposition(None, RewriteTally(), state=a_condition(sources=sources)))
    assert told['footnote_sync_last_success_timestamp_seconds{source="wiki"}'] == NOON.timestamp()
    assert told['footnote_sync_failures_in_a_row{source="wiki"}'] == 2
    assert told['footnote_sync_interval_seconds{source="wiki"}'] == 300
    assert not any('source="new"' in name for name in told)
    assert twice.following(went_well).failures == 1
    assert SyncRecord(at=NOON).following(twice).failures == 0


def test_answers_are_told_as_a_histogram_beside_what_the_system_knows_of_the_process():
    measured = ProcessMetrics()
    for seconds in (0.2, 3.0, 90.0):
        measured.answered("answered", seconds * 1000)
    told = samples(exposition(None, RewriteTally(), own=measured.registry))
    name = "footnote_process_answer_seconds"
    assert told[f'{name}_bucket{{le="0.25",outcome="answered"}}'] == 1
    assert told[f'{name}_bucket{{le="60.0",outcome="answered"}}'] == 2
    assert told[f'{name}_count{{outcome="answered"}}'] == 3
    assert told["process_resident_memory_bytes"] > 10e6
    assert told["process_open_fds"] > 0
