"""Processes of our own for work that may hang, crash, take long or run out of memory without harm to anything else.

They start when they are needed (0.4 s), stay for the next piece of work, and are replaced
when one had to be killed. What goes between them and us are frames (`ingest.frames`).
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import ingest
from ingest.frames import LENGTH_BYTES, frame

MEMORY_BYTES = 2 << 30
"""Address space of a process, of which 0.5 GB are mapped, not used, once every converter is loaded."""
_START_S = 60.0
"""A process starts within a second; on a machine that swaps it may take long."""
_MAX_FRAME = 200_000_000
"""Bytes. More text than that is no page."""
TURN_BYTES = 100_000
"""Bytes of frames whose reading takes a millisecond: then the event loop turns to others."""
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""All that a process learns of our environment, which holds tokens."""
_LEAN = {
    "PYDANTIC_DISABLE_PLUGINS": "1",
    "MALLOC_ARENA_MAX": "2",
    "RAYON_NUM_THREADS": "1",
    "TOKIO_WORKER_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""A process does one thing at a time; each thread that a library starts would map 64 MB of its address space.
Looking for plug-ins of pydantic, of which we use none, is an eighth of its start.
"""


class DiedError(Exception):
    """The process is gone, or says what no process of ours says."""


class WorkProcess:
    """One process, as this one talks to it. Every method raises `DiedError` when it died meanwhile."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._received = 0
        """Bytes since the event loop had its turn."""

    @classmethod
    async def started(cls, command: Sequence[str]) -> WorkProcess:
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | _LEAN
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=asyncio.subprocess.DEVNULL, env=environment
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
            self._process.stdin.writelines([frame(one) for one in frames])
            await self._process.stdin.drain()
        except ConnectionError as error:
            raise DiedError(f"exit code {self._process.returncode}") from error

    async def receive(self) -> bytes:
        """The next frame. The event loop has its turn after every few of them, for all may be there already."""
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
    """Runs at most `workers` pieces of work at a time; more of them wait. One event loop only.

    `module`: what a process runs the `main` of.
    """

    def __init__(self, module: str, *, workers: int, memory_bytes: int = MEMORY_BYTES) -> None:
        self._free = asyncio.Semaphore(workers)
        self._warming = asyncio.Lock()
        self._command = _command(module, memory_bytes)
        self._idle: list[WorkProcess] = []

    @asynccontextmanager
    async def process(self, *, seconds: float) -> AsyncIterator[WorkProcess]:
        """One that is free, for one piece of work. It is killed where the block raises, takes too long or is cancelled:
        its next reply would answer this question.

        Raises:
            TimeoutError: the block took longer than `seconds`.
        """
        async with self._free:
            if not self._idle and self._warming.locked():
                async with self._warming:
                    pass  # the one that is starting will be there sooner than another
            worker = self._idle.pop() if self._idle else await WorkProcess.started(self._command)
            sound = False
            try:
                async with asyncio.timeout(seconds):
                    yield worker
                sound = True
            finally:
                if sound:
                    self._idle.append(worker)
                else:
                    await worker.kill()

    @property
    def is_warm(self) -> bool:
        """Whether a process waits for work."""
        return bool(self._idle)

    async def warm(self) -> None:
        """Starts a process for work that will come, unless one is there or all are at work.

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
    """Isolated from the working folder and the user's packages; the project is found where this very code was."""
    root = str(Path(ingest.__file__).parent.parent)
    start = f"import sys; sys.path.append({root!r}); sys.argv[1:] = [{str(memory)!r}]; "
    return (sys.executable, "-I", "-c", f"{start}from {module} import main; main()")
