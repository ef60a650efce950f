"""How ways of chunking are compared."""

from __future__ import annotations

import numpy as np

from tests.bench.chunk_questions import ChunkQuestion, draw, found

LEAVE = ("p", "Leave")
TRAVEL = ("p", "Travel")


def a_question(text: str, answer: tuple[str, ...]) -> ChunkQuestion:
    return ChunkQuestion(kind="heading", text=text, answer=answer)


def test_a_question_counts_where_any_passage_of_its_section_comes_first() -> None:
    asked = np.eye(3, dtype=np.float32)[:2]
    passages = np.array([[0.1, 0.9, 0], [0.9, 0.1, 0], [0.5, 0.5, 0]], dtype=np.float32)
    answers = [frozenset({LEAVE}), frozenset({TRAVEL}), frozenset({LEAVE})]

    result = found(
        [a_question("x", LEAVE), a_question("y", LEAVE)],
        asked,
        passages,
        answers=answers,
        tokens=[10, 20, 30],
    )

    assert result.recall == {1: 0.5, 5: 1.0}
    assert result.mrr == (1 / 2 + 1) / 2
    assert result.tokens == 60


def test_a_section_that_no_passage_holds_is_never_found() -> None:
    passages = np.ones((1, 1), dtype=np.float32)
    result = found([a_question("x", LEAVE)], passages, passages, answers=[frozenset({TRAVEL})], tokens=[1])

    assert (result.recall[5], result.mrr) == (0.0, 0.0)


def test_every_way_of_chunking_is_asked_the_same_questions() -> None:
    pool = [a_question(str(at), ("p", str(at))) for at in range(50)]

    assert draw(pool, 10, seed=7) == draw(pool, 10, seed=7)
    assert len(draw(pool, 10, seed=7)) == 10
    assert len(draw(pool, 100, seed=7)) == 50
