"""What is embedded ahead of the first questions, on a real engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kb.config.search_settings import SearchSettings
from kb.index.embedded.index import EdgeIndex
from kb.index.port import IndexedChunk, IndexManifest
from kb.models import Audience
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.queries import WeightedQuery
from kb.retrieval.search import Search
from kb.retrieval.standard_scores import typical_questions
from tests.fakes.embedder import HashEmbedder
from tests.fakes.passages import a_passage

LEXICAL = LexicalEncoder()


class Asked(HashEmbedder):
    """Counts how often each question is embedded."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return await self.embed_documents(texts)


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EdgeIndex]:
    """One page in Dutch."""
    index, embedder = EdgeIndex(tmp_path), HashEmbedder()
    chunk = a_passage("Verlof vraag je aan bij je leidinggevende.")
    chunk = replace(chunk, page=replace(chunk.page, language="nl"))
    (dense,) = await embedder.embed_documents([chunk.embedded_text])
    lexical = LEXICAL.document(chunk.embedded_text, "nl")
    rebuild = await index.begin_rebuild(IndexManifest(embedder="hash", dimension=32, chunker="v1"))
    await rebuild.replace_pages(
        {chunk.page.id: [IndexedChunk(chunk=chunk, dense=dense.tolist(), lexical=lexical)]}
    )
    await rebuild.swap()
    yield index
    await index.close()


async def asks(search: Search, question: str, language: str) -> None:
    await search.search([WeightedQuery(text=question, weight=1.0)], audience=Audience(), language=language)


async def test_the_pages_languages_and_english_are_prepared_and_no_question_in_them_embeds_more_than_itself(
    index: EdgeIndex,
) -> None:
    embedder = Asked()
    search = Search(index, embedder, LEXICAL, SearchSettings())
    await search.warm()
    assert embedder.asked == [*typical_questions()["nl"], *typical_questions()["en"]]
    embedder.asked.clear()
    await asks(search, "Hoe vraag ik verlof aan?", "nl")
    await asks(search, "How do I ask for leave?", "en")
    assert embedder.asked == ["Hoe vraag ik verlof aan?", "How do I ask for leave?"]


async def test_questions_that_come_while_it_is_prepared_are_answered_and_embed_nothing_twice(
    index: EdgeIndex,
) -> None:
    embedder = Asked()
    search = Search(index, embedder, LEXICAL, SearchSettings())
    embedder.gate.clear()
    warming = asyncio.create_task(search.warm())
    await embedder.arrived.wait()
    questions = {"Hoe vraag ik verlof aan?": "nl", "How do I ask for leave?": "en", "Wie fragt man?": "de"}
    asking = [asyncio.create_task(asks(search, *question)) for question in questions.items()]
    await asyncio.sleep(0)
    embedder.gate.set()
    await asyncio.gather(warming, *asking)
    typical = [one for language in ("nl", "en", "de") for one in typical_questions()[language]]
    assert sorted(embedder.asked) == sorted([*questions, *typical])
