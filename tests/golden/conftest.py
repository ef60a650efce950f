"""What golden tests share: one data folder, in which the passages of a data set are embedded once."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def evaluations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("evaluations")
