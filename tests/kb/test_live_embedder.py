"""Which model a question is embedded with while the settings name another than the index was made with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from qdrant_client import AsyncQdrantClient

from kb.config.search_settings import SearchSettings
from kb.errors import EmbedderUnavailableError
from kb.index.embedded.index import EdgeIndex
from kb.index.port import IndexedChunk, IndexManifest, VectorIndex
from kb.index.server.index import ServerIndex
from kb.inference.embedder import Space
from kb.models import Audience, Chunk, Page
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.live_embedder import TRIED_AGAIN_S, LiveEmbedder
from kb.retrieval.queries import WeightedQuery
from kb.retrieval.search import BELIEVED_S, Search
from kb.retrieval.standard_scores import typical_questions

OLD, NEW = "old model", "new model"
AXES = {OLD: 0, NEW: 1}
ELSEWHERE = 3
DIMENSION = 4
NEAR = pytest.approx(1.0, abs=0.01)
"""The standard score of the only passage, on whose axis half of the
typical questions lie; by another model's it would be 0.
"""


class Model:
    """A question lies on the model's own axis, so that vectors of two models have nothing in common.

    Every second typical question lies on an axis where no passage is.
    """

    def __init__(self, name: str, *, missing: bool = False, dimension: int = DIMENSION) -> None:
        self.name = name
        self.spaces = (Space(model=name, part=slice(0, dimension)),)
        self.missing = missing
        self.asked: list[str] = []
        self.before_answering: object = None
        self.closed = False

    async def ready(self) -> None:
        if self.missing:
            raise EmbedderUnavailableError("no such folder")

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._vectors([ELSEWHERE] * len(texts))

    async def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        if callable(self.before_answering):
            meanwhile, self.before_answering = self.before_answering, None
            await meanwhile()
        elsewhere = typical_questions()["en"][::2]
        return self._vectors([ELSEWHERE if text in elsewhere else AXES[self.name] for text in texts])

    def _vectors(self, axes: Sequence[int]) -> NDArray[np.float32]:
        return np.eye(self.spaces[0].part.stop, dtype=np.float32)[axes]

    def close(self) -> None:
        self.closed = True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def put(index: VectorIndex, name: str, dimension: int = DIMENSION) -> None:
    """A generation made with the model, that becomes the live one: its only page is of that name."""
    page = Page(id=name, source="s", path=f"{name}.md", title=name, url="https://kb.example")
    chunk = Chunk(id=name, page=page, position=0, text=name, url=page.url)
    vector = np.eye(dimension)[AXES[name]].tolist()
    words = LexicalEncoder().document(name, "en")
    rebuild = await index.begin_rebuild(IndexManifest(embedder=name, dimension=dimension, chunker="v1"))
    await rebuild.replace_pages({name: [IndexedChunk(chunk=chunk, dense=vector, lexical=words)]})
    await rebuild.swap()


class Bot:
    """A search whose settings name the new model."""

    def __init__(self, folder: Path, *, missing: bool = False) -> None:
        self.index = EdgeIndex(folder)
        self.new, self.old = Model(NEW), Model(OLD, missing=missing)
        self.loads = 0
        self.clock = Clock()
        self.live = LiveEmbedder(self.index, self.new, self._load, monotonic=self.clock)
        self.search = Search(
            self.index, self.new, LexicalEncoder(), SearchSettings(), live=self.live, monotonic=self.clock
        )

    def _load(self, name: str) -> Model:
        assert name == OLD
        self.loads += 1
        return self.old

    async def ask(self) -> dict[str, float | None]:
        """Page -> its standard score."""
        return await asked(self.search)


async def asked(search: Search) -> dict[str, float | None]:
    query = WeightedQuery(text="question", weight=1.0)
    result = await search.search([query], audience=Audience(), language="en")
    return {hit.chunk.id: hit.scores.dense for hit in result.hits}


async def test_the_index_is_asked_with_its_own_model_until_the_swap_and_with_the_new_one_after_it(
    tmp_path: Path,
) -> None:
    bot = Bot(tmp_path)
    assert await bot.ask() == {}
    await put(bot.index, OLD)
    for _ in range(2):
        assert await bot.ask() == {OLD: NEAR}
    assert bot.loads == 1
    await put(bot.index, NEW)
    assert await bot.ask() == {NEW: NEAR}
    await bot.index.close()


async def test_a_question_that_is_under_way_at_the_swap_is_embedded_anew(tmp_path: Path) -> None:
    bot = Bot(tmp_path)
    await put(bot.index, OLD)
    bot.old.before_answering = lambda: put(bot.index, NEW)
    assert await bot.ask() == {NEW: NEAR}
    assert (bot.old.asked.count("question"), bot.new.asked.count("question")) == (1, 1)
    assert not bot.old.closed  # another question may hold it
    await bot.index.close()


async def test_a_model_of_longer_vectors_that_is_swapped_in_is_noticed_when_the_sample_is_renewed(
    tmp_path: Path,
) -> None:
    bot = Bot(tmp_path)
    await put(bot.index, NEW)
    assert await bot.ask() == {NEW: NEAR}
    bot.old = Model(OLD, dimension=DIMENSION + 2)
    await put(bot.index, OLD, DIMENSION + 2)
    bot.clock.now = BELIEVED_S + 1
    assert await bot.ask() == {OLD: NEAR}
    await bot.index.close()


async def test_a_model_that_filled_an_empty_index_is_told_from_the_next_one(tmp_path: Path) -> None:
    bot = Bot(tmp_path)
    assert await bot.ask() == {}
    for name in (NEW, OLD):
        await put(bot.index, name)
        bot.clock.now += BELIEVED_S + 1
        assert await bot.ask() == {name: NEAR}
    await bot.index.close()


async def test_a_model_that_is_gone_is_an_outage_that_says_what_to_do_and_a_sync_ends_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bot = Bot(tmp_path, missing=True)
    await put(bot.index, OLD)
    for _ in range(2):
        with pytest.raises(EmbedderUnavailableError, match="sync now"):
            await bot.ask()
    assert bot.loads == 1  # a hub may take long to say no
    assert [record.message for record in caplog.records] == ["embedder.of_index_unavailable"]
    bot.clock.now = TRIED_AGAIN_S + 1
    bot.old.missing = False
    assert await bot.ask() == {OLD: NEAR}
    await put(bot.index, NEW)
    assert await bot.ask() == {NEW: NEAR}
    await bot.index.close()


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")
async def test_of_two_bots_on_one_server_both_find_what_the_live_index_holds_whatever_their_settings_name() -> (
    None
):
    client = AsyncQdrantClient(":memory:")
    indexes = [ServerIndex(client, "kb"), ServerIndex(client, "kb")]
    searches = []
    for index, own, other in ((indexes[0], OLD, NEW), (indexes[1], NEW, OLD)):
        live = LiveEmbedder(index, Model(own), lambda _, other=other: Model(other))
        searches.append(Search(index, Model(own), LexicalEncoder(), SearchSettings(), live=live))
    for name in (OLD, NEW, OLD):
        await put(indexes[0], name)
        for search in searches:
            assert await asked(search) == {name: NEAR}
