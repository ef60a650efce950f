"""The bench compares answers with the bare model: it must see what the embedder asks of the model."""

from __future__ import annotations

from kb.config.model_settings import EmbedSettings
from tests.bench.calls import RecordingEmbedder

MINILM = "all-MiniLM-L6-v2"


async def test_the_bench_records_what_is_asked_of_the_model_and_not_what_is_cached() -> None:
    embedder = RecordingEmbedder(EmbedSettings(model=MINILM))
    try:
        await embedder.embed_queries(["how long?", "and why?"])
        await embedder.embed_documents(["Employees get 25 days.", "Parking is free."])
        recorded = embedder.recorded
        assert sorted(text for call in recorded.calls for text in call.texts) == [
            "Employees get 25 days.",
            "Parking is free.",
            "and why?",
            "how long?",
        ]
        assert {call.kind for call in recorded.calls} == {"query", "document"}
        assert recorded.model_ms > 0
        assert await embedder.bare_ms(recorded.calls) > 0
        embedder.start()
        await embedder.embed_queries(["how long?"])
        assert embedder.recorded.texts == 0
    finally:
        embedder.close()
