import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kb.config.model_settings import EmbedSettings
from kb.errors import EmbedderUnavailableError
from kb.inference.embedder import Embedder

ROOT = Path(__file__).parents[2]
MINILM = "all-MiniLM-L6-v2"


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    """A real model, loaded once: it comes with a package and needs no network."""
    embedder = Embedder(EmbedSettings(model=MINILM, batch_size=4))
    yield embedder
    embedder.close()


async def test_vectors_have_length_1_and_the_model_dimension(embedder: Embedder) -> None:
    vectors = await embedder.embed_queries(["How many days of holiday?", "laptops"])
    assert vectors.shape == (2, embedder.dimension) == (2, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 1.0], abs=1e-5)


async def test_a_question_is_closest_to_the_passage_that_answers_it(embedder: Embedder) -> None:
    passages = await embedder.embed_documents(
        [
            "Order your laptop from the catalogue.",
            "Employees get 25 days of paid leave a year.",
            "Parcels to Canada take ten days.",
        ]
    )
    (question,) = await embedder.embed_queries(["How much holiday do I have?"])
    assert int(np.argmax(passages @ question)) == 1


async def test_documents_come_back_in_their_order_however_they_were_batched(embedder: Embedder) -> None:
    texts = [" ".join(["leave"] * length) for length in (60, 1, 30, 5, 2, 45, 9, 12, 3)]
    together = await embedder.embed_documents(texts)
    one_by_one = np.vstack([await embedder.embed_documents([text]) for text in texts])
    assert np.abs(together - one_by_one).max() < 1e-4


async def test_no_texts_are_no_vectors(embedder: Embedder) -> None:
    assert len(await embedder.embed_queries([])) == 0
    assert len(await embedder.embed_documents([])) == 0


async def test_a_repeated_question_is_not_embedded_again(embedder: Embedder) -> None:
    first = await embedder.embed_queries(["and when do they expire?", "x"])
    busy = asyncio.create_task(embedder.embed_documents(["a long document " * 50] * 8))
    await asyncio.sleep(0)
    again = await embedder.embed_queries(["x", "and when do they expire?"])
    assert not busy.done()  # a cached vector waits for nobody
    assert np.array_equal(again, first[::-1])
    await busy


async def test_wordings_are_embedded_side_by_side_and_none_changes_another_s_vector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both_at_work = threading.Barrier(2, timeout=60)
    waited: list[str] = []
    watched = Embedder(EmbedSettings(threads=2))
    await watched.ready()
    for model in watched._models:
        encoder = model.encoder()

        def encode(kind: Any, texts: Sequence[str], encode: Any = encoder.encode) -> Any:
            both_at_work.wait()  # breaks where one waits for the other
            waited.extend(texts)
            return encode(kind, texts)

        monkeypatch.setattr(encoder, "encode", encode)
    try:
        vectors = await watched.embed_queries(
            ["how long?", "how long may a lunch break be, and who says so?"]
        )
    finally:
        watched.close()
    assert len(waited) == 2 * len(watched._models)
    alone = Embedder(EmbedSettings(threads=2))
    try:
        assert (await alone.embed_queries(["how long?"]) == vectors[:1]).all()
    finally:
        alone.close()


async def test_a_question_waits_for_one_batch_of_documents_and_not_for_all(embedder: Embedder) -> None:
    documents = asyncio.create_task(embedder.embed_documents([f"document {at} " * 40 for at in range(40)]))
    await asyncio.sleep(0)
    await embedder.embed_queries(["a question that was never asked before"])
    assert not documents.done()
    await documents


async def test_the_event_loop_runs_on_while_the_model_works(embedder: Embedder) -> None:
    ticks = 0
    documents = asyncio.create_task(embedder.embed_documents(["some words " * 100] * 8))
    while not documents.done():
        await asyncio.sleep(0.001)
        ticks += 1
    assert ticks > 5


async def test_tokens_are_the_models_own_and_more_than_fit_are_counted(embedder: Embedder) -> None:
    assert embedder.count_tokens("hello world") == 2
    assert embedder.count_tokens("") == 0
    assert embedder.max_tokens == 254  # 256 without the two marks of a sequence
    assert embedder.count_tokens("word " * 900) == 900


async def test_tokens_can_be_counted_in_other_threads_while_the_model_works(embedder: Embedder) -> None:
    documents = asyncio.create_task(embedder.embed_documents(["some words " * 60] * 16))
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(4) as pool:
        counts = await asyncio.gather(
            *[loop.run_in_executor(pool, embedder.count_tokens, "some words " * 60) for _ in range(40)]
        )
    assert set(counts) == {120}
    await documents


async def test_what_exceeds_the_limit_does_not_change_the_vector(embedder: Embedder) -> None:
    fits = "word " * embedder.max_tokens
    vectors = await embedder.embed_documents([fits, fits + "elephant " * 50])
    assert np.abs(vectors[0] - vectors[1]).max() < 1e-4


async def test_prompts_are_read_by_the_model_and_take_room(embedder: Embedder) -> None:
    prompted = Embedder(EmbedSettings(model=MINILM, query_prompt="query: ", document_prompt="passage: "))
    await prompted.ready()
    assert prompted.max_tokens == embedder.max_tokens - 2
    with_prompt = await prompted.embed_queries(["holiday"])
    by_hand = await embedder.embed_queries(["query: holiday"])
    assert np.abs(with_prompt - by_hand).max() < 1e-4
    passage = await prompted.embed_documents(["holiday"])
    assert np.abs(passage - await embedder.embed_documents(["passage: holiday"])).max() < 1e-4
    prompted.close()


@pytest.mark.parametrize("name", ["no such model", pytest.param("empty-folder", marks=pytest.mark.series)])
async def test_an_unknown_model_is_an_outage_that_says_what_to_do(name: str, tmp_path: Path) -> None:
    if name == "empty-folder":
        name = str(tmp_path)
    embedder = Embedder(EmbedSettings(model=name))
    with pytest.raises(EmbedderUnavailableError, match="FOOTNOTE_EMBED__MODEL") as outage:
        await embedder.ready()
    assert name in str(outage.value)
    with pytest.raises(EmbedderUnavailableError):
        await embedder.embed_queries(["x"])
    embedder.close()


def test_importing_the_knowledge_room_does_not_import_torch() -> None:
    code = (
        "import sys, kb.inference.embedder, kb.retrieval.rerank, kb.retrieval.search, kb.retrieval.anchors;"
        "heavy = {'torch', 'sentence_transformers', 'transformers'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)
