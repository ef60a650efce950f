"""Parses files in processes of their own, which may hang, crash or run out of memory without harm to anything else.

The processes start when they are needed (0.4 s), stay for the next file, and are replaced when one had to be killed. They
import no model: some 60 MB each.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

import ingest
from ingest.errors import PageError
from ingest.parsers.page import ParsedPage
from ingest.parsers.wire import LENGTH_BYTES, REPLY, Broken, Parsed, Refused, Task, frame

logger = logging.getLogger(__name__)

SECONDS = 30.0
"""For one file. The 872 pages of the largest document that we met take 1.5 s."""
MEMORY_BYTES = 2 << 30
"""Address space of a process, of which 0.5 GB are mapped, not used, once every converter is loaded."""
_START_S = 60.0
"""A process starts within a second; on a machine that swaps it may take long."""
_MAX_REPLY = 200_000_000
"""Bytes. More text than that is no page."""
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""All that a process learns of our environment, which holds tokens."""
_FEW_THREADS = {"MALLOC_ARENA_MAX": "2", "RAYON_NUM_THREADS": "1", "TOKIO_WORKER_THREADS": "1"}
"""A process reads one file at a time; each thread that a converter starts would map 64 MB of its address space."""
_COMMAND = (sys.executable, "-I", "-c")


class ReaderPool:
    """At most `workers` files at a time; more of them wait. One event loop only.

    `worker`: the module whose `main` a process runs.
    """

    def __init__(
        self,
        *,
        workers: int = 2,
        seconds: float = SECONDS,
        memory_bytes: int = MEMORY_BYTES,
        worker: str = "ingest.parsers.worker",
    ) -> None:
        self._free = asyncio.Semaphore(workers)
        self._seconds = seconds
        self._command = _command(worker, memory_bytes)
        self._idle: list[_Worker] = []

    async def read(self, content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
        """As `Reader.read`. Parsing for longer than the limit, or a crash, is a `PageError` too."""
        async with self._free:
            worker = self._idle.pop() if self._idle else await _Worker.started(self._command)
            sound = False
            try:
                async with asyncio.timeout(self._seconds):
                    reply = await worker.ask(Task(path=path, media_type=media_type), content)
                sound = True
            except TimeoutError as error:
                logger.warning("reader.killed", extra={"path": path, "seconds": self._seconds})
                raise PageError(
                    f"reading it took longer than {self._seconds:.0f} s: it was given up"
                ) from error
            except _DiedError as error:
                logger.warning("reader.died", extra={"path": path, "cause": str(error)})
                raise PageError("it makes the program that reads it crash: save it again") from error
            finally:
                if sound:
                    self._idle.append(worker)
                else:  # also where we were cancelled: its next reply would answer this question
                    await worker.kill()
        return _page(reply, path)

    async def close(self) -> None:
        """Ends the processes. The pool may be used again."""
        while self._idle:
            await self._idle.pop().kill()


class _DiedError(Exception):
    """The process is gone, or says what no worker of ours says."""


class _Worker:
    def __init__(self, process: Process) -> None:
        self._process = process

    @classmethod
    async def started(cls, command: Sequence[str]) -> _Worker:
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | _FEW_THREADS
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=asyncio.subprocess.DEVNULL, env=environment
        )
        worker = cls(process)
        try:
            async with asyncio.timeout(_START_S):
                await worker._frame()
        except BaseException:
            await worker.kill()
            raise
        return worker

    async def ask(self, task: Task, content: bytes) -> Parsed | Refused | Broken:
        """
        Raises:
            _DiedError: the process died over it.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(frame(task.model_dump_json().encode()) + frame(content))
            await self._process.stdin.drain()
            return REPLY.validate_json(await self._frame())
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            raise _DiedError(f"exit code {self._process.returncode}") from error
        except ValidationError as error:
            raise _DiedError("its reply is none") from error

    async def _frame(self) -> bytes:
        assert self._process.stdout is not None
        length = int.from_bytes(await self._process.stdout.readexactly(LENGTH_BYTES))
        if length > _MAX_REPLY:
            raise _DiedError(f"its reply is {length} bytes long")
        return await self._process.stdout.readexactly(length)

    async def kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


def _command(module: str, memory: int) -> tuple[str, ...]:
    """Isolated from the working folder and the user's packages; the project is found where this very code was."""
    root = str(Path(ingest.__file__).parent.parent)
    start = f"import sys; sys.path.append({root!r}); sys.argv[1:] = [{str(memory)!r}]; "
    return (*_COMMAND, f"{start}from {module} import main; main()")


def _page(reply: Parsed | Refused | Broken, path: str) -> ParsedPage:
    match reply:
        case Parsed():
            return reply.page
        case Refused():
            raise PageError(reply.reason, withdraw=reply.withdraw, left_out=reply.left_out)
        case Broken():
            logger.error(
                "page.parser_failed", extra={"path": path, "error": reply.error, "where": list(reply.where)}
            )
            raise PageError("it broke the parser; the log says where")
