"""The check of citations on labelled sentences, with the real embedder: what it reaches may not sink.

The floors lie just below what was measured, and below the target of .98 and .97: `footnote eval citations` exits with 1, and
docs/citations.md says why. Those of held-out leave more room: nobody may look why it changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

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


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def measured() -> AsyncIterator[dict[str, CitationFigures]]:
    embedder = Embedder(EmbedSettings())
    await embedder.ready()
    similarity = EmbeddingSimilarity(embedder)
    results = [one async for one in check_pairs(read_labelled(FILE), similarity)]
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
