import re

import pytest

from bot.metrics import exposition
from bot.stats import Stats
from kb.answer import Checked
from kb.llm.usage import ModelUsage
from kb.loop_watch import LoopLag
from kb.rewrite import RewriteTally

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
    assert told['footnote_model_tokens_total{model="qwen3:8b",kind="input"}'] == 900
    assert told['footnote_model_tokens_total{model="qwen3:8b",kind="cache_read"}'] == 50
    assert told['footnote_model_calls_total{model="qwen3:8b",result="failed"}'] == 1
    assert told['footnote_process_model_tokens_total{model="small",kind="output"}'] == 7


def test_a_judge_that_was_late_is_told():
    assert samples(exposition(STATS, RewriteTally()))['footnote_judged_answers_total{status="late"}'] == 1


def test_what_became_of_the_models_rewrites_is_told_by_reason():
    told = samples(exposition(STATS, a_tally()))
    assert told['footnote_process_rewrites_total{outcome="fallback",reason="late"}'] == 1
    assert told['footnote_process_rewrites_total{outcome="model",reason=""}'] == 1
    assert told["footnote_process_rewrite_seconds_total"] == 1.5
    assert told['footnote_process_rewrite_cache_total{event="hit"}'] == 1


def test_every_line_is_of_the_form_that_prometheus_reads():
    label = r'[a-z_]+="(?:[^"\\]|\\.)*"'
    form = re.compile(rf"# (?:HELP|TYPE) [a-z_]+ .+|[a-z_]+(?:\{{{label}(?:,{label})*\}})? -?[0-9.e+-]+")
    text = exposition(STATS, a_tally())
    assert text.endswith("\n")
    assert [line for line in text.splitlines() if not form.fullmatch(line)] == []


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
