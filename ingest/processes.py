"""Processes of our own for work that may hang, crash, take long or run out of memory without harm to anything else.

They start when they are needed (0.4 s), stay for the next piece of work, and are replaced
when one had to be killed. What goes between them and us are frames: a length and its bytes.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO

import ingest

LENGTH_BYTES = 8
"""Bytes of the unsigned big-endian number before each frame."""
MEMORY_BYTES = 2 << 30
"""Address space of a process, of which 0.5 GB are mapped, not used, once every converter is loaded."""
GIVES_WAY = 5
"""Niceness: a quarter of a processor that a question wants, all of one that is free."""
_START_S = 60.0
"""A process starts within a second; on a machine that swaps it may take long."""
_MAX_FRAME = 200_000_000
"""Bytes. More text than that is no page."""
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""All that a process learns of our environment, which holds tokens."""
_FEW_THREADS = {
    "MALLOC_ARENA_MAX": "2",
    "RAYON_NUM_THREADS": "1",
    "TOKIO_WORKER_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""A process does one thing at a time; each thread that a library starts would map 64 MB of its address space."""


class DiedError(Exception):
    """The process is gone, or says what no process of ours says."""


class WorkProcess:
    """One process, as this one talks to it. Every method raises `DiedError` when it died meanwhile."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @classmethod
    async def started(cls, command: Sequence[str]) -> WorkProcess:
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | _FEW_THREADS
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
            for one in frames:
                self._process.stdin.write(frame(one))
                await self._process.stdin.drain()
        except ConnectionError as error:
            raise DiedError(f"exit code {self._process.returncode}") from error

    async def receive(self) -> bytes:
        """The next frame. The event loop has its turn between two of them."""
        assert self._process.stdout is not None
        await asyncio.sleep(0)
        try:
            length = int.from_bytes(await self._process.stdout.readexactly(LENGTH_BYTES))
            if length > _MAX_FRAME:
                raise DiedError(f"its reply is {length} bytes long")
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

    async def warm(self) -> None:
        """Starts a process for work that will come, unless one is there or all are at work.

        Raises:
            DiedError, TimeoutError, OSError: it does not start.
        """
        if not self._idle and not self._free.locked():
            async with self._free:
                self._idle.append(await WorkProcess.started(self._command))

    async def close(self) -> None:
        """Ends the processes. The pool may be used again."""
        while self._idle:
            await self._idle.pop().kill()


def frame(content: bytes) -> bytes:
    return len(content).to_bytes(LENGTH_BYTES) + content


def read_frame(stream: BinaryIO) -> bytes | None:
    """None at the end of the stream."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    length = int.from_bytes(head)
    content = stream.read(length)
    return content if len(content) == length else None


def begin() -> tuple[BinaryIO, BinaryIO]:
    """In the process itself: its bounds, then where requests come from and where replies go."""
    requests, replies = sys.stdin.buffer, _own_output()
    os.nice(GIVES_WAY)
    _limit(int(sys.argv[1]))
    replies.write(frame(b"ready"))
    replies.flush()
    return requests, replies


def _own_output() -> BinaryIO:
    """The pipe to the pool, for us alone: what a converter prints must not end up between two replies."""
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return replies


def _limit(memory: int) -> None:
    """Address space, files that could be written (none), core dumps
    (none). A system that does not know one goes without.
    """
    for kind, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(kind, (limit, limit))
        except (ValueError, OSError):
            continue


def _command(module: str, memory: int) -> tuple[str, ...]:
    """Isolated from the working folder and the user's packages; the project is found where this very code was."""
    root = str(Path(ingest.__file__).parent.parent)
    start = f"import sys; sys.path.append({root!r}); sys.argv[1:] = [{str(memory)!r}]; "
    return (sys.executable, "-I", "-c", f"{start}from {module} import main; main()")
