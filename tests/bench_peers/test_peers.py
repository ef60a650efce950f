"""The bench's own reading and counting; the peers themselves are not needed."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kb.evaluation.datasets import Conversation, CorpusPassage, DataSet, LabelledTurn
from tests.bench_peers import driver, figures
from tests.bench_peers.__main__ import PEERS
from tests.bench_peers.drivers.footnote import Footnote
from tests.bench_peers.environments import REQUIREMENTS
from tests.bench_peers.running import (
    Answered,
    Asked,
    DriverFailedError,
    Indexed,
    Setup,
    measure,
    parse,
)
from tests.bench_peers.vectors import KnownVectors

COST = {"seconds": 0.02, "cpu_s": 0.01, "embedding_s": 0.015, "embedding_cpu_s": 0.008}
ANSWERED = {"event": "answered", "id": "talk:1", "ranking": ["b", "a"], "process_cpu_s": 0.5, **COST}
DRIVER = """
import json, sys
def tell(line): print(json.dumps(line), flush=True)
cost = {cost}
if sys.argv[3] == "index":
    tell(dict(event="indexed", about=dict(store="a list"), **cost))
for line in sys.stdin if sys.argv[3] == "ask" else ():
    tell(dict(event="answered", id=json.loads(line)["id"], ranking={ranking}, process_cpu_s=0.5, **cost))
"""
"""Stands in for a Python that runs `-m MODULE index|ask ...`."""


def a_passage(name: str) -> CorpusPassage:
    return CorpusPassage(id=name, page=f"{name}.md", title="", text=f"text of {name}", url=f"urn:{name}")


def a_data_set(names: str = "abcd", duplicates: tuple[tuple[str, ...], ...] = ()) -> DataSet:
    turns = (
        LabelledTurn(number=1, question="a?", answer="", gold_rewrite="What is a?", relevant=("a",)),
        LabelledTurn(number=2, question="and you?", answer="", gold_rewrite="and you?"),
        LabelledTurn(number=3, question="c?", answer="", gold_rewrite="What is c?", relevant=("c", "d")),
    )
    return DataSet(
        name="small",
        passages=tuple(a_passage(name) for name in names),
        conversations=(Conversation(id="talk", turns=turns),),
        duplicates=duplicates,
    )


def a_peer(folder: Path, driver: str) -> Setup:
    python = folder / "python"
    python.write_text(f"#!{sys.executable}\n{driver}", encoding="utf-8")
    python.chmod(0o755)
    return Setup(name="Stand-in", module="standin", python=python, model=folder, encoder="onnx")


def test_lines_of_drivers_are_read() -> None:
    told = parse(json.dumps(ANSWERED))
    assert isinstance(told, Answered)
    assert told.ranking == ("b", "a")
    indexed = parse(json.dumps({"event": "indexed", "about": {"store": "a list"}, **COST}))
    assert isinstance(indexed, Indexed)
    assert indexed.about == {"store": "a list"}


@pytest.mark.parametrize(
    "line",
    ["Loading weights: 100%", '{"event": "answered"}', json.dumps({**ANSWERED, "event": "thought"})],
)
def test_what_is_no_line_of_a_driver_is_refused(line: str) -> None:
    with pytest.raises(DriverFailedError, match="the driver told"):
        parse(line)


def test_questions_are_the_labelled_turns_in_words_that_need_no_thread() -> None:
    assert [one.asked for one in figures.judged(a_data_set())] == [
        Asked(id="talk:1", text="What is a?"),
        Asked(id="talk:3", text="What is c?"),
    ]


def test_quality_is_counted_as_the_evaluation_counts_it() -> None:
    data = a_data_set("abcdx", duplicates=(("a", "x"),))
    rows = figures.quality([("b", "x", "a"), ("c", "b", "d")], figures.judged(data), data)
    gain = [1 / math.log2(rank + 1) for rank in (1, 2, 3)]
    assert rows[:, figures.RECALL].tolist() == [1, 1]
    assert rows[:, figures.NDCG].tolist() == pytest.approx(  # a twin of the passage that answers is a hit
        [gain[1], (gain[0] + gain[2]) / (gain[0] + gain[1])]
    )


def test_a_pool_is_cut_to_what_is_judged_with_its_twins_and_some_others() -> None:
    data = a_data_set("zyxabcd", duplicates=(("a", "x"),))
    assert [one.id for one in figures.cut(data, 5).passages] == ["z", "x", "a", "c", "d"]
    assert figures.cut(data, 7) is data


def test_a_peer_is_indexed_asked_and_started_again(tmp_path: Path) -> None:
    data = a_data_set()
    asked = figures.judged(data)
    setup = a_peer(tmp_path, DRIVER.format(cost=COST, ranking=["c", "a"]))
    measured = measure(
        setup,
        tmp_path / "passages.jsonl",
        [one.asked for one in asked],
        folder=tmp_path / "index",
        starts=2,
    )
    better = replace(measured, name="Better", answers=measured.answers[::-1])
    rows = figures.figures([measured, better], asked, data)
    assert len(measured.first_s) == 2
    assert measured.memory_mb > 1
    assert rows[0].first_cpu_s == 0.5
    assert rows[0].recall == pytest.approx(0.75)
    assert rows[0].rest_p50_ms == pytest.approx(5)
    assert rows[0].difference == (0, 0, 0)
    assert "| Stand-in | 0.0 (0.0) |" in figures.table(rows)


def test_a_driver_that_fails_is_told_with_what_it_complained_about(tmp_path: Path) -> None:
    setup = a_peer(tmp_path, "import sys; sys.exit('no such library')")
    with pytest.raises(DriverFailedError, match=r"(?s)Stand-in, index: the driver ended.*no such library"):
        measure(setup, tmp_path / "none", [Asked(id="1", text="?")], folder=tmp_path / "index", starts=1)


def test_an_answer_to_another_question_is_noticed(tmp_path: Path) -> None:
    driver = DRIVER.format(cost=COST, ranking=[]).replace('json.loads(line)["id"]', '"other"')
    with pytest.raises(DriverFailedError, match="other was answered"):
        measure(
            a_peer(tmp_path, driver),
            tmp_path / "none",
            [Asked(id="1", text="?")],
            folder=tmp_path / "index",
            starts=1,
        )


@pytest.mark.parametrize("module", sorted(PEERS))
def test_every_peer_has_a_driver_and_its_versions_are_pinned(module: str) -> None:
    drivers = Path(__file__).parent / "drivers"
    assert (drivers / f"{module}.py").is_file()
    if module != "footnote":
        lines = (REQUIREMENTS / f"{module}.txt").read_text(encoding="utf-8").split()
        assert lines
        assert all("==" in line for line in lines)


LEAVE = ["Leave: 25 days a year.", "Lunch is served at noon.", "The office closes at seven."]
LEAVE_QUESTION = "How many days of leave do I have?"


def passages_of(texts: list[str]) -> list[driver.Passage]:
    return [
        driver.Passage(id=text[:5], page=f"{at}.md", title="", text=text, url=f"urn:{at}", content=text)
        for at, text in enumerate(texts)
    ]


async def test_footnotes_own_driver_finds_a_passage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(driver.ENCODER, "onnx")
    embedding = driver.Meter()
    await Footnote(tmp_path, embedding).index(passages_of(LEAVE))
    assert embedding.seconds > 0
    asked = Footnote(tmp_path, driver.Meter())
    await asked.open()
    assert (await asked.ask(LEAVE_QUESTION))[0] == "Leave"


@pytest.mark.series
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_footnotes_own_driver_finds_a_passage_in_processes_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "passages.jsonl"
    driver.write_passages(passages_of(LEAVE), file)
    setup = Setup(
        name="Footnote", module="footnote", python=Path(sys.executable), model=tmp_path, encoder="onnx"
    )
    asked = Asked(id="1", text=LEAVE_QUESTION)
    measured = measure(setup, file, [asked], folder=tmp_path / "index", starts=1)
    assert measured.answers[0].ranking[0] == "Leave"
    assert measured.indexed.embedding_s > 0


def test_vectors_of_passages_are_kept_for_the_next_peer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(driver.ENCODER, "onnx")
    monkeypatch.setenv(driver.VECTORS, str(tmp_path / "vectors.npz"))
    vectors = np.eye(3, dtype=np.float32)
    KnownVectors().keep(["a", "b", "c"], vectors)
    known = KnownVectors()
    found = known.of(["c", "a"])
    assert found is not None
    assert found.tolist() == vectors[[2, 0]].tolist()
    assert known.of(["a", "never seen"]) is None
    monkeypatch.setenv(driver.ENCODER, "torch")
    assert known.of(["a"]) is None
