import asyncio
import os
import sys
import threading

import pytest

from kb.config.model_settings import EmbedSettings
from kb.inference.embedder import Embedder
from kb.inference.executor import GIVEN_UP, Executor
from tests.fakes.waiting import until


async def test_results_come_in_the_order_of_the_items() -> None:
    executor = Executor("test", 3)
    first = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            first.wait(30)  # the others overtake it
        elif item == 5:
            first.set()
        return item * 10

    assert await executor.map(work, range(6)) == [0, 10, 20, 30, 40, 50]
    assert await executor.map(work, []) == []
    executor.close()


async def test_no_more_items_are_under_way_than_the_lane_has_threads() -> None:
    executor, taken = Executor("test", 2), []

    def items():  # type: ignore[no-untyped-def]
        for item in range(6):
            taken.append(item)
            yield item

    gate = threading.Event()
    mapped = asyncio.create_task(executor.map(lambda item: gate.wait(30), items()))
    await until(lambda: len(taken) >= 2)
    for _ in range(20):
        await asyncio.sleep(0)
    assert taken == [0, 1]
    gate.set()
    assert await mapped == [True] * 6
    executor.close()


async def test_a_failure_is_raised_as_it_is_and_ends_the_rest() -> None:
    executor, done = Executor("test", 1), []

    def work(item: int) -> None:
        if item == 1:
            raise LookupError("item 1")
        done.append(item)

    with pytest.raises(LookupError, match="item 1"):
        await executor.map(work, range(5))
    assert done == [0]
    executor.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a priority for each thread")
async def test_work_that_yields_has_a_lower_priority_and_nothing_else_has() -> None:
    executor, other = Executor("test", yields=True), Executor("other")

    def niceness(_: None) -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    ours = await other.run(niceness, None)
    assert await executor.run(niceness, None) == max(ours, GIVEN_UP)
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == ours
    executor.close()
    other.close()


@pytest.mark.parametrize("backend", ["onnx", pytest.param("torch", marks=pytest.mark.series)])
async def test_a_question_does_not_queue_behind_what_a_sync_embeds(backend: str) -> None:
    embedder = Embedder(EmbedSettings(model="all-MiniLM-L6-v2", backend=backend, batch_size=4))  # type: ignore[arg-type]
    await embedder.ready()
    sync = asyncio.create_task(embedder.background.embed_documents(["some words " * 120] * 60))
    await asyncio.sleep(0)
    await embedder.embed_queries(["How many days of leave do I get?"])
    await embedder.embed_documents(["A sentence of a page.", "Another one."])
    assert not sync.done()
    sync.cancel()
    embedder.close()
