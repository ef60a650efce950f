"""What an index knows of how common words are, whatever was done to it:
what a count of its public passages would find.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from kb.index import word_counts
from kb.index.embedded import shard_writes
from kb.index.embedded.index import EdgeIndex
from kb.index.port import IndexWriter, VectorIndex
from kb.index.server import words as server_words
from kb.index.server import writes
from kb.index.server.index import ServerIndex
from kb.index.word_counts import WordCounts, words_of
from kb.models import EVERYONE
from kb.retrieval.vocabulary import Vocabulary
from tests.contract.indexes import (
    MANIFEST,
    STRICT,
    TERMS,
    MakeIndex,
    a_chunk,
    a_page,
    lexical,
    put,
    write_until_killed,
)
from tests.fakes.qdrant_server import QdrantServer
from tests.fakes.waiting import until

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

LEADS = ("#people-leads",)
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.series) for seed in (1, 2))]
"""Of random walks: the others are a series."""
WORDS = [*TERMS, "été", "don't", "follow-up", "Havik", "zebrafish", "gym", "pension", "desk"]

Page = tuple[tuple[str, ...], tuple[str, ...]]
"""Audience, and the texts of its passages."""
Pages = dict[str, Page]


def told(words: WordCounts, known: Iterable[str]) -> tuple[int, dict[str, int], dict[int, int]]:
    """Passages, and of each word and each term that occurs how many passages hold it."""
    frequencies = {word: count for word in known if (count := words.frequency(word))}
    terms = {term: count for term in range(len(TERMS)) if (count := words.holding(term))}
    return words.passages, frequencies, terms


def counted(pages: Mapping[str, Page]) -> tuple[int, dict[str, int], dict[int, int]]:
    """What a count of the public pages finds."""
    passages, words, terms = 0, Counter[str](), Counter[int]()
    for name, (audience, texts) in pages.items():
        for position, text in enumerate(texts) if EVERYONE in audience else ():
            chunk = a_chunk(a_page(name), position, text).chunk
            passages += 1
            words.update({word.decode() for word in words_of(chunk.embedded_text)})
            terms.update(lexical(text).indices)
    return passages, dict(words), dict(terms)


EVERY_WORD = {word.decode() for word in words_of(" ".join([*WORDS, *(f"page{name}" for name in "abcdefgh")]))}
NAMES = [f"page{name}" for name in "abcdefgh"]


class Walk:
    """Random operations on an index, and what it must hold after each."""

    def __init__(self, index: VectorIndex, seed: int) -> None:
        self.index = index
        self.random = random.Random(seed)
        self.live: Pages = {}
        self.before: Pages | None = None

    def a_text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 9)))

    def some_pages(self, most: int = 3) -> Pages:
        """One in four has more passages than are written in one step."""
        return {
            name: (
                self.random.choice([(EVERYONE,), (EVERYONE,), LEADS, (EVERYONE, *LEADS)]),
                tuple(self.a_text() for _ in range(self.random.choice([0, *range(1, 8), 66, 90, 110]))),
            )
            for name in self.random.sample(NAMES, self.random.randint(1, most))
        }

    async def write(self, into: IndexWriter, held: Pages, pages: Pages) -> None:
        await into.replace_pages(
            {
                name: [a_chunk(a_page(name, audience=audience), at, text) for at, text in enumerate(texts)]
                for name, (audience, texts) in pages.items()
            }
        )
        held |= pages

    async def replace(self) -> None:
        await self.write(self.index, self.live, self.some_pages())

    async def limit(self) -> None:
        """The same texts for fewer readers, or for everyone again."""
        if self.live:
            name = self.random.choice(sorted(self.live))
            audience, texts = self.live[name]
            await self.write(
                self.index, self.live, {name: (LEADS if EVERYONE in audience else (EVERYONE,), texts)}
            )

    async def delete(self) -> None:
        await self.drop(self.index, self.live)

    async def drop(self, of: IndexWriter, held: Pages) -> None:
        names = self.random.sample(NAMES, self.random.randint(1, 3))
        await of.delete_pages(names)
        for name in names:
            held.pop(name, None)

    async def rebuild(self) -> None:
        rebuild, held = await self.index.begin_rebuild(MANIFEST), Pages()
        for _ in range(self.random.randint(1, 3)):
            await self.write(rebuild, held, self.some_pages(8))
        await self.drop(rebuild, held)
        if self.random.random() < 0.3:
            await rebuild.discard()
            return
        await rebuild.swap()
        self.live, self.before = held, self.live

    async def roll_back(self) -> None:
        previous = await self.index.open_previous()
        assert (previous is None) == (self.before is None)
        if previous is None or self.before is None:
            return
        await self.drop(previous, self.before)
        await previous.swap()
        self.live, self.before = self.before, None

    async def settle(self) -> None:
        await self.index.settle()


STEPS = ["replace", "replace", "replace", "limit", "limit", "delete", "rebuild", "roll_back", "settle"]


@pytest.fixture
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody searches here while pages are written: what was replaced may go at once."""
    monkeypatch.setattr(writes, "GRACE_S", 0.0)


@pytest.mark.usefixtures("no_grace")
class TestEveryIndex:
    @pytest.mark.parametrize("seed", SEEDS)
    async def test_words_are_counted_as_what_everyone_may_read_has_them(
        self, make_index: MakeIndex, seed: int
    ) -> None:
        walk = Walk(make_index(MANIFEST), seed)
        await walk.replace()
        for _ in range(15):
            step = walk.random.choice(STEPS)
            await getattr(walk, step)()
            if step in ("rebuild", "roll_back"):
                await walk.index.count_words()
            assert told(walk.index.words, EVERY_WORD) == counted(walk.live), step

    async def test_an_index_without_pages_knows_no_word(self, make_index: MakeIndex) -> None:
        index = make_index(MANIFEST)
        await index.count_words()
        assert told(index.words, EVERY_WORD) == (0, {}, {})

    async def test_a_write_that_was_refused_leaves_the_counts_right(self, make_index: MakeIndex) -> None:
        index = make_index(MANIFEST)
        await put(index, a_page("pagea"), "gym")
        with pytest.raises(ValueError, match="cannot replace"):
            await index.replace_pages({"pageb": [a_chunk(a_page("pagea"), 0, "desk")]})
        await index.settle()
        await index.count_words()
        assert told(index.words, EVERY_WORD) == counted({"pagea": ((EVERYONE,), ("gym",))})


class TestEdgeIndex:
    @pytest.mark.parametrize("seed", SEEDS)
    async def test_the_next_process_knows_the_words_without_counting(self, tmp_path: Path, seed: int) -> None:
        walk = Walk(EdgeIndex(tmp_path, manifest=MANIFEST), seed)
        await walk.replace()
        for _ in range(6):
            for _ in range(3):
                await getattr(walk, walk.random.choice(STEPS))()
            await walk.index.close()
            walk.index = EdgeIndex(tmp_path)
            await walk.index.counts()  # opens the files
            assert told(walk.index.words, EVERY_WORD) == counted(walk.live)
        await walk.index.close()

    async def test_after_kill_9_they_are_counted_anew_and_kept(self, tmp_path: Path) -> None:
        folder, killed = tmp_path / "index", tmp_path / "killed"
        walk = Walk(EdgeIndex(folder, manifest=MANIFEST), 7)
        for step in (walk.replace, walk.settle, walk.replace, walk.limit):
            await step()
        shutil.copytree(folder, killed)  # as it would lie there
        await walk.index.close()

        index = EdgeIndex(killed)
        await index.counts()
        assert index.words.passages == 0, "a word of a page that is private now must not show"
        await index.count_words()
        assert told(index.words, EVERY_WORD) == counted(walk.live)
        shutil.copytree(killed, tmp_path / "again")  # killed once more, without a write
        await index.close()

        again = EdgeIndex(tmp_path / "again")
        await again.counts()
        assert told(again.words, EVERY_WORD) == counted(walk.live)
        await again.close()

    async def test_killed_amid_its_writes_it_counts_what_is_there(self, tmp_path: Path) -> None:
        write_until_killed(tmp_path, after=20)
        index = EdgeIndex(tmp_path)
        await index.count_words()
        held = [chunk async for batch in index.passages(audience=word_counts.PUBLIC) for chunk in batch]
        words = Counter(word for chunk in held for word in words_of(chunk.embedded_text))
        assert index.words.passages == len(held) > 0
        assert {word: index.words.frequency(word.decode()) for word in words} == words
        await index.close()

    @pytest.mark.parametrize("lost", ["no file", "half a file", "another version"])
    async def test_counts_of_an_earlier_version_or_none_are_made_anew(
        self, tmp_path: Path, lost: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as earlier:
            if lost == "another version":
                earlier.setattr(word_counts, "VERSION", "0")
            index = EdgeIndex(tmp_path, manifest=MANIFEST)
            await put(index, a_page("pagea"), "gym desk", "gym")
            await index.close()
        file = tmp_path / "gen-1" / "words"
        if lost == "no file":
            file.unlink()
        if lost == "half a file":
            file.write_bytes(file.read_bytes()[:200])

        index = EdgeIndex(tmp_path)
        await index.counts()
        assert index.words.passages == 0
        await index.count_words()
        assert told(index.words, EVERY_WORD) == counted({"pagea": ((EVERYONE,), ("gym desk", "gym"))})
        await index.close()

    async def test_a_version_that_counts_nothing_may_write_in_between(self, tmp_path: Path) -> None:
        index = EdgeIndex(tmp_path, manifest=MANIFEST)
        await put(index, a_page("pagea"), "gym")
        await index.close()
        kept = (tmp_path / "gen-1" / "words").read_bytes()
        index = EdgeIndex(tmp_path)
        await put(index, a_page("pagea"), "desk")
        await index.close()
        (tmp_path / "gen-1" / "words").write_bytes(kept)  # as such a version would leave it

        index = EdgeIndex(tmp_path)
        await index.count_words()
        assert told(index.words, EVERY_WORD) == counted({"pagea": ((EVERYONE,), ("desk",))})
        await index.close()

    @pytest.mark.parametrize("seed", SEEDS)
    async def test_pages_may_change_while_words_are_counted_anew(
        self, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shard_writes, "COUNTED_TOGETHER", 2)
        walk = Walk(EdgeIndex(tmp_path, manifest=MANIFEST), seed)
        for _ in range(6):
            await walk.replace()
        await walk.index.close()
        (tmp_path / "gen-1" / "words").unlink()

        walk.index = index = EdgeIndex(tmp_path)
        more = True
        while more:
            await getattr(walk, walk.random.choice(["replace", "limit", "delete", "settle"]))()
            for _ in range(walk.random.randint(1, 12)):
                more = await index._use(lambda live: live.count_words(), empty=False)
        assert told(index.words, EVERY_WORD) == counted(walk.live)
        await index.close()

    async def test_a_forgotten_page_leaves_the_disk_with_the_next_rest(self, tmp_path: Path) -> None:
        index = EdgeIndex(tmp_path, manifest=MANIFEST)
        await put(index, a_page("pagea"), "zebrafish")
        await put(index, a_page("pageb"), "gym")
        await index.settle()
        await index.delete_pages(["pagea"])
        await index.settle()
        _, _, packed = (tmp_path / "gen-1" / "words").read_bytes().partition(b"\n")
        kept = WordCounts.from_bytes(packed)
        assert kept is not None
        assert told(kept, EVERY_WORD) == counted({"pageb": ((EVERYONE,), ("gym",))})
        await index.close()


@pytest.mark.usefixtures("no_grace")
class TestServerIndex:
    @pytest.mark.parametrize("seed", SEEDS[:2])
    async def test_every_bot_knows_the_words_after_anothers_sync(
        self, served: Callable[..., ServerIndex], seed: int
    ) -> None:
        walk, other = Walk(served(MANIFEST), seed), served()
        await walk.replace()
        for _ in range(5):
            for _ in range(3):
                await getattr(walk, walk.random.choice(STEPS))()
            await walk.index.settle()
            await other.count_words()
            assert told(other.words, EVERY_WORD) == counted(walk.live)
            late = served()
            await late.count_words()
            assert told(late.words, EVERY_WORD) == counted(walk.live)
            if walk.random.random() < 0.5:
                walk.index = late  # the next sync is another bot's

    async def test_what_may_no_longer_be_read_leaves_every_bots_counts_amid_a_sync(
        self, served: Callable[..., ServerIndex]
    ) -> None:
        syncing, other = served(MANIFEST), served()
        await put(syncing, a_page("pagea"), "zebrafish")
        await put(syncing, a_page("pageb"), "gym")
        await syncing.settle()
        await other.count_words()
        assert other.words.frequency("zebrafish") == 1

        await syncing.delete_pages(["pagea"])
        await put(syncing, a_page("pagec"), "desk")
        await other.count_words()
        assert (other.words.frequency("zebrafish"), other.words.frequency("gym")) == (0, 1)

    async def test_a_page_forgotten_by_one_bot_amid_the_sync_of_another_is_not_counted_on(
        self, served: Callable[..., ServerIndex]
    ) -> None:
        syncing, forgetting, late = served(MANIFEST), served(), served()
        await put(syncing, a_page("pagea"), "zebrafish")
        await put(syncing, a_page("pageb"), "gym")
        await syncing.settle()
        await put(syncing, a_page("pagec"), "desk")
        await forgetting.delete_pages(["pagea"])
        await forgetting.settle()
        await put(syncing, a_page("paged"), "desk")
        await syncing.settle()

        held: Pages = {"pageb": ((EVERYONE,), ("gym",))}
        held |= dict.fromkeys(("pagec", "paged"), ((EVERYONE,), ("desk",)))
        for index in (late, syncing, forgetting):
            await index.count_words()
            assert told(index.words, EVERY_WORD) == counted(held)

    async def test_a_bot_that_died_amid_its_sync_leaves_no_wrong_counts(
        self, served: Callable[..., ServerIndex], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        dying, other = served(MANIFEST), served()
        await put(dying, a_page("pagea"), "gym")
        await dying.settle()
        await put(dying, a_page("pagea"), "desk")  # and is never heard of again

        monkeypatch.setattr(server_words, "ABANDONED_S", -1.0)
        await other.count_words()
        late = served()
        await late.count_words()
        for index in (other, late):
            assert told(index.words, EVERY_WORD) == counted({"pagea": ((EVERYONE,), ("desk",))})

    async def test_a_sync_after_one_that_died_does_not_go_on_with_its_counts(
        self, served: Callable[..., ServerIndex]
    ) -> None:
        dying, other, late = served(MANIFEST), served(), served()
        await put(dying, a_page("pagea"), "gym")
        await dying.settle()
        await put(dying, a_page("pagea"), "desk")  # and is never heard of again

        await put(other, a_page("pageb"), "pension")
        await other.settle()
        await late.count_words()
        held = {"pagea": ((EVERYONE,), ("desk",)), "pageb": ((EVERYONE,), ("pension",))}
        assert told(late.words, EVERY_WORD) == counted(held)

    async def test_an_index_of_an_earlier_version_is_counted_once_for_all(
        self, served: Callable[..., ServerIndex]
    ) -> None:
        index, first, second = served(MANIFEST), served(), served()
        held = dict.fromkeys(NAMES, ((EVERYONE,), ("gym", "desk")))
        await Walk(index, 0).write(index, {}, held)
        await index.settle()
        client, name = index._client, f"{index._name}-g1-words"
        await client.delete_collection(name)

        await first.count_words()
        assert told(first.words, EVERY_WORD) == counted(held)
        second._beside = lambda number: _Unread()
        await second.count_words()
        assert told(second.words, EVERY_WORD) == counted(held)

    async def test_a_bot_that_starts_while_the_server_is_away_knows_the_words_once_it_is_back(self) -> None:
        server = QdrantServer(strict=STRICT)
        await server.start()
        client = AsyncQdrantClient(url=server.url, timeout=5, check_compatibility=False)
        writer = ServerIndex(client, "kb", manifest=MANIFEST)
        await put(writer, a_page("pagea"), "gym")
        await writer.settle()
        await server.stop()

        vocabulary = Vocabulary(ServerIndex(client, "kb", retry_s=0), look_s=0.02)
        await vocabulary.start()
        assert vocabulary.frequency("gym") == 0
        await server.start()
        await until(lambda: vocabulary.frequency("gym") == 1, seconds=60)
        await vocabulary.close()
        await client.close()
        await server.stop()


class _Unread:
    def _public(self) -> None:
        raise AssertionError("passages were read")

    _public_passages = _public
