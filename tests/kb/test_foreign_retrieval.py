"""What is searched for, and reread, where a model wrote a question in the pages' language as well."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import pytest

from kb.config.settings import Settings
from kb.index.port import PagesWanted
from kb.models import Audience, Hit, Page, Question, Rewrite, Turn
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.queries import WeightedQuery
from kb.retrieval.result import RetrievalResult
from kb.retrieval.retriever import Retriever
from kb.retrieval.search import SearchResult
from kb.retrieval.vocabulary import Vocabulary
from kb.runtime.stopwatch import Stopwatch
from tests.fakes.asked import hits_of
from tests.fakes.passages import a_passage

QUESTION = "Hoeveel vakantiedagen krijg ik en wie keurt ze goed?"
PARTS = ("Hoeveel vakantiedagen krijg ik?", "Wie keurt vakantiedagen goed?")
WHOLE = "How many days of holiday do I get and who approves them?"


@dataclass
class Office:
    """Every seam of a retrieval: each writes down what it was given."""

    rewrite_as: Rewrite
    pages: Sequence[str] = ("en", "nl")
    told: list[str] = field(default_factory=list)
    prepared: list[str] = field(default_factory=list)
    searched: list[list[WeightedQuery]] = field(default_factory=list)
    reread: list[str] = field(default_factory=list)
    available = wanted = True

    async def rewrite(
        self, question: str, turns: Sequence[Turn], *, language: str, pages_language: str = ""
    ) -> Rewrite:
        self.told.append(pages_language)
        await asyncio.sleep(0)
        return self.rewrite_as

    async def languages(self) -> Sequence[str]:
        return self.pages

    async def warm(self) -> None:
        """There is nothing to prepare."""

    async def prepare(self, text: str) -> None:
        self.prepared.append(text)

    async def search(self, queries: Sequence[WeightedQuery], **_: object) -> SearchResult:
        self.searched.append(list(queries))
        return SearchResult(hits=list(hits_of(a_passage("25 days."))), embed_ms=1.0, search_ms=1.0)

    async def trial(self) -> None:
        return None

    async def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        self.reread.append(query)
        return list(hits)

    async def readable(self, page_ids: Collection[str], *, audience: Audience) -> frozenset[str]:
        return frozenset(page_ids)

    async def pages_of(self, wanted: PagesWanted, *, audience: Audience) -> list[Page]:
        return []

    async def find(self, *, asks_a_model: bool = True) -> RetrievalResult:
        lexical = LexicalEncoder()
        retriever = Retriever(
            rewriter=self,
            outside_rewriter=self,
            index=_Index(self),  # type: ignore[arg-type]
            searcher=self,  # type: ignore[arg-type]
            ranker=self,
            lexical=lexical,
            vocabulary=Vocabulary(),
            settings=Settings(),
            asks_a_model=asks_a_model,
        )
        return await retriever.find(Question(id="q", text=QUESTION), (), "nl", Stopwatch())


class _Index:
    def __init__(self, office: Office) -> None:
        self.readable, self.pages = office.readable, office.pages_of


async def test_the_whole_is_searched_in_both_languages_and_reread_in_the_pages() -> None:
    office = Office(Rewrite(query=QUESTION, translated=WHOLE))
    await office.find()
    assert (office.told, office.prepared, office.reread) == (["en"], [QUESTION], [WHOLE])
    (queries,) = office.searched
    assert [(one.text, one.language) for one in queries] == [(QUESTION, ""), (WHOLE, "en")]


async def test_each_part_is_searched_along_with_the_translation_of_the_whole() -> None:
    office = Office(Rewrite(query=QUESTION, translated=WHOLE, parts=PARTS))
    found = await office.find()
    assert [part.question for part in found.parts] == list(PARTS)
    of_first = office.searched[1]
    assert [(one.text, one.language) for one in of_first] == [(PARTS[0], ""), (QUESTION, ""), (WHOLE, "en")]
    assert [one.weight for one in of_first] == pytest.approx([0.35, 0.15, 0.5])
    assert sorted(office.reread) == sorted([WHOLE, *PARTS])


async def test_without_a_model_nobody_asks_for_the_pages_language() -> None:
    office = Office(Rewrite(query=QUESTION))
    await office.find(asks_a_model=False)
    assert (office.told, office.prepared, office.reread) == ([""], [], [QUESTION])


async def test_over_an_empty_index_there_is_nothing_to_translate_into() -> None:
    office = Office(Rewrite(query=QUESTION), pages=())
    await office.find()
    assert (office.told, office.prepared) == ([""], [])
