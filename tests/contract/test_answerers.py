"""What every answerer does. Quotes and the model (native citations and numbered passages) pass the same suite."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from kb.answering.answerer import Answerer
from kb.answering.drafting import ModelDrafter
from kb.answering.progress import Unwatched
from kb.answering.reading import ReadingLimits
from kb.answering.written import WrittenAnswerer
from kb.config.model_settings import ModelSettings
from kb.llm.client import LanguageModel
from kb.models import Audience, Hit, Turn
from tests.fakes.asked import Watcher, a_quoted_answerer, an_asked
from tests.fakes.messages_server import MessagesServer
from tests.fakes.passages import a_passage

QUESTION = "How many days of holiday do full-time employees get a year?"
LEAVE = a_passage("Full-time employees get 25 days of holiday a year. Ask your manager first.")
EXPIRY = a_passage("Unused holiday days expire on 31 March.", title="Leave FAQ")
PARKING = a_passage("Bicycles stand inside.", title="Parking")
EARLIER = Turn(question="Do I get a laptop?", answer="Yes, on the first day.")


async def no_more(query: str, audience: Audience, language: str) -> Sequence[Hit]:
    return ()


@pytest.fixture(params=["quoted", "native", "numbered"])
async def answerer(request: pytest.FixtureRequest) -> AsyncIterator[Answerer]:
    quoted = a_quoted_answerer()
    if request.param == "quoted":
        yield quoted
        return
    async with MessagesServer() as server:
        settings = ModelSettings.model_validate(
            {"api_key": server.key, "base_url": server.url, "native_citations": request.param == "native"}
        )
        model = LanguageModel(settings)
        yield WrittenAnswerer(
            drafter=ModelDrafter(model, settings, max_sentences=4),
            judge=None,
            quoted=quoted,
            search=no_more,
            limits=ReadingLimits(passages=16, tokens=6000),
        )
        await model.close()


async def test_it_answers_with_sentences_that_cite_the_page_which_says_it(answerer: Answerer) -> None:
    answer = await answerer.compose(an_asked(QUESTION, LEAVE, EXPIRY), Unwatched())
    assert answer.outcome == "answered"
    assert any("25 days" in sentence.text for sentence in answer.sentences)
    assert answer.citations[0].chunk == LEAVE


async def test_every_sentence_cites_and_every_citation_is_of_a_passage_and_quotes_it(
    answerer: Answerer,
) -> None:
    answer = await answerer.compose(an_asked(QUESTION, LEAVE, EXPIRY), Unwatched())
    known = {citation.n for citation in answer.citations}
    for sentence in answer.sentences:
        assert sentence.citations
        assert set(sentence.citations) <= known
    for citation in answer.citations:
        assert citation.chunk in (LEAVE, EXPIRY)
        assert citation.quote in citation.chunk.text
        assert citation.score is None


async def test_earlier_turns_do_not_get_into_the_answer(answerer: Answerer) -> None:
    answer = await answerer.compose(an_asked(QUESTION, LEAVE, turns=[EARLIER]), Unwatched())
    assert all("laptop" not in sentence.text for sentence in answer.sentences)


async def test_what_no_page_says_is_declined_and_the_nearest_pages_are_named(answerer: Answerer) -> None:
    asked = an_asked("Quis custodiet ipsos custodes?", PARKING, confidence=0.01)
    answer = await answerer.compose(asked, Unwatched())
    assert (answer.outcome, answer.sentences) == ("declined", ())
    assert [page.title for page in answer.nearest] == ["Parking"]


async def test_whoever_watches_is_told_that_pages_are_read(answerer: Answerer) -> None:
    watcher = Watcher()
    await answerer.compose(an_asked(QUESTION, LEAVE, EXPIRY), watcher)
    assert watcher.stages[0] == ("reading", 2)
