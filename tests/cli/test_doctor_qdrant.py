"""What doctor and a command's terminal are told of a Qdrant server's key."""

from __future__ import annotations

import warnings
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.cli.doctor import qdrant_checks
from bot.cli.stores import open_index
from kb.data_folder import DataFolder
from kb.settings import IndexSettings, Settings


@pytest.mark.parametrize(
    ("url", "key", "warned"),
    [
        ("http://qdrant.example:6333", "secret-key", True),
        ("http://10.0.0.7:6333", "secret-key", True),
        ("https://qdrant.example:6333", "secret-key", False),
        ("http://localhost:6333", "secret-key", False),
        ("http://qdrant.example:6333", None, False),
        (None, "secret-key", False),
    ],
)
async def test_a_key_that_travels_unencrypted_is_told_by_doctor_alone(
    tmp_path: Path, url: str | None, key: str | None, warned: bool
) -> None:
    index = IndexSettings(qdrant_url=url, qdrant_api_key=SecretStr(key) if key else None)
    assert [check.state for check in qdrant_checks(index)] == (["warning"] if warned else [])
    assert "secret-key" not in str(qdrant_checks(index))
    async with AsyncExitStack() as stack:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            open_index(Settings(data=tmp_path, index=index), DataFolder(tmp_path), stack)
