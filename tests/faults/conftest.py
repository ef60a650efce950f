"""A file named `*_kills.py` is a series: it starts and kills processes for minutes (`make test-series`)."""

from __future__ import annotations

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.path.stem.endswith("_kills"):
        item.add_marker("series")
