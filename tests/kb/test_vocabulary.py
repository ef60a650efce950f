"""Rarity comes from the pages that everyone may read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from kb.index.edge import EdgeIndex
from kb.index.port import IndexedChunk, IndexManifest
from kb.lexical import LexicalEncoder
from kb.models import EVERYONE, Audience, Chunk, Page
from kb.vocabulary import Vocabulary


class Passages:
    def __init__(self, *texts: str, private: Sequence[str] = ()) -> None:
        self._chunks = [
            *(a_chunk(text, (EVERYONE,)) for text in texts),
            *(a_chunk(text, ("#leads",)) for text in private),
        ]

    async def passages(self, *, audience: Audience) -> AsyncIterator[Sequence[Chunk]]:
        yield [chunk for chunk in self._chunks if audience.may_read(chunk.page.audience)]


def a_chunk(text: str, audience: tuple[str, ...]) -> Chunk:
    page = Page(id=text, source="s", path="p.md", title="T", url="p.md", audience=audience)
    return Chunk(id=text, page=page, position=0, text=text, url="p.md")


async def a_vocabulary(passages: Passages) -> tuple[Vocabulary, LexicalEncoder]:
    lexical = LexicalEncoder()
    vocabulary = Vocabulary(lexical)
    await vocabulary.refresh(passages)
    return vocabulary, lexical


async def test_a_word_that_few_passages_hold_weighs_more():
    vocabulary, lexical = await a_vocabulary(Passages("holiday pay", "holiday rules", "holiday gym"))
    common, rare, unknown = (
        vocabulary.rarity(lexical.query(word, ["en"]).indices) for word in ("holidays", "gym", "pension")
    )
    assert 0 < common < rare < unknown


async def test_words_of_private_pages_are_not_known():
    vocabulary, _ = await a_vocabulary(Passages("public", private=["zebrafish"]))
    assert vocabulary.frequency("public") == 1
    assert vocabulary.frequency("zebrafish") == 0


async def test_before_the_first_refresh_every_word_weighs_the_same():
    lexical = LexicalEncoder()
    vocabulary = Vocabulary(lexical)
    assert vocabulary.rarity([1]) == vocabulary.rarity([2, 3]) == 1.0
    assert lexical.coverage("gym holiday", "holiday", "en", rarity=vocabulary.rarity) == 0.5


async def test_coverage_counts_a_missing_rare_word_more_than_a_common_one():
    vocabulary, lexical = await a_vocabulary(Passages("Havik pays", "Havik ships", "Havik sells a gym"))
    lacks_rare = lexical.coverage("gym Havik", "Havik pays", "en", rarity=vocabulary.rarity)
    lacks_common = lexical.coverage("gym Havik", "a gym", "en", rarity=vocabulary.rarity)
    assert lacks_rare < 0.5 < lacks_common


class CountedIndex(EdgeIndex):
    """Says how often all its passages were read."""

    read = 0

    def passages(self, *, audience: Audience) -> AsyncIterator[Sequence[Chunk]]:
        self.read += 1
        return super().passages(audience=audience)

    async def put(self, text: str, *, revision: str) -> None:
        page = Page(id="p", source="s", path="p.md", title="T", url="p.md", revision=revision)
        chunk = Chunk(id="p#0", page=page, position=0, text=text, url="p.md")
        vectors = IndexedChunk(chunk=chunk, dense=[1.0], lexical=LexicalEncoder().document(text, "en"))
        await self.replace_pages({"p": [vectors]})


async def test_words_are_counted_again_only_when_the_index_changed(tmp_path: Path):
    index = CountedIndex(tmp_path, manifest=IndexManifest(embedder="e", dimension=1, chunker="c"))
    vocabulary = Vocabulary(LexicalEncoder())
    await vocabulary.follow(index)
    await index.put("holiday pay", revision="1")
    await vocabulary.follow(index)
    await vocabulary.follow(index)
    assert (index.read, vocabulary.frequency("holiday")) == (2, 1)

    await index.put("gym", revision="2")
    await vocabulary.follow(index)
    assert (index.read, vocabulary.frequency("holiday"), vocabulary.frequency("gym")) == (3, 0, 1)
    await index.close()
