"""Child processes for work that may hang, crash, take long or run out of memory without harm to anything else.

They start when they are needed (0.4 s), stay for the next piece of work, and are replaced when one had to be killed.
Requests and replies are frames (`ingest.frames`).
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import ingest
from ingest.frames import LENGTH_BYTES, frame

MEMORY_BYTES = 2 << 30
"""Address space of a process, of which 0.5 GB are mapped, not used, once every converter is loaded."""
_START_S = 60.0
"""Seconds. A process starts within one; on a machine that swaps it may take long."""
_MAX_FRAME = 200_000_000
"""Bytes. No page has more text than that."""
TURN_BYTES = 100_000
"""Bytes of frames that are read in a millisecond, before the event loop turns to other tasks."""
_INHERITED = ("PATH", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""The only variables of our environment that a process gets: the others hold tokens."""
_SINGLE_THREADED = {
    "PYDANTIC_DISABLE_PLUGINS": "1",
    "MALLOC_ARENA_MAX": "2",
    "RAYON_NUM_THREADS": "1",
    "TOKIO_WORKER_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""A process does one thing at a time; each thread that a library starts would map 64 MB of its address space.
The search for pydantic's plug-ins, of which we use none, is an eighth of its start.
"""


class DiedError(Exception):
    """The process is gone, or its reply is invalid."""


class WorkProcess:
    """A child process. Every method raises `DiedError` when it died meanwhile."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._received = 0
        """Bytes since the event loop last ran other tasks."""

    @classmethod
    async def started(cls, command: Sequence[str]) -> WorkProcess:
        environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment | _SINGLE_THREADED
        )
        worker = cls(process)
        try:
            async with asyncio.timeout(_START_S):
                await worker.receive()
        except BaseException:
            await worker.kill()
            raise
        return worker

    async def send(self, frames: Iterable[bytes]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.writelines([frame(content) for content in frames])
            await self._process.stdin.drain()
        except ConnectionError as error:
            raise DiedError(f"exit code {self._process.returncode}") from error

    async def receive(self) -> bytes:
        """Receives the next frame. Yields to the event loop every few frames, for all may be there already."""
        assert self._process.stdout is not None
        if self._received > TURN_BYTES:
            self._received = 0
            await asyncio.sleep(0)
        try:
            length = int.from_bytes(await self._process.stdout.readexactly(LENGTH_BYTES))
            if length > _MAX_FRAME:
                raise DiedError(f"its reply is {length} bytes long")
            self._received += length
            return await self._process.stdout.readexactly(length)
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            raise DiedError(f"exit code {self._process.returncode}") from error

    async def kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


class ProcessPool:
    """Runs at most `workers` pieces of work at a time; others wait. For one event loop only.

    `module`: the module whose `main` a process runs.
    """

    def __init__(self, module: str, *, workers: int, memory_bytes: int = MEMORY_BYTES) -> None:
        self._free = asyncio.Semaphore(workers)
        self._warming = asyncio.Lock()
        self._command = _command(module, memory_bytes)
        self._idle: list[WorkProcess] = []

    @asynccontextmanager
    async def process(self, *, seconds: float) -> AsyncIterator[WorkProcess]:
        """Lends a free process for one piece of work. It is killed where the block raises, takes too long or is
        cancelled: its next reply would answer this request.

        Raises:
            TimeoutError: the block took longer than `seconds`.
        """
        async with self._free:
            if not self._idle and self._warming.locked():
                # The process that is starting will be ready sooner than another.
                async with self._warming:
                    pass
            worker = self._idle.pop() if self._idle else await WorkProcess.started(self._command)
            try:
                async with asyncio.timeout(seconds):
                    yield worker
            except BaseException:
                await worker.kill()
                raise
            self._idle.append(worker)

    @property
    def is_warm(self) -> bool:
        """Whether a process is waiting for work."""
        return bool(self._idle)

    async def warm(self) -> None:
        """Starts a process for work to come, unless one is idle or all are busy.

        Raises:
            DiedError, TimeoutError, OSError: it does not start.
        """
        async with self._warming:
            if not self._idle and not self._free.locked():
                self._idle.append(await WorkProcess.started(self._command))

    async def close(self) -> None:
        """Ends the processes. The pool may be used again."""
        while self._idle:
            await self._idle.pop().kill()


def _command(module: str, memory: int) -> tuple[str, ...]:
    """Isolates a process from the working folder and the user's packages. It imports the project from this place."""
    root = str(Path(ingest.__file__).parent.parent)
    start = f"import sys; sys.path.append({root!r}); sys.argv[1:] = [{str(memory)!r}]; "
    return (sys.executable, "-I", "-c", f"{start}from {module} import main; main()")
