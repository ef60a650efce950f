"""The check of citations on labelled sentences, with the real embedder: the dev half reaches the target, the other keeps its level."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from kb.embed import Embedder
from kb.evaluation.citations import HARD_KINDS, CitationFigures, check_pairs, figures, read_labelled
from kb.settings import EmbedSettings
from kb.similarity import EmbeddingSimilarity

FILE = Path(__file__).parent / "citations.jsonl"
HELD_OUT_CAUGHT = 0.92
HELD_OUT_KEPT = 0.91
"""Below the target of .98 and .97: the rules are fitted on the other half. What they reach may not sink."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def measured() -> AsyncIterator[dict[str, CitationFigures]]:
    embedder = Embedder(EmbedSettings())
    await embedder.ready()
    similarity = EmbeddingSimilarity(embedder)
    results = [one async for one in check_pairs(read_labelled(FILE), similarity)]
    yield {
        split: figures([one for one in results if one.passage.split == split])
        for split in ("dev", "held-out")
    }
    embedder.close()


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_the_dev_half_reaches_the_target(measured: dict[str, CitationFigures]):
    assert measured["dev"].reached, measured["dev"]


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_the_held_out_half_does_not_sink(measured: dict[str, CitationFigures]):
    assert (measured["held-out"].caught.share or 0) >= HELD_OUT_CAUGHT
    assert (measured["held-out"].kept.share or 0) >= HELD_OUT_KEPT


def test_the_set_holds_every_kind_in_both_halves_and_states_where_its_words_come_from():
    passages = read_labelled(FILE)
    kinds = Counter((one.split, sentence.kind) for one in passages for sentence in one.sentences)
    assert sum(kinds.values()) >= 600
    assert all(kinds[split, kind] >= 10 for split in ("dev", "held-out") for kind in (*HARD_KINDS, "true"))
    assert all(one.source and one.licence for one in passages)
