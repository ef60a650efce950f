"""A real Chromium, started once and used by many tests."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

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


@asynccontextmanager
async def a_chromium() -> AsyncIterator[Any]:
    api = need_chromium()
    async with api.async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()
