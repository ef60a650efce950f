"""`footnote` in a process of its own that begins with every module of it imported
and the usual embedder loaded, which is most of what a command takes.

    warm_command.py    a line of JSON in: a `Call`; a line out: its exit code. Each call runs in a fork.

What only the installed program shows (what it imports, that it starts) is tested with the program itself.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
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


class WarmCommand:
    """Runs one command at a time. `close` ends the process that waits for them, and the command that it runs."""

    def __init__(self, folder: Path) -> None:
        self._out, self._err = folder / "out", folder / "err"
        self._server: subprocess.Popen[str] | None = None

    def run(
        self, arguments: Sequence[str], *, folder: Path, variables: Mapping[str, str], timeout: float
    ) -> tuple[int, str, str]:
        """Exit code (negative: ended by that signal), standard output and standard error.

        Raises:
            TimeoutError: it did not end within `timeout` seconds, and was killed.
        """
        call = {"arguments": list(arguments), "folder": str(folder), "variables": dict(variables)}
        call |= {"out": str(self._out), "err": str(self._err)}
        try:
            server = self._started()
            assert server.stdin is not None
            server.stdin.write(json.dumps(call) + "\n")
            server.stdin.flush()
            code = _told(server, timeout)
        except BaseException:  # of pytest's own timeout as well: the next command gets a new process
            self.close()
            raise
        return code, self._out.read_text(encoding="utf-8"), self._err.read_text(encoding="utf-8")

    def _started(self) -> subprocess.Popen[str]:
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, "-m", "tests.fakes.warm_command"],
                cwd=ROOT,
                env=environment(COLUMNS="300"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            _told(self._server, WARM_S)
        return self._server

    def close(self) -> None:
        if self._server is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._server.pid, signal.SIGKILL)
            self._server.communicate()
            self._server = None


def _told(server: subprocess.Popen[str], timeout: float) -> int:
    assert server.stdout is not None
    ready, _, _ = select.select([server.stdout], [], [], timeout)
    if not ready:
        raise TimeoutError(f"not ended after {timeout} s")
    line = server.stdout.readline()
    assert line, "the process that runs commands has ended"
    return int(json.loads(line))


def serve() -> None:
    for module in pkgutil.walk_packages(importlib.import_module("bot.cli").__path__, "bot.cli."):
        importlib.import_module(module.name)
    _keep_the_usual_embedder()
    warm_up()
    gc.freeze()  # a fork's collector need not copy what is shared
    print(0, flush=True)
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            command(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


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


def command(call: dict[str, Any]) -> NoReturn:
    """In the fork, whose interpreter then ends as that of any command: with its `atexit`, its warnings and its code."""
    for number, name in ((0, os.devnull), (1, call["out"]), (2, call["err"])):
        file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, number)
        os.close(file)
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["variables"])
    sys.argv = ["footnote", *call["arguments"]]
    sys.modules["__main__"].__package__ = None  # or the usage would be told of `python -m` something
    sys.exit(importlib.import_module("bot.cli").main())


if __name__ == "__main__":
    serve()
