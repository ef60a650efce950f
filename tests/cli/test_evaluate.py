"""`footnote eval` as it is typed: what is wrong is told in a line, what needs no model runs in a second."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
TURNS = 24


def test_rewrite_cases_are_checked_without_index_or_model(footnote: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    ended = footnote("eval", "rewrites", GOLDEN / "rewrite_cases.json", "--json", out, data=tmp_path / "data")
    assert (ended.code, ended.out) == (0, "20 passed, 0 failed\n"), ended.err
    told = json.loads(out.read_text())
    assert (told["passed"], told["failed"], told["config"]["rewriter"]) == (20, 0, "heuristic")
    assert not (tmp_path / "data").exists()


def test_a_rewriter_that_is_off_fails_the_cases(footnote: Run, tmp_path: Path) -> None:
    ended = footnote("eval", "rewrites", GOLDEN / "rewrite_cases.json", "--rewriter", "off", data=tmp_path)
    assert ended.code == 1
    assert "nl-price: the query lacks ['houtmulch']" in ended.out


def test_gold_rewrites_are_measured(footnote: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    ended = footnote("eval", "rewrites", GOLDEN / "conversations", "--json", out, data=tmp_path)
    assert ended.code == 0, ended.err
    told = json.loads(out.read_text())
    assert told["follow_ups"] + told["standalone"] == len(told["turns"]) == 82
    assert 0 < told["noticed"] <= 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("conversations", "nope"), 1, "corpus.jsonl cannot be read"),
        (("conversations", "nope", "--set", "keep=8"), 2, "section.key=value"),
        (("conversations", "nope", "--set", "serch.keep=8"), 1, "did you mean 'search'?"),
        (("conversations", GOLDEN / "conversations", "--rewriter", "model"), 1, "needs a language model"),
        (
            ("conversations", GOLDEN / "conversations", "--rerank", "on", "--set", "rerank.model=off"),
            1,
            "needs a reranker",
        ),
        (
            ("conversations", GOLDEN / "conversations", "--compare", GOLDEN / "rewrite_cases.json"),
            1,
            "is no result of",
        ),
        (("rewrites", GOLDEN / "rewrite_cases.json", "--rewriter", "model"), 1, "needs a language model"),
    ],
)
def test_what_cannot_be_measured_is_told_before_models_load(
    footnote: Run, tmp_path: Path, arguments: tuple[str | Path, ...], code: int, said: str
) -> None:
    ended = footnote("eval", *arguments, data=tmp_path)
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err
    assert "Traceback" not in ended.err


@pytest.fixture
def first_turns(tmp_path: Path) -> Path:
    """The first conversations of the small data set, and what their pages say."""
    whole, part = GOLDEN / "conversations", tmp_path / "conversations"
    part.mkdir()
    turns = (whole / "conversations.jsonl").read_text(encoding="utf-8").splitlines()[:TURNS]
    pages = {relevant.partition("#")[0] for turn in turns for relevant in json.loads(turn)["relevant_ids"]}
    passages = (whole / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [one for one in passages if json.loads(one)["id"].partition("#")[0] in pages]
    (part / "conversations.jsonl").write_text("\n".join(turns), encoding="utf-8")
    (part / "corpus.jsonl").write_text("\n".join(kept), encoding="utf-8")
    return part


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_conversations_are_walked_and_every_knob_is_told(
    footnote: Run, first_turns: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    ended = footnote(
        "eval", "conversations", first_turns, "--rewriter", "gold", "--anchors", "off",
        "--rerank", "off", "--set", "search.dense_weight=0.6", "--json", out, data=tmp_path,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    told = json.loads(out.read_text())
    config = told["config"]
    assert (config["rewriter"], config["anchors"], config["rerank"]) == ("gold", "off", "off")
    assert config["settings"]["search"]["dense_weight"] == 0.6
    assert {"footnote", "torch", "qdrant-edge-py", "code"} <= told["versions"].keys()
    assert told["counts"]["turns"] == len(told["turns"]) == TURNS
    follow_up = told["slices"]["follow_up"]
    assert f"{follow_up['recall@5']:.3f}" in ended.out
    assert follow_up["ci95"]["mrr"][0] < follow_up["mrr"] < follow_up["ci95"]["mrr"][1]
    assert "Latency" in ended.out
    assert len(list((tmp_path / "evaluation").iterdir())) == 1
