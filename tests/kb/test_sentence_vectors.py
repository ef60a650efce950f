"""Vectors that are remembered cost what they are worth."""

from __future__ import annotations

import numpy as np

from kb.inference.sentence_vectors import SentenceVectors
from tests.fakes.embedder import HashEmbedder


async def test_a_sentence_that_is_remembered_does_not_keep_the_whole_page_that_came_with_it() -> None:
    vectors = SentenceVectors(HashEmbedder())
    found = await vectors.of([f"sentence {number}" for number in range(1000)])
    one = found["sentence 7"]
    assert one.base is None
    assert one.nbytes == HashEmbedder.dimension * np.dtype(np.float32).itemsize
