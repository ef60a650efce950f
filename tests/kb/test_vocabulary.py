"""Rarity comes from the pages that everyone may read."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kb.errors import IndexUnavailableError
from kb.index.embedded.index import EdgeIndex
from kb.index.port import IndexedChunk, IndexManifest
from kb.index.word_counts import WordCounts
from kb.models import EVERYONE, Chunk, Page
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.vocabulary import Vocabulary, count
from tests.fakes.waiting import until


def a_chunk(text: str, audience: tuple[str, ...] = (EVERYONE,)) -> Chunk:
    page = Page(id=text, source="s", path="p.md", title="T", url="p.md", audience=audience)
    return Chunk(id=text, page=page, position=0, text=text, url="p.md")


def a_vocabulary(*chunks: Chunk) -> tuple[Vocabulary, LexicalEncoder]:
    lexical = LexicalEncoder()
    return Vocabulary(count(chunks, lexical)), lexical


def test_a_word_that_few_passages_hold_weighs_more():
    vocabulary, lexical = a_vocabulary(*map(a_chunk, ["holiday pay", "holiday rules", "holiday gym"]))
    common, rare, unknown = (
        vocabulary.rarity(lexical.query(word, ["en"]).indices) for word in ("holidays", "gym", "pension")
    )
    assert 0 < common < rare < unknown


def test_words_of_private_pages_are_not_known():
    vocabulary, _ = a_vocabulary(a_chunk("public"), a_chunk("zebrafish", ("#leads",)))
    assert vocabulary.frequency("public") == 1
    assert vocabulary.frequency("zebrafish") == 0


async def test_where_nothing_is_counted_every_word_weighs_the_same():
    lexical, vocabulary = LexicalEncoder(), Vocabulary()
    assert vocabulary.rarity([1]) == vocabulary.rarity([2, 3]) == 1.0
    assert lexical.coverage("gym holiday", "holiday", "en", rarity=vocabulary.rarity) == 0.5


def test_coverage_counts_a_missing_rare_word_more_than_a_common_one():
    vocabulary, lexical = a_vocabulary(*map(a_chunk, ["Havik pays", "Havik ships", "Havik sells a gym"]))
    lacks_rare = lexical.coverage("gym Havik", "Havik pays", "en", rarity=vocabulary.rarity)
    lacks_common = lexical.coverage("gym Havik", "a gym", "en", rarity=vocabulary.rarity)
    assert lacks_rare < 0.5 < lacks_common


async def put(index: EdgeIndex, text: str) -> None:
    page = Page(id="p", source="s", path="p.md", title="T", url="p.md", revision=text)
    chunk = Chunk(id="p#0", page=page, position=0, text=text, url="p.md")
    vectors = IndexedChunk(chunk=chunk, dense=[1.0], lexical=LexicalEncoder().document(text, "en"))
    await index.replace_pages({"p": [vectors]})


async def test_every_write_counts_at_once_and_a_start_reads_no_passage(tmp_path: Path):
    index = EdgeIndex(tmp_path, manifest=IndexManifest(embedder="e", dimension=1, chunker="c"))
    vocabulary = Vocabulary(index)
    await put(index, "holiday pay")
    assert vocabulary.frequency("holiday") == 1
    await put(index, "gym")
    assert (vocabulary.frequency("holiday"), vocabulary.frequency("gym")) == (0, 1)
    await index.close()

    index = EdgeIndex(tmp_path)
    await index.counts()  # opens the files, and no more
    assert Vocabulary(index).frequency("gym") == 1
    await index.close()


class Slow:
    """An index that counts until it is let go, and was away before."""

    def __init__(self) -> None:
        self.words = WordCounts()
        self.asked = 0
        self.go = asyncio.Event()
        self.is_away = True

    async def count_words(self) -> None:
        self.asked += 1
        if self.is_away:
            raise IndexUnavailableError("away")
        await self.go.wait()


async def test_an_index_that_is_away_is_asked_again_until_it_is_back():
    index = Slow()
    vocabulary = Vocabulary(index, look_s=0.001)
    await vocabulary.start()
    index.is_away = False
    index.go.set()
    seen = index.asked
    await until(lambda: index.asked > seen + 1)
    await vocabulary.close()


async def test_a_look_asks_for_at_once_what_another_process_wrote():
    index = Slow()
    index.is_away = False
    index.go.set()
    vocabulary = Vocabulary(index, look_s=3600)
    await vocabulary.start()
    seen = index.asked
    await vocabulary.look()
    assert index.asked == seen + 1
    await vocabulary.close()


async def test_nobody_waits_for_a_vocabulary_that_was_not_started():
    index = Slow()
    await Vocabulary(index).look()
    assert index.asked == 0
