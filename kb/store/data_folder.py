"""The data folder and its one owner.

Qdrant Edge and Valkey belong to one process. The owner holds an advisory lock (`flock`) for as long as it lives: the
kernel lets it go with the process, so a lock after `kill -9` is never stale. `owner.json` beside it tells other
commands where to talk to the owner.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from kb.errors import DataFolderInUseError, SettingsError
from kb.store.private_files import is_ours, keep_private, open_to_others, umask
from kb.store.restored import abandon, finish
from kb.store.sockets import make_private, socket_path

logger = logging.getLogger(__name__)

LOCK_ATTEMPTS = 6
LOCK_PAUSE_S = 0.05
"""A command that asks who owns the folder holds a shared lock for an instant, which must not look like an owner."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    pid: int
    command: str
    socket: Path
    playground: str | None = None


class DataFolder:
    """One knowledge base on disk: its index, conversations and sources.

    As a context manager it is owned: `with DataFolder(path).own("serve"):` raises `DataFolderInUseError` when another
    living process owns it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().resolve()
        self._lock: IO[str] | None = None
        self.exposed = ""
        """Why others may read what is in the folder, and what to do about it; empty: they may not. Known to its owner.
        """

    @property
    def index(self) -> Path:
        return self.path / "index"

    @property
    def valkey(self) -> Path:
        return self.path / "valkey"

    @property
    def sources_file(self) -> Path:
        return self.path / "sources.json"

    @property
    def socket(self) -> Path:
        """Its folder is made private by the owner; see `own`."""
        return socket_path(self.path, "footnote.sock")

    def own(self, command: str) -> Self:
        """Takes the folder, creating it where it is missing, and makes it private (0700): it holds conversations.

        Raises:
            DataFolderInUseError: another process owns it; `owner()` tells which.
            SettingsError: the folder cannot be made or written.
        """
        umask.set()
        try:
            ours = is_ours(self.path)
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = (self.path / "lock").open("a+", encoding="utf-8")
        except OSError as error:
            umask.reset()
            raise SettingsError(
                f"the data folder {self.path} cannot be used ({error.strerror}); choose another with --data"
            ) from error
        if not _lock_exclusively(lock):
            lock.close()
            umask.reset()
            owner = self.owner()
            who = f"`footnote {owner.command}` (pid {owner.pid})" if owner else "another process"
            raise DataFolderInUseError(
                f"the data folder {self.path} belongs to {who}; stop it, or name another folder with --data"
            )
        self._lock = lock
        try:
            finish(self.path)
            abandon(self.path)
            make_private(self.socket.parent, itself=self.path)
        except OSError as error:
            self.release()
            raise SettingsError(
                f"a restore into {self.path} cannot be completed ({error.strerror})"
            ) from error
        except SettingsError:
            self.release()
            raise
        self._write_owner(command)
        self.exposed = self._made_private(ours=ours)
        if self.exposed:
            logger.warning("data_folder.exposed", extra={"cause": self.exposed})
        return self

    def _made_private(self, *, ours: bool) -> str:
        if not ours:
            if not open_to_others(self.path):
                return ""
            return (
                f"{self.path} holds other things than Footnote's and is open to others: name a folder of "
                f"its own with --data"
            )
        left = keep_private(self.path)
        if not left:
            return ""
        return (
            f"{left[0]} belongs to another user and others may read it: give it to this one (chown -R "
            f"{os.getuid()} {self.path})"
        )

    def announce(self, command: str, *, playground: str | None = None) -> None:
        """Tells other commands what the owner has become, e.g. where its playground is."""
        self._write_owner(command, playground=playground)

    def owner(self) -> Owner | None:
        """Returns the process that owns the folder now; None when nobody does, whatever the files say."""
        if not self._is_locked():
            return None
        try:
            owner = json.loads((self.path / "owner.json").read_text(encoding="utf-8"))
            return Owner(
                pid=owner["pid"],
                command=owner["command"],
                socket=Path(owner["socket"]),
                playground=owner.get("playground"),
            )
        except (OSError, ValueError, KeyError):
            return None  # the owner has the lock and is about to write the file

    def release(self) -> None:
        if self._lock is not None:
            (self.path / "owner.json").unlink(missing_ok=True)
            self._lock.close()
            self._lock = None
            umask.reset()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _write_owner(self, command: str, *, playground: str | None = None) -> None:
        owner = {
            "pid": os.getpid(),
            "command": command,
            "socket": str(self.socket),
            "playground": playground,
        }
        draft = self.path / "owner.json.new"
        draft.write_text(json.dumps(owner), encoding="utf-8")
        draft.replace(self.path / "owner.json")

    def _is_locked(self) -> bool:
        if self._lock is not None:
            return True
        try:
            with (self.path / "lock").open("r", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False


def _lock_exclusively(lock: IO[str]) -> bool:
    for attempt in range(LOCK_ATTEMPTS):
        if attempt:
            time.sleep(LOCK_PAUSE_S)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        return True
    return False
