"""What torch says of a few texts, recorded: the other tests compare with the record, `test_torch.py` the record with torch.

python -m tests.kb.torch_reference    records it anew
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from kb.config.model_settings import EmbedSettings, RerankSettings
from kb.inference.embedder import Embedder
from kb.inference.onnx import conversion
from kb.retrieval.rerank import Reranker
from tests.fakes.shared import SHARED

FILE = Path(__file__).with_suffix(".npz")
MINILM, E5 = "all-MiniLM-L6-v2", "multilingual-e5-small"
RERANKER = SHARED / "models" / "reranker-mini"
TEXTS = {
    MINILM: (
        "Employees get 25 days of paid leave a year.",
        "x",
        "Die Kündigungsfrist beträgt drei Monate. " * 30,
        "年假有几天？",
    ),
    E5: (
        "Employees get 25 days of paid leave a year.",
        "x",
        "Die Kündigungsfrist beträgt drei Monate. " * 20,
        "年假有几天？",
        "De printer staat op de tweede verdieping.\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    ),
}
QUESTION = "How many days of holiday do I get?"
PASSAGES = ("Employees get 25 days of paid holiday a year.", "The printer is upstairs. " * 90, "Holiday.")

Said = Mapping[str, Any]
"""Of an embedder: `documents` and `queries` (vectors, a row a text), `tokens` (of each text), `max_tokens`, `dimension`.
Of a reranker: `scores` of the passages.
"""


def recorded(model: str) -> Said:
    with np.load(FILE) as file:
        return {name.partition("/")[2]: file[name] for name in file.files if name.startswith(f"{model}/")}


async def said_by(embedder: Embedder, model: str) -> Said:
    texts = TEXTS[model]
    return {
        "documents": await embedder.embed_documents(texts),
        "queries": await embedder.embed_queries(texts),
        "tokens": np.array([embedder.count_tokens(text) for text in texts]),
        "max_tokens": np.array(embedder.max_tokens),
        "dimension": np.array(embedder.dimension),
    }


async def scored_by(backend: str) -> Said:
    reranker = Reranker(RerankSettings(model=str(RERANKER), backend=backend, precision="fp32"))  # type: ignore[arg-type]
    await reranker.ready()
    assert reranker.backend == backend
    scores = await reranker.score(QUESTION, list(PASSAGES))
    reranker.close()
    return {"scores": np.array(scores)}


async def torch_says(model: str) -> Said:
    embedder = Embedder(EmbedSettings(model=model, backend="torch"))
    with tempfile.TemporaryDirectory() as store, patch.object(conversion, "stores", lambda: [Path(store)]):
        said = await said_by(embedder, model)  # E5's package is unpacked: 260 MB
    assert (embedder.name, embedder.backend) == (model, "torch")
    embedder.close()
    return said


async def record() -> None:
    said = {model: await torch_says(model) for model in TEXTS} | {RERANKER.name: await scored_by("torch")}
    np.savez_compressed(
        FILE, **{f"{of}/{name}": value for of, one in said.items() for name, value in one.items()}
    )


if __name__ == "__main__":
    asyncio.run(record())
