"""`footnote` without its start: forks of one process that has every module of it imported and the usual
embedder loaded, which is most of what a command takes. The workers of a test run share that process.

    launch("serve", folder=..., variables=..., out=...)    one command, beside others, to its end or to its `kill`
    WarmCommand().run("ask", ...)                          one command, to its end

What only the installed program shows (what it imports, that it starts) is tested with the program itself.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import select
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from kb.config.model_settings import EmbedSettings
from kb.inference import embedding_model
from kb.inference.encoders import Encoder
from kb.inference.onnx.converted import Weights
from kb.text.language import warm_up
from tests.fakes.serving import environment

ROOT = Path(__file__).parents[2]
WARM_S = 240.0
LARGEST = 1 << 20
"""Bytes of a `Call`."""


class WarmProcess:
    """A command that runs, with what of `subprocess.Popen` is used. It dies with whoever started it."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self.pid: int = self._told(WARM_S)["pid"]
        self.returncode: int | None = None

    def poll(self) -> int | None:
        with contextlib.suppress(TimeoutError):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Returns its exit code (negative: ended by that signal).

        Raises:
            TimeoutError: it did not end within `timeout` seconds.
        """
        if self.returncode is None:
            self.returncode = self._told(timeout, socket.MSG_PEEK)["code"]  # others may wait as well
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _told(self, timeout: float | None, flags: int = 0) -> dict[str, int]:
        ready, _, _ = select.select([self._server], [], [], timeout)
        if not ready:
            raise TimeoutError(f"not ended after {timeout} s")
        said = self._server.recv(100, flags)
        assert said, "the process that runs commands has ended"
        return dict(json.loads(said))

    def __del__(self) -> None:
        self._server.close()


class WarmCommand:
    """Runs one command at a time."""

    def __init__(self, folder: Path) -> None:
        self._out, self._err = folder / "out", folder / "err"

    def run(
        self, arguments: Sequence[str], *, folder: Path, variables: Mapping[str, str], timeout: float
    ) -> tuple[int, str, str]:
        """Exit code (negative: ended by that signal), standard output and standard error.

        Raises:
            TimeoutError: it did not end within `timeout` seconds, and was killed.
        """
        for file in (self._out, self._err):
            file.unlink(missing_ok=True)
        process = launch(*arguments, folder=folder, variables=variables, out=self._out, err=self._err)
        try:
            code = process.wait(timeout)
        except BaseException:  # of pytest's own timeout as well
            process.kill()
            raise
        return code, self._out.read_text(encoding="utf-8"), self._err.read_text(encoding="utf-8")


def launch(
    *arguments: str | Path, folder: Path, variables: Mapping[str, str], out: Path, err: Path | None = None
) -> WarmProcess:
    """Starts `footnote` with these arguments in `folder`. Without `err` both outputs are appended to `out`."""
    call = {"arguments": [*map(str, arguments)], "folder": str(folder), "variables": dict(variables)}
    server = _connected()
    files = [os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) for name in (out, err or out)]
    try:
        socket.send_fds(server, [json.dumps(call).encode()], files)
    finally:
        for file in files:
            os.close(file)
    return WarmProcess(server)


_presence: list[socket.socket] = []
"""The connection that keeps the process for this worker: it ends when nobody is connected."""
atexit.register(lambda: [connection.close() for connection in _presence])


def _connected() -> socket.socket:
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    folder = Path(tempfile.gettempdir()) / f"footnote-warm-{run}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _presence or not _is_open(_presence[0]):
            _presence[:] = [_greeted(folder / "socket") or _started(folder / "socket")]
    connection = _greeted(folder / "socket")
    assert connection is not None, "the process that runs commands has ended"
    return connection


def _is_open(connection: socket.socket) -> bool:
    ready, _, _ = select.select([connection], [], [], 0)
    return not ready


def _started(where: Path) -> socket.socket:
    where.unlink(missing_ok=True)
    command = [sys.executable, "-m", "tests.fakes.warm_command", where]
    subprocess.run(command, cwd=ROOT, env=environment(COLUMNS="300"), timeout=WARM_S, check=True)
    connection = _greeted(where)
    assert connection is not None
    return connection


def _greeted(where: Path) -> socket.socket | None:
    """None: nobody listens there, or no longer."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with contextlib.suppress(OSError):
        connection.connect(str(where))
        if connection.recv(1):
            return connection
    connection.close()
    return None


def serve(where: Path) -> None:
    """Returns when it can be asked; a fork goes on and answers until nobody is connected any more."""
    for module in pkgutil.walk_packages(importlib.import_module("bot.cli").__path__, "bot.cli."):
        importlib.import_module(module.name)
    _keep_the_usual_embedder()
    warm_up()
    gc.freeze()  # a fork's collector need not copy what is shared
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(where))
    listener.listen(64)
    if os.fork() == 0:
        os.setsid()
        _replace_files(*[os.open(os.devnull, os.O_RDWR)] * 3)
        Server(listener).run()
        shutil.rmtree(where.parent, ignore_errors=True)
        os._exit(0)


def _keep_the_usual_embedder() -> None:
    """Forks begin with its models loaded: to read their files takes a command more than a second of the processor."""
    usual = EmbedSettings()
    load = embedding_model.load_encoder
    kept = {name: load(name, usual, like=None) for name in usual.models}

    def kept_or_loaded(name: str, settings: EmbedSettings, *, like: Weights | None) -> Encoder:
        encoder = kept.get(name)
        if encoder is not None and settings == usual and like in (None, encoder.weights):
            return encoder
        return load(name, settings, like=like)

    embedding_model.load_encoder = kept_or_loaded


@dataclass(frozen=True, kw_only=True, slots=True)
class Running:
    pid: int
    connection: socket.socket


class Server:
    """One connection a command: the call with its files comes in, its pid goes out, and its exit code."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._ready = selectors.DefaultSelector()
        self._ready.register(listener, selectors.EVENT_READ)
        self._clients: dict[socket.socket, int | None] = {}
        """Connection -> the command that runs for it, by its pidfd."""

    def run(self) -> None:
        self._take_in()
        while self._clients:
            for key, _ in self._ready.select():
                if key.fileobj is self._listener:
                    self._take_in()
                elif isinstance(key.data, Running):
                    self._ended(key.fd, key.data)
                elif key.fileobj in self._clients:
                    self._heard(key.fileobj)  # type: ignore[arg-type]

    def _take_in(self) -> None:
        connection, _ = self._listener.accept()
        with contextlib.suppress(OSError):
            connection.send(b"+")
        self._clients[connection] = None
        self._ready.register(connection, selectors.EVENT_READ)

    def _heard(self, connection: socket.socket) -> None:
        try:
            said, files, _, _ = socket.recv_fds(connection, LARGEST, 2)
        except OSError:
            said, files = b"", []
        if not said:
            self._left(connection)
            return
        pid = os.fork()
        if pid == 0:
            self._close()
            command(json.loads(said), *files)
        for file in files:
            os.close(file)
        ended = self._clients[connection] = os.pidfd_open(pid)
        self._ready.register(ended, selectors.EVENT_READ, Running(pid=pid, connection=connection))
        with contextlib.suppress(OSError):
            connection.send(json.dumps({"pid": pid}).encode())

    def _ended(self, ended: int, running: Running) -> None:
        code = os.waitstatus_to_exitcode(os.waitpid(running.pid, 0)[1])
        self._ready.unregister(ended)
        os.close(ended)
        if running.connection in self._clients:
            self._clients[running.connection] = None
            with contextlib.suppress(OSError):
                running.connection.send(json.dumps({"code": code}).encode())

    def _left(self, connection: socket.socket) -> None:
        ended = self._clients.pop(connection)
        if ended is not None:
            signal.pidfd_send_signal(ended, signal.SIGKILL)
        self._ready.unregister(connection)
        connection.close()

    def _close(self) -> None:
        """In a fork, which would keep connections open."""
        for key in list(self._ready.get_map().values()):
            os.close(key.fd)
        self._ready.close()


def _replace_files(stdin: int, stdout: int, stderr: int) -> None:
    for number, file in enumerate((stdin, stdout, stderr)):
        os.dup2(file, number)
    for file in {stdin, stdout, stderr} - {0, 1, 2}:
        os.close(file)


def command(call: dict[str, Any], out: int, err: int) -> NoReturn:
    """In the fork, whose interpreter then ends as that of any command: with its `atexit`, its warnings and its code."""
    _replace_files(os.open(os.devnull, os.O_RDONLY), out, err)
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["variables"])
    sys.argv = ["footnote", *call["arguments"]]
    sys.modules["__main__"].__package__ = None  # or the usage would be told of `python -m` something
    sys.exit(importlib.import_module("bot.cli").main())


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
