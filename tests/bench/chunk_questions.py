"""What a way of chunking finds: questions drawn from the pages themselves, whose section is the answer.

Two kinds. A heading asks for the text under it. A sentence asks for the section that it stands in; it is drawn from the
section's middle, and so says nothing about how the section begins.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["heading", "sentence"]
CUTOFFS = (1, 5)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChunkQuestion:
    """`answer`: page id and heading path of the section."""

    kind: Kind
    text: str
    answer: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """Shares of the questions whose section is among the first 1 and 5 passages, and the mean reciprocal rank.

    `tokens`: how many the five passages together hold on average, which is what a reader or a model has to read.
    """

    n: int
    recall: Mapping[int, float]
    mrr: float
    tokens: float


def draw(questions: Sequence[ChunkQuestion], number: int, *, seed: int) -> list[ChunkQuestion]:
    """Draws at most `number` of each kind, the same ones for every way of chunking."""
    drawn: list[ChunkQuestion] = []
    for kind in ("heading", "sentence"):
        pool = [question for question in questions if question.kind == kind]
        drawn += random.Random(seed).sample(pool, min(number, len(pool)))
    return drawn


def found(
    questions: Sequence[ChunkQuestion],
    asked: NDArray[np.float32],
    passages: NDArray[np.float32],
    *,
    answers: Sequence[frozenset[tuple[str, ...]]],
    tokens: Sequence[int],
) -> Found:
    """Ranks all passages for each question by cosine.

    Args:
        asked: unit vectors, shape (questions, dimension). `passages`: likewise, shape (passages, dimension).
        answers: the sections of which each passage holds a part. `tokens`: the length of each passage.
    """
    ranks = np.argsort(-(asked @ passages.T), axis=1, kind="stable")
    firsts = [
        next((at for at, passage in enumerate(row, 1) if question.answer in answers[passage]), inf)
        for question, row in zip(questions, ranks, strict=True)
    ]
    read = [sum(tokens[passage] for passage in row[: CUTOFFS[-1]]) for row in ranks]
    return Found(
        n=len(firsts),
        recall={cutoff: float(np.mean([first <= cutoff for first in firsts])) for cutoff in CUTOFFS},
        mrr=float(np.mean([1 / first for first in firsts])),
        tokens=float(np.mean(read)),
    )
