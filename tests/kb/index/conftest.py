"""Indexes that count as large."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kb.index.embedded import quantizing
from kb.index.embedded.index import EdgeIndex
from tests.fakes.large_indexes import LARGE, MANIFEST


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantizing, "LARGE", LARGE * MANIFEST.dimension)


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EdgeIndex]:
    opened = EdgeIndex(tmp_path / "index", manifest=MANIFEST)
    yield opened
    await opened.close()
