"""What every answerer does. Extraction and the model (native citations and numbered passages) pass the same suite."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from kb.answering.draft import Draft, Drafter
from kb.answering.extract import ExtractiveDrafter
from kb.answering.model import ModelAnswerer
from kb.citations import verify
from kb.confidence import Evidence
from kb.lexical import LexicalEncoder
from kb.llm.client import LanguageModel
from kb.models import Turn
from kb.settings import ModelSettings
from tests.fakes.messages_server import MessagesServer
from tests.fakes.passages import a_passage, evidence_of

LEAVE = a_passage("Full-time employees get 25 days of holiday a year. Ask your manager first.")
EXPIRY = a_passage("Unused holiday days expire on 31 March.", title="Leave FAQ")
EVIDENCE = evidence_of(LEAVE, EXPIRY)
EARLIER = Turn(question="Do I get a laptop?", answer="Yes, on the first day.")


class Alike:
    """Every text is like every other: what is tested here does not hang on likeness."""

    async def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        return np.full((len(texts), 4), 0.5, dtype=np.float32)

    embed_documents = embed_queries


@pytest.fixture(params=["extractive", "native", "numbered"])
async def drafter(request: pytest.FixtureRequest) -> AsyncIterator[Drafter]:
    if request.param == "extractive":
        yield ExtractiveDrafter(embedder=Alike(), coverage=LexicalEncoder().coverage, max_sentences=4)
        return
    async with MessagesServer() as server:
        settings = ModelSettings.model_validate(
            {"api_key": server.key, "base_url": server.url, "native_citations": request.param == "native"}
        )
        model = LanguageModel(settings)
        yield ModelAnswerer(model, settings)
        await model.close()


async def drafted(drafter: Drafter, evidence: Evidence = EVIDENCE, *turns: Turn) -> Draft:
    question = "How many days of holiday do full-time employees get a year?"
    return await drafter.draft(question, question, evidence, turns, language="en")


async def test_a_sentence_names_only_passages_that_it_was_given(drafter: Drafter):
    draft = await drafted(drafter)
    assert draft.sentences
    for sentence in draft.sentences:
        assert all(0 <= at < len(EVIDENCE.hits) for at in sentence.hits)
        assert len(sentence.quotes) == len(sentence.hits)


async def test_what_it_drafts_is_supported_by_what_it_cites(drafter: Drafter):
    draft = await drafted(drafter)
    verified = await verify(draft.sentences, [LEAVE, EXPIRY], similarity=None)
    assert verified.removed == ()
    assert all(sentence.hits for sentence in verified.kept)  # one that a model left uncited finds its passage
    assert any("25 days" in sentence.text for sentence in verified.kept)


async def test_earlier_turns_do_not_get_into_the_answer(drafter: Drafter):
    draft = await drafted(drafter, EVIDENCE, EARLIER)
    assert all("laptop" not in sentence.text for sentence in draft.sentences)


async def test_without_evidence_it_declines_or_says_nothing(drafter: Drafter):
    draft = await drafted(drafter, Evidence(hits=(), relevance=()))
    assert draft.declined or all(not sentence.hits for sentence in draft.sentences)
