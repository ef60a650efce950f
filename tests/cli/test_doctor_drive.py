"""What `footnote doctor` says of sources on Google Drive."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.cli.checks.check import Check
from bot.cli.checks.sources import source_checks
from kb.config.settings import Settings
from tests.fakes.drive_state import ACCOUNT, domain, group, user
from tests.fakes.google_drive import Drive


@pytest.fixture
async def drive() -> AsyncIterator[Drive]:
    async with Drive() as server:
        yield server


async def checked(drive: Drive, tmp_path: Path, **changes: Any) -> dict[str, Check]:
    source = {"kind": "google_drive", "name": "drive", "key": drive.key(), "api_url": drive.url}
    settings = Settings.model_validate({"data": tmp_path, "sources": [source | changes]})
    return {check.name: check for check in await source_checks(settings)}


async def test_each_shared_drive_says_for_whom_it_is_and_a_closed_one_whom_to_name(
    drive: Drive, tmp_path: Path
) -> None:
    drive.shared_drive("Handbook", domain("acme.com"))
    drive.shared_drive("Board", group("board@acme.com"))
    found = await checked(drive, tmp_path, readers={"acme.com": ["everyone"]})

    assert found["source drive, Handbook"] == Check(
        name="source drive, Handbook", state="ok", told="for everyone"
    )
    board = found["source drive, Board"]
    assert board.state == "warning"
    assert "board@acme.com" in board.told
    assert "`readers`" in board.mend


async def test_a_folder_that_is_not_shared_and_a_key_that_is_not_accepted_are_broken(
    drive: Drive, tmp_path: Path
) -> None:
    hidden, seen = drive.folder("Hidden"), drive.folder("Seen", grants=[user(ACCOUNT, "writer")])
    found = await checked(drive, tmp_path, folders=[hidden, seen])
    assert {check.state for check in found.values()} == {"broken", "warning"}
    assert ACCOUNT in found[f"source drive, {hidden}"].told + found[f"source drive, {hidden}"].mend

    drive.key_is_valid = False
    (only,) = (await checked(drive, tmp_path)).values()
    assert (only.state, "key was deleted" in only.mend) == ("broken", True)


async def test_a_doctor_does_not_wait_for_a_limit_of_the_rate(drive: Drive, tmp_path: Path) -> None:
    for _ in range(6):
        drive.fail("/drives", 403, "userRateLimitExceeded")
    (only,) = (await checked(drive, tmp_path)).values()
    assert (only.state, "limits the rate" in only.told) == ("broken", True)
