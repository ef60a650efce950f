"""One real `footnote playground` for all journeys, a real Chromium, and the people who sit at it."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.fakes.browser import Windows, a_chromium, need_chromium
from tests.fakes.warm_command import WarmProcess, launch
from tests.journeys.colleague import Colleague

CONFIGURED = ("FOOTNOTE_", "ANTHROPIC_", "OLLAMA_", "QDRANT_", "REDIS_", "SLACK_")
"""What these name would make it another bot than the one that starts without any set-up."""
READY_S = 240
"""Starting takes 15 s on a free machine and has been seen to take 60 s on a busy one."""
VIEW = {"width": 1280, "height": 860}
PICTURES = Path(__file__).parents[2] / "docs" / "images"

SitDown = Callable[..., Awaitable[Colleague]]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunningPlayground:
    url: str
    handbook: Path


@pytest.fixture(scope="session")
def footnote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPlayground]:
    """The bot with its own copy of the sample handbook, so that a journey can change pages."""
    need_chromium()  # before the bot is started for nothing
    home = tmp_path_factory.mktemp("journeys")
    with as_file(files("ingest") / "sample" / "handbook") as sample:
        shutil.copytree(sample, home / "handbook")
    log = home / "output"
    with started(home, log) as url:
        yield RunningPlayground(url=url, handbook=home / "handbook")


@contextmanager
def started(home: Path, log: Path, **variables: str) -> Iterator[str]:
    """A `footnote playground` over `home/handbook`, by its address. In the end it must have logged no error."""
    process = _start(home, log, variables)
    try:
        yield _address(process, log)
    finally:
        process.terminate()
        try:
            ended = process.wait(timeout=60)
        except TimeoutError:
            process.kill()
            ended = process.wait()
    said = log.read_text(encoding="utf-8")
    assert ended == 0, said
    assert "Traceback" not in said, said
    assert " ERROR " not in said, said


def _start(home: Path, log: Path, variables: dict[str, str]) -> WarmProcess:
    options = ["--port", "0", "--no-browser", "--data", str(home / "data")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(CONFIGURED)}
    return launch(
        *("playground", home / "handbook", *options),
        folder=home,
        variables=environment | variables | {"COLUMNS": "200"},  # an address is not broken into two lines
        out=log,
    )


def _address(process: WarmProcess, log: Path) -> str:
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        said = log.read_text(encoding="utf-8")
        found = re.search(r"Playground: (http://127\.0\.0\.1:\d+/)", said)
        if found:
            return found[1]
        assert process.poll() is None, said
        time.sleep(0.05)
    raise AssertionError(f"not ready after {READY_S} s:\n{log.read_text(encoding='utf-8')}")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Any]:
    async with a_chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def windows(chromium: Any) -> Windows:
    return Windows(chromium, viewport=VIEW, color_scheme="light", locale="en-GB")


@pytest_asyncio.fixture(loop_scope="session")
async def sit_down(footnote: RunningPlayground, windows: Windows) -> AsyncIterator[SitDown]:
    """`await sit_down("alice", "general")`: somebody at a window of their own, without any memory of earlier ones."""
    seated: list[Colleague] = []
    async with AsyncExitStack() as stack:

        async def one(name: str, channel: str = "general") -> Colleague:
            page = await stack.enter_async_context(windows.window())
            colleague = Colleague(page, footnote.url, name)
            await colleague.sit_down(channel)
            seated.append(colleague)
            return colleague

        yield one
        for colleague in seated:
            await colleague.close_dialog()
        for colleague in seated:
            assert colleague.problems == [], colleague.name


@pytest.fixture
def picture() -> Callable[..., Awaitable[None]]:
    """Keeps what README shows, when FOOTNOTE_SCREENSHOTS=1; otherwise a test run changes no file."""

    async def keep(name: str, page: Any, *parts: Any) -> None:
        if os.environ.get("FOOTNOTE_SCREENSHOTS") != "1":
            return
        PICTURES.mkdir(parents=True, exist_ok=True)
        await page.mouse.move(0, 0)
        boxes = [box for box in [await part.bounding_box() for part in parts] if box]
        await page.screenshot(
            path=PICTURES / f"{name}.png",
            **({"clip": _around(boxes)} if boxes else {}),
            animations="disabled",
        )

    return keep


@pytest.fixture
def look() -> Callable[[str, Any], Awaitable[None]]:
    """Keeps what a journey comes to, for somebody to look at, in the folder that FOOTNOTE_PICTURES names."""

    async def keep(name: str, page: Any) -> None:
        if folder := os.environ.get("FOOTNOTE_PICTURES"):
            await page.screenshot(path=Path(folder) / f"{name}.png", animations="disabled")

    return keep


def _around(boxes: list[dict[str, float]]) -> dict[str, float]:
    left, top = max(0, min(box["x"] for box in boxes)), max(0, min(box["y"] for box in boxes))
    right = min(VIEW["width"], max(box["x"] + box["width"] for box in boxes))
    bottom = min(VIEW["height"], max(box["y"] + box["height"] for box in boxes))
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}
