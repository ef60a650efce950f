"""The check of citations on labelled sentences, with the real embedder: what it reaches may not sink.

The floors lie just below what was measured, and below the target of .98 and .97: `footnote eval citations` exits with 1, and
docs/citations.md says why. Those of held-out leave more room: nobody may look why it changed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio
from numpy.typing import NDArray

from kb.embed import Embedder
from kb.evaluation.citations import (
    HARD_KINDS,
    CitationFigures,
    Split,
    check_pairs,
    figures,
    read_labelled,
)
from kb.settings import EmbedSettings
from kb.similarity import EmbeddingSimilarity

FILE = Path(__file__).parent / "citations.jsonl"
FLOORS: dict[Split, tuple[float, float]] = {"dev": (0.895, 0.97), "held-out": (0.62, 0.88)}
"""Share of the corruptions of five kinds that are caught, of the true sentences that are kept."""


class RememberedVectors:
    """The embedder's vectors, kept from one run of the tests to the next: they take more than half of the time.

    The file is named after what this very model gives for a probe, so that another model begins another file.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder, self._folder = embedder, folder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if missing:
            vectors = await self._embedder.embed_documents(missing)
            self._vectors.update(zip(missing, vectors, strict=True))
        return np.stack([self._vectors[text] for text in texts])

    async def recall(self) -> None:
        file = await self._file()
        if file.exists():
            with np.load(file) as kept:
                self._vectors.update(zip(kept["texts"].tolist(), kept["vectors"], strict=True))

    async def keep(self) -> None:
        file, texts = await self._file(), list(self._vectors)
        begun = file.with_suffix(".begun.npz")
        np.savez(begun, texts=np.array(texts), vectors=await self.embed_documents(texts))
        begun.replace(file)  # whole or not at all: a run may be stopped

    async def _file(self) -> Path:
        probe = await self._embedder.embed_documents(["Full-time employees get 25 days of holiday."])
        return self._folder / f"{hashlib.sha256(probe.tobytes()).hexdigest()[:16]}.npz"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def measured(request: pytest.FixtureRequest) -> AsyncIterator[dict[str, CitationFigures]]:
    embedder = Embedder(EmbedSettings())
    await embedder.ready()
    remembered = RememberedVectors(embedder, request.config.cache.mkdir("citation-vectors"))
    await remembered.recall()
    similarity = EmbeddingSimilarity(remembered)
    results = [one async for one in check_pairs(read_labelled(FILE), similarity)]
    await remembered.keep()
    yield {split: figures([one for one in results if one.passage.split == split]) for split in FLOORS}
    embedder.close()


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("split", FLOORS)
async def test_what_the_check_reaches_does_not_sink(measured: dict[str, CitationFigures], split: Split):
    caught, kept = FLOORS[split]
    assert (measured[split].caught.share or 0) >= caught
    assert (measured[split].kept.share or 0) >= kept


def test_the_set_holds_every_kind_in_both_parts_and_states_where_its_words_come_from():
    passages = read_labelled(FILE)
    kinds = Counter((one.split, sentence.kind) for one in passages for sentence in one.sentences)
    assert sum(kinds.values()) >= 2000
    assert all(kinds[split, kind] >= 10 for split in FLOORS for kind in (*HARD_KINDS, "true"))
    assert all(one.source and one.licence for one in passages)


def test_the_parts_share_no_passage():
    passages = read_labelled(FILE)
    dev = {one.passage for one in passages if one.split == "dev"}

    assert not dev & {one.passage for one in passages if one.split == "held-out"}
    assert len({one.id for one in passages}) == len(passages)
