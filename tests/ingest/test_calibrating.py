"""What a sync measures: when, on what, with cross-encoders that know
everything and nothing, and never at its own cost.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ingest.sync.sync import Sync
from kb.calibration import Calibration
from kb.config.search_settings import SearchSettings
from kb.errors import RerankerUnavailableError
from kb.index.embedded.index import EdgeIndex
from kb.inference.embedder import Space
from kb.retrieval.fusion import fuse
from kb.retrieval.heading_search import HeadingHit, HeadingSearch
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.measuring import Calibrator
from kb.retrieval.queries import WeightedQuery
from tests.fakes.embedder import HashEmbedder

from .conftest import Clock, write

Build = Callable[..., Sync]


class BothWays(HashEmbedder):
    spaces = (Space(model="hash", part=slice(None)),)

    async def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return await self.embed_documents(texts)


class Scripted:
    """A cross-encoder that is told what to say: `knows` gets the heading and the passage."""

    def __init__(self, knows: Callable[[str, str], float], *, model: str = "scripted") -> None:
        self.model = model
        self.available = True
        self.asked = 0
        self._knows = knows

    async def ready(self) -> None:
        """Nothing to load."""

    async def score_in_background(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked += len(texts)
        return [self._knows(query, text) for text in texts]


def guessing(model: str = "fool") -> Scripted:
    dice = random.Random(3)
    return Scripted(lambda *_: dice.random(), model=model)


def a_search() -> HeadingSearch:
    settings = SearchSettings()
    return HeadingSearch(
        embedder=BothWays(),
        lexical=LexicalEncoder(),
        fuse=lambda found, text: fuse(found, [WeightedQuery(text=text, weight=1.0)], settings),
    )


def a_calibrator(clock: Clock, reranker: Scripted | None, search: HeadingSearch | None = None) -> Calibrator:
    return Calibrator(search=search or a_search(), reranker=reranker, clock=clock)


SYLLABLES = ("lo", "mi", "pa", "te", "ru", "so")
WORDS = ["".join(word) for word in itertools.product(SYLLABLES, SYLLABLES, ("m", "x", "nd", "k"))]


def fill(folder: Path, pages: int = 12) -> dict[str, str]:
    """Pages of three sections, each of which shares one word with its heading,
    as some others do. Heading -> the mark by which its text is known.
    """
    dice = random.Random(5)
    known = {}
    for page in range(pages):
        lines = [f"# Guide number {page}"]
        for part in ("applying", "paying", "leaving"):
            told, untold = dice.sample(WORDS, 2)
            heading, mark = f"About {part} {told} {untold}", f"mark{page}{part}"
            lines += [f"## {heading}", f"{' '.join(dice.choices(WORDS, k=25))} {told} {mark}."]
            known[heading] = mark
        write(folder, f"page{page}.md", "\n\n".join(lines))
    return known


async def measured(index: EdgeIndex) -> Calibration:
    calibration = await index.calibration()
    assert calibration is not None
    return calibration


async def test_the_first_sync_measures_and_a_small_change_does_not(
    a_sync: Build, index: EdgeIndex, pages: Path, clock: Clock
) -> None:
    fill(pages)
    sync = a_sync(calibrator=a_calibrator(clock, guessing()))
    await sync.run()
    first = await measured(index)
    assert first.passages == (await index.counts()).chunks
    assert first.reranking is not None
    assert first.reranking.samples == 36
    clock.moves(60)
    write(pages, "page0.md", "# Guide number 0\n\nChanged.")
    await sync.run()
    assert await measured(index) == first
    fill(pages, 20)
    await sync.run()
    assert (await measured(index)).measured == clock.now


async def test_the_same_pages_are_measured_to_the_same_figures(
    a_sync: Build, index: EdgeIndex, pages: Path, clock: Clock
) -> None:
    fill(pages)
    sync = a_sync(calibrator=a_calibrator(clock, Scripted(lambda heading, text: float(len(text)))))
    await sync.run()
    once = await measured(index)
    await sync.run(full=True)
    again = await measured(index)
    assert once.reranking is not None
    assert again.reranking is not None
    assert again.reranking.model_copy(update={"milliseconds": once.reranking.milliseconds}) == once.reranking


async def test_a_rebuild_is_measured_before_it_goes_live(
    a_sync: Build, index: EdgeIndex, pages: Path, clock: Clock
) -> None:
    fill(pages)
    await a_sync().run()
    assert await index.calibration() is None
    seen = []

    class Watching(Calibrator):
        async def measure(self, generation: object) -> Calibration | None:  # type: ignore[override]
            seen.append(generation is index)
            return await super().measure(generation)  # type: ignore[arg-type]

    watching = a_calibrator(clock, guessing())
    watching.__class__ = Watching
    await a_sync(calibrator=watching).run(full=True)
    assert seen == [False]
    assert await index.calibration() is not None


@pytest.mark.parametrize("configured", [False, True], ids=["none configured", "none to be had"])
async def test_without_a_cross_encoder_nothing_is_searched_for_and_what_was_measured_stays(
    a_sync: Build, index: EdgeIndex, pages: Path, clock: Clock, configured: bool
) -> None:
    fill(pages)
    gone = guessing() if configured else None
    if gone is not None:
        gone.available = False
    searched: list[object] = []

    class Watched(HeadingSearch):
        async def hits(self, *asked: object) -> list[list[HeadingHit]]:
            searched.append(asked)
            return []

    search = a_search()
    search.__class__ = Watched
    without = a_calibrator(clock, gone, search)
    for full in (False, False, True):
        await a_sync(calibrator=without).run(full=full)
        assert await index.calibration() is None
    assert not await without.is_due(None, 36)

    await a_sync(calibrator=a_calibrator(clock, guessing())).run()
    before = await measured(index)
    await a_sync(calibrator=without).run(full=True)
    assert await measured(index) == before
    assert searched == []


async def test_a_cross_encoder_that_knows_is_used_fully_and_one_that_guesses_is_off(
    a_sync: Build, index: EdgeIndex, pages: Path, clock: Clock
) -> None:
    known = fill(pages, 40)
    oracle = Scripted(lambda heading, text: float(known[heading] in text), model="oracle")
    fool = guessing()
    await a_sync(calibrator=a_calibrator(clock, oracle)).run()
    helps = (await measured(index)).reranking
    assert helps is not None
    assert (helps.model, helps.weight, helps.samples) == ("oracle", 0.9, 100)
    assert helps.before < helps.after
    await a_sync(calibrator=a_calibrator(clock, fool)).run()
    useless = (await measured(index)).reranking
    assert useless is not None
    assert (useless.model, useless.weight) == ("fool", 0.0)
    asked = fool.asked
    await a_sync(calibrator=a_calibrator(clock, fool)).run()
    assert fool.asked == asked  # it was measured already


async def test_a_heading_does_not_find_its_section_by_standing_over_it(
    a_sync: Build, index: EdgeIndex, pages: Path, clock: Clock
) -> None:
    fill(pages, 20)
    blind = Scripted(lambda heading, text: float(heading in text), model="reads headings only")
    await a_sync(calibrator=a_calibrator(clock, blind)).run()
    found = (await measured(index)).reranking
    assert found is not None
    assert found.weight == 0.0
    assert found.before < 0.9


@pytest.mark.parametrize(
    "error", [RerankerUnavailableError("broke"), ZeroDivisionError("pages nobody foresaw")]
)
async def test_a_failure_to_measure_fails_no_sync_and_keeps_what_was_known(
    a_sync: Build, index: EdgeIndex, pages: Path, clock: Clock, error: Exception
) -> None:
    fill(pages)
    await a_sync(calibrator=a_calibrator(clock, guessing())).run()
    before = await measured(index)

    def fails(*_: str) -> float:
        raise error

    failing = a_calibrator(clock, Scripted(fails))
    report = await a_sync(calibrator=failing).run(full=True)
    assert report.failed == []
    assert await measured(index) == before


@pytest.mark.parametrize("text", ["Leave", ""])
async def test_pages_without_anything_to_measure_are_no_failure(
    a_sync: Build, index: EdgeIndex, pages: Path, clock: Clock, text: str
) -> None:
    write(pages, "one.md", text)
    reranker = Scripted(lambda *_: 1.0)
    sync = a_sync(calibrator=a_calibrator(clock, reranker))
    await sync.run()
    calibration = await index.calibration()
    if calibration is not None:  # an empty page has no passages
        assert calibration.reranking is not None
        assert (calibration.reranking.weight, calibration.reranking.samples) == (0.0, 0)
        clock.moves(60)
        await sync.run()
        assert await measured(index) == calibration
    assert reranker.asked == 0
