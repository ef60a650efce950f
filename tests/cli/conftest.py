"""The command line as a person uses it, in processes of its own, on a small folder of pages."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.cli.logs import ROOMS, EventFormatter, JsonFormatter
from tests.fakes.serving import START_S, environment
from tests.fakes.warm_command import WarmCommand, WarmProcess, launch

PAGES = {
    "leave.md": """---
title: Annual leave
date: 2020-02-03
last_reviewed_on: 2021-01-10
review_in: 6 months
---

Every employee gets 25 days of annual leave a year.

## Carry-over

Unused days of annual leave expire on 31 March of the following year.
""",
    "warranty.md": """---
title: Warranty on garden tools
date: 2020-05-01
---

The warranty on garden tools is five years from the day of purchase.
""",
}
COMMAND_S = 300.0
"""Of a command on a machine that has much else to do; most take three."""
HOLIDAY = "How many days of annual leave does an employee get?"
FOLLOW_UP = "and when do they expire?"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """A command that ran to its end."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ended]


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """A command that runs in the test's own process would log to a stream
    that is closed after it, in every later test.
    """
    yield
    root = logging.getLogger()
    for handler in root.handlers[:]:
        if isinstance(handler.formatter, EventFormatter | JsonFormatter):
            root.removeHandler(handler)
    root.setLevel(logging.WARNING)
    for name in (*ROOMS, "kb.runtime.loop_watch"):
        logging.getLogger(name).setLevel(logging.NOTSET)


@pytest.fixture(scope="session")
def footnote(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """`footnote("ask", "...", data=folder, QDRANT_URL="...")` in an empty folder, without a developer's settings."""
    home = tmp_path_factory.mktemp("home")
    command = WarmCommand(tmp_path_factory.mktemp("said"))

    def run(*arguments: str | Path, data: Path | None = None, **variables: str) -> Ended:
        where = ["--data", str(data)] if data else []
        code, out, err = command.run(
            [*map(str, arguments), *where],
            folder=home,
            variables=environment(COLUMNS="300", **variables),
            timeout=COMMAND_S,
        )
        return Ended(code=code, out=out, err=err)

    return run


@dataclass(frozen=True, kw_only=True, slots=True)
class Bot:
    """A running `footnote playground` on PAGES."""

    data: Path
    pages: Path
    url: str
    process: WarmProcess

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bot]:
    home = tmp_path_factory.mktemp("bot")
    pages, data, log = home / "pages", home / "data", home / "log"
    write(pages, PAGES)
    process = launch(
        *("playground", pages, "--port", "0", "--no-browser", "--data", data),
        folder=home,
        variables=environment(COLUMNS="300"),
        out=log,
    )
    try:
        yield Bot(data=data, pages=pages, url=_address(process, log), process=process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=60) == 0, log.read_text(encoding="utf-8")


def write(folder: Path, pages: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        (folder / name).write_bytes(os.fsencode(text))


def _address(process: WarmProcess, log: Path) -> str:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        said = log.read_text(encoding="utf-8")
        if found := re.search(r"Playground: (http://127\.0\.0\.1:\d+/)", said):
            return found[1]
        assert process.poll() is None, said
        time.sleep(0.05)
    raise AssertionError(f"not ready after {START_S} s:\n{log.read_text(encoding='utf-8')}")
