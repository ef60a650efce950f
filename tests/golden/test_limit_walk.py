"""Pages with every spelling of a limit, synced and asked for as always: who is not meant finds nothing of them."""

from __future__ import annotations

from pathlib import Path

from bot.cli.composition.pipeline import build_pipeline, freshness_policy
from bot.cli.composition.runtime import utc_now
from kb.config.answer_settings import AnswerSettings
from kb.config.model_settings import RerankSettings
from kb.config.settings import Settings
from kb.index.embedded.index import EdgeIndex
from kb.models import Audience, Question
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.rerank import Reranker
from kb.retrieval.vocabulary import Vocabulary
from tests.fakes.embedder import HashEmbedder
from tests.fakes.limit_spellings import SECRET, spellings
from tests.fakes.syncing import a_sync

OPEN = "# Bands\n\nA band of pay has a number.\n"
ASKED = ("What does band 3 earn?", "pay bands", SECRET)
EVERY = 5


class Words(HashEmbedder):
    embed_queries = HashEmbedder.embed_documents


async def test_nobody_finds_what_was_limited_in_any_spelling(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "open.md").write_text(OPEN)
    names = []
    for at, spelling in enumerate(list(spellings())[::EVERY]):
        names.append(f"pay-{at}{Path(spelling.name).suffix}")
        (pages / names[-1]).write_bytes(spelling.text.encode())
    index, embedder, lexical = EdgeIndex(tmp_path / "index"), Words(), LexicalEncoder()
    try:
        report = await a_sync(pages, index, embedder=embedder).run()
        settings = Settings(rerank=RerankSettings(model="off"), answer=AnswerSettings(min_confidence=0.0))
        pipeline = build_pipeline(
            settings, index=index, embedder=embedder, ranker=Reranker(settings.rerank), model=None, lexical=lexical,  # type: ignore[arg-type]
            vocabulary=Vocabulary(index), freshness=freshness_policy(settings, utc_now), clock=utc_now,
        )  # fmt: skip
        for text in ASKED:
            answer = await pipeline.answer(Question(id=text, text=text, audience=Audience()))
            assert "5817" not in repr(answer).replace(text, "")
            assert {hit.chunk.page.path for hit in answer.trace.hits} <= {"open.md"}
        leads = Audience(channels=frozenset({"#leads"}))
        meant = await pipeline.find(Question(id="", text=SECRET, audience=leads))
    finally:
        await index.close()
    limited = set(names) - {page.path for page in report.failed}
    assert {hit.chunk.page.path for hit in meant.hits} & limited
    assert all(page.reason for page in report.failed)
    assert len(limited) < len(names) / 2
