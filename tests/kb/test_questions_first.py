"""Work in the background pauses while a question is in the air, and not for ever."""

from __future__ import annotations

import threading
import time

from kb.inference.questions_first import QuestionsFirst


def background(first: QuestionsFirst) -> tuple[threading.Thread, list[float]]:
    ended: list[float] = []

    def piece() -> None:
        first.wait()
        ended.append(time.monotonic())

    thread = threading.Thread(target=piece)
    thread.start()
    return thread, ended


def test_a_piece_begins_when_the_question_and_a_moment_after_it_are_over() -> None:
    first = QuestionsFirst(afterwards_s=0.05, longest_s=600)
    with first.question(), first.question():
        thread, ended = background(first)
        thread.join(0.1)
        assert thread.is_alive()
        over = time.monotonic()
    thread.join()

    assert ended[0] >= over + 0.05


def test_a_piece_waits_no_longer_than_it_may() -> None:
    first = QuestionsFirst(afterwards_s=600, longest_s=0.05)
    with first.question():
        thread, _ = background(first)
        thread.join()
    thread, _ = background(first)
    thread.join()


def test_nobody_waits_where_nobody_asks() -> None:
    QuestionsFirst(afterwards_s=600, longest_s=600).wait()
