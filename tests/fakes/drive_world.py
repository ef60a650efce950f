"""Google Drive as a place for the contract of sources: a folder of somebody's My Drive, or a shared drive."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingest.sources.google_drive.source import GoogleDriveSource
from ingest.sources.port import Source
from kb.config.sources import GoogleDriveSettings
from tests.fakes.drive_state import ACCOUNT, domain, user
from tests.fakes.google_drive import Drive


async def no_sleep(seconds: float) -> None:
    await asyncio.sleep(0)


class DriveWorld:
    """`shared`: in a shared drive, of which the account is a member; all that it sees is read."""

    def __init__(
        self, drive: Drive, name: str, texts: Mapping[str, str], kept: Path, *, shared: bool
    ) -> None:
        self._drive, self._name, self.kept = drive, name, kept
        self._minute = 0
        if shared:
            self._top = drive.shared_drive("Handbook", domain("acme.com"))
            self._folders: tuple[str, ...] = ()
        else:
            editor, owner = user(ACCOUNT, "writer"), user("dana@acme.com", "owner")
            self._top = drive.folder("Handbook", grants=[owner, editor, domain("acme.com")])
            self._folders = (self._top,)
        inner = drive.folder("Leave", parent=self._top)
        self._ids = {
            key: drive.put(f"Page {key}.md", parent=inner, content=f"# Page {key}\n\n{text}\n".encode())
            for key, text in texts.items()
        }
        self.paths = {key: f"{self._top}/{file_id}" for key, file_id in self._ids.items()}

    def source(self, **settings: Any) -> Source:
        chosen = {
            "key": self._drive.key(),
            "folders": self._folders,
            "readers": {"acme.com": ("everyone",)},
            "api_url": self._drive.url,
            **settings,
        }
        made = GoogleDriveSettings.model_validate({"kind": "google_drive", "name": self._name, **chosen})
        return GoogleDriveSource(made, self.kept, sleep=no_sleep)

    def edit(self, key: str, text: str) -> None:
        self._minute += 1
        self._drive.change(
            self._ids[key],
            content=f"# Page {key}\n\n{text}\n".encode(),
            modified=f"2026-04-01T10:{self._minute:02}:00.000Z",
        )

    def remove(self, key: str) -> None:
        self._drive.change(self._ids[key], trashed=True)

    def break_down(self) -> None:
        self._drive.down = True

    def break_page(self, key: str) -> bool:
        self.edit(key, "Another text.")
        self._drive.broken.add(self._ids[key])
        return True

    def limit(self, key: str) -> bool:
        """By a move to where it is not shared with everybody."""
        board = self._drive.folder("Board", parent=self._top, limited=True)
        self._drive.change(self._ids[key], parent=board)
        return True

    def slow_down(self) -> bool:
        self._drive.fail("/drive/v3/", 403, "userRateLimitExceeded", "User Rate Limit Exceeded.")
        return True
