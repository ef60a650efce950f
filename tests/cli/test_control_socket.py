"""Commands and a bot of different versions, which may know different calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.session import control
from bot.cli.session.control import control_socket
from bot.cli.session.remote import OwnerError, RemoteSession


async def test_a_bot_of_another_version_is_named_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    socket = tmp_path / "socket"
    monkeypatch.setattr(control, "CALLS", ())
    async with control_socket(RemoteSession(socket), socket):
        with pytest.raises(OwnerError, match="another version of Footnote: restart it"):
            await RemoteSession(socket).status()
