import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from kb.calibration import Calibration, Reranking
from kb.config.model_settings import RerankSettings
from kb.errors import RerankerUnavailableError
from kb.models import Chunk, Hit, Page, Scores
from kb.retrieval.fusion import spread
from kb.retrieval.rerank import Reranker, blend
from tests.fakes.shared import SHARED

ROOT = Path(__file__).parents[2]
MODEL = SHARED / "models" / "reranker-mini"
needs_model = pytest.mark.skipif(
    not MODEL.is_dir(), reason="no cross-encoder folder: set FOOTNOTE_SHARED to one"
)


def a_hit(name: str, fused: float, text: str = "text") -> Hit:
    page = Page(id=name, source="s", path="p.md", title="Handbook", url="https://kb.example/p")
    chunk = Chunk(id=f"{name}#0", page=page, position=0, text=text, url=page.url)
    return Hit(chunk=chunk, scores=Scores(dense=fused, fused=fused, final=fused))


class _Measured:
    def __init__(self, reranking: Reranking | None) -> None:
        self._reranking = reranking

    async def calibration(self) -> Calibration | None:
        return None if self._reranking is None else Calibration(passages=3, reranking=self._reranking)


def names(hits: list[Hit]) -> list[str]:
    return [hit.chunk.page.id for hit in hits]


def test_the_blend_weighs_both_scores_over_the_same_spread() -> None:
    hits = [a_hit("a", 0.60), a_hit("b", 0.55), a_hit("c", 0.50)]
    blended = blend(hits, [0.0, 1.0, 0.2], 0.5)
    assert names(blended) == ["b", "a", "c"]
    assert [hit.scores.final for hit in blended] == pytest.approx([0.75, 0.5, 0.1])


def test_the_blend_keeps_the_scores_of_every_stage_and_the_hits_it_was_given() -> None:
    hits = [a_hit("a", 0.6), a_hit("b", 0.5)]
    (first, second) = blend(hits, [0.1, 0.9], 0.8)
    assert (first.scores.dense, first.scores.fused, first.scores.rerank) == (0.5, 0.5, 0.9)
    assert (second.scores.dense, second.scores.fused, second.scores.rerank) == (0.6, 0.6, 0.1)
    assert hits[0].scores.rerank is None


def test_a_weight_of_0_keeps_the_fused_order_and_of_1_takes_the_cross_encoders() -> None:
    hits = [a_hit("a", 0.6), a_hit("b", 0.5), a_hit("c", 0.4)]
    assert names(blend(hits, [0.1, 0.2, 0.9], 0.0)) == ["a", "b", "c"]
    assert names(blend(hits, [0.1, 0.2, 0.9], 1.0)) == ["c", "b", "a"]


def test_the_blend_of_nothing_and_of_one_hit() -> None:
    assert blend([], [], 0.5) == []
    (only,) = blend([a_hit("a", 0.3)], [0.2], 0.5)
    assert only.scores.final == 1.0


def test_a_score_for_each_hit_is_required() -> None:
    with pytest.raises(ValueError, match="shorter"):
        blend([a_hit("a", 0.6), a_hit("b", 0.5)], [0.1], 0.5)


def test_equal_values_are_spread_to_1() -> None:
    assert spread([0.4, 0.4]) == [1.0, 1.0]
    assert spread([]) == []
    assert spread([-1.0, 0.0, 1.0]) == [0.0, 0.5, 1.0]


async def test_a_reranker_that_is_off_says_so_and_leaves_the_hits_alone() -> None:
    reranker = Reranker(RerankSettings(model="off"))
    await reranker.ready()
    hits = [a_hit("b", 0.2), a_hit("a", 0.5)]
    assert (reranker.wanted, reranker.available) == (False, False)
    assert "off" in reranker.reason
    assert await reranker.rerank("q", hits) == hits
    with pytest.raises(RerankerUnavailableError):
        await reranker.score("q", ["text"])
    reranker.close()


@pytest.mark.parametrize(
    "kind", ["not a model name", pytest.param("folder without a model", marks=pytest.mark.series)]
)
async def test_a_missing_reranker_is_named_once_and_the_fused_order_stands(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    name = str(tmp_path) if kind.startswith("folder") else kind
    reranker = Reranker(RerankSettings(model=name))
    await reranker.ready()
    await reranker.ready()
    hits = [a_hit("a", 0.5), a_hit("b", 0.2)]
    assert (reranker.wanted, reranker.available) == (True, False)
    assert name in reranker.reason
    assert await reranker.rerank("q", hits) == hits
    assert [record.message for record in caplog.records] == ["reranker.unavailable"]
    reranker.close()


def test_a_hub_that_does_not_answer_holds_up_neither_the_start_nor_the_end() -> None:
    code = (
        "import asyncio\n"
        "from kb.retrieval.rerank import Reranker\n"
        "from kb.config.settings import RerankSettings\n"
        "reranker = Reranker(RerankSettings(model='some/cross-encoder', hub_timeout_s=0.2))\n"
        "asyncio.run(reranker.ready())\n"
        "print(reranker.available, reranker.reason)\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.listen()
        hub = f"http://127.0.0.1:{silent.getsockname()[1]}"
        environ = {**os.environ, "HF_ENDPOINT": hub, "NO_PROXY": "127.0.0.1", "HF_HUB_OFFLINE": "0"}
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**environ, "HF_HUB_ETAG_TIMEOUT": "3600", "HF_HUB_DOWNLOAD_TIMEOUT": "3600"},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    assert done.stdout.startswith("False")
    assert "within 0.2 s" in done.stdout


@needs_model
class TestWithACrossEncoder:
    async def test_scores_are_between_0_and_1_and_tell_an_answer_from_another_topic(self) -> None:
        reranker = Reranker(RerankSettings(model=str(MODEL)))
        await reranker.ready()
        assert reranker.available
        assert reranker.reason == ""
        scores = await reranker.score(
            "How many days of holiday do I get?",
            ["Employees get 25 days of paid holiday a year.", "The printer is on the second floor. " * 200],
        )
        assert 1 >= scores[0] > scores[1] >= 0
        assert await reranker.score("q", []) == []
        reranker.close()

    async def test_only_the_best_candidates_are_read_and_the_others_stay_behind_them(self) -> None:
        reranker = Reranker(RerankSettings(model=str(MODEL), candidates=2, weight=0.9))
        await reranker.ready()
        hits = [
            a_hit("printer", 0.52, "The printer is on the second floor."),
            a_hit("leave", 0.50, "Employees get 25 days of paid holiday a year."),
            a_hit("third", 0.40, "Holiday, holiday, holiday."),
        ]
        reranked = await reranker.rerank("How many days of holiday do I get?", hits)
        assert names(reranked) == ["leave", "printer", "third"]
        assert [hit.scores.rerank is not None for hit in reranked] == [True, True, False]
        assert reranked[2].scores.final < 0 <= reranked[1].scores.final
        reranker.close()

    async def test_it_counts_as_measured_on_the_index_unless_a_setting_says_how_much(self) -> None:
        hits = [
            a_hit("printer", 0.52, "The printer is on the second floor."),
            a_hit("leave", 0.50, "Employees get 25 days of paid holiday a year."),
            a_hit("desk", 0.40, "Desks are booked by the day."),
        ]
        useless = Reranking(model=str(MODEL), weight=0.0, candidates=2)
        another = Reranking(model="another", weight=0.0, candidates=2)
        useful = Reranking(model=str(MODEL), weight=0.9, candidates=2)
        for found, weight, first, read in (
            (useless, None, "printer", 0),
            (useless, 0.9, "leave", 2),
            (useful, None, "leave", 2),
            (useful, 0.0, "printer", 0),
            (another, 0.9, "leave", 3),
            (None, 0.9, "leave", 3),
        ):
            reranker = Reranker(RerankSettings(model=str(MODEL), weight=weight), _Measured(found))
            await reranker.ready()
            reranked = await reranker.rerank("How many days of holiday do I get?", hits)
            told = names(reranked)[0], sum(hit.scores.rerank is not None for hit in reranked)
            assert told == (first, read), (found, weight)
            reranker.close()
