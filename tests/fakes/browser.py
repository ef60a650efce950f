"""A real Chromium, started once and used by many tests."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from tests.fakes.waiting import until

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NO_CHROMIUM = "no Chromium on this machine (apt-get install chromium)"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def need_chromium() -> Any:
    """Playwright's API; the test is skipped where that or the browser is missing."""
    if CHROMIUM is None:
        pytest.skip(NO_CHROMIUM)
    return pytest.importorskip("playwright.async_api", reason="playwright is not installed")


class Windows:
    """Windows of one browser, each without any memory of those before it.

    What a window that was closed had to itself is used again, emptied: made anew it takes a second more of the processor.
    """

    def __init__(self, browser: Any, **options: Any) -> None:
        self._browser = browser
        self._options = options
        self._left: list[Any] = []

    @asynccontextmanager
    async def window(self) -> AsyncIterator[Any]:
        context = self._left.pop() if self._left else await self._browser.new_context(**self._options)
        page = await context.new_page()
        is_empty = False
        try:
            yield page
            with suppress(need_chromium().Error):  # it shows something else than a website
                await page.evaluate("localStorage.clear()")
                is_empty = True
        finally:
            if not is_empty:
                await context.close()
        if is_empty:
            for one in context.pages:
                await one.close()
            self._left.append(context)


@asynccontextmanager
async def a_chromium() -> AsyncIterator[Any]:
    api = need_chromium()
    async with api.async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


async def until_true(page: Any, expression: str, argument: object = None) -> None:
    """Waits until JavaScript is true: `page.wait_for_function` evaluates it in the page's frames, which its policy forbids.

    Raises:
        TimeoutError: it still is not after 45 s.
    """
    await until(lambda: page.evaluate(expression, argument), seconds=45, pause=0.02)
