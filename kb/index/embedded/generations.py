"""The generations of the embedded index on disk: `gen-N/` folders and a file CURRENT that names the live one.

Changing CURRENT is the commit of a rebuild: before it nobody sees the new generation, after it everybody does.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from pathlib import Path

from kb.errors import IndexDamagedError, IndexUnavailableError

_NAME = re.compile(r"gen-(\d+)")
MEND = "run `footnote reindex --full`"
_MAKING = "making-"
LEFT = "left.json"
"""File beside the points of a generation that is or was live; see `kb.index.embedded.soundness`."""
COPY = "copy.txt"
"""File beside the points of an unfinished copy: its label."""


class Generations:
    """Blocking file work; the caller keeps it off the event loop."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def current(self) -> int | None:
        """Returns the live generation's number; None where nothing was ever built.

        Raises:
            IndexDamagedError: it cannot be determined.
        """
        try:
            name = (self._folder / "CURRENT").read_text(encoding="utf-8", errors="replace").strip()
        except FileNotFoundError:
            if any(
                (path / LEFT).exists() and not (path / COPY).exists()
                for path in map(self.path, self.numbers())
            ):
                raise IndexDamagedError(
                    f"the index in {self._folder} is damaged (CURRENT is gone): {MEND}"
                ) from None
            return None
        except OSError as error:
            raise IndexUnavailableError(f"{self._folder} cannot be read: {error}") from error
        match = _NAME.fullmatch(name)
        if match is None:
            raise IndexDamagedError(
                f"the index in {self._folder} is damaged (CURRENT names no generation): {MEND}"
            )
        return int(match[1])

    def previous(self) -> int | None:
        """Returns the number of the newest generation before the live one; None where there is none."""
        live = self.current() or 0
        return max((number for number in self.numbers() if number < live), default=None)

    def path(self, number: int) -> Path:
        return self._folder / f"gen-{number}"

    def reserve(self) -> int:
        """Makes the folder of a new generation and returns its number."""
        self._folder.mkdir(parents=True, exist_ok=True)
        number = max(self.numbers(), default=0) + 1
        self.path(number).mkdir()
        return number

    def place_to_make(self) -> Path:
        """Returns a new path, not the name of a generation, for a folder that `take_in` takes."""
        return self._folder / f"{_MAKING}{secrets.token_hex(4)}"

    def take_in(self, made: Path) -> int:
        """Makes the folder a generation and returns its number."""
        number = max(self.numbers(), default=0) + 1
        made.rename(self.path(number))
        return number

    def copy_of(self, label: str) -> int | None:
        """Returns the number of the unfinished copy of this label; None where there is none."""
        return next((number for number in self.numbers() if self.label(self.path(number)) == label), None)

    def label(self, path: Path) -> str:
        """Returns the label of an unfinished copy; "" of any other generation, such as one that is or was live."""
        try:
            live = self.current() or 0
        except IndexDamagedError:
            live = 0
        if path in {self.path(number) for number in self.numbers() if number <= live}:
            return ""
        try:
            return (path / COPY).read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    def finish_copies(self) -> None:
        """Turns copies up to the live generation into generations like any other."""
        for number in self.numbers():
            if number <= (self.current() or 0):
                (self.path(number) / COPY).unlink(missing_ok=True)

    def commit(self, number: int) -> None:
        write_atomically(self._folder / "CURRENT", self.path(number).name + "\n")

    def drop(self, number: int) -> None:
        shutil.rmtree(self.path(number), ignore_errors=True)

    def drop_unfinished(self) -> None:
        """Removes what a killed rebuild left: every generation newer than
        the live one, if it is known which that is.
        """
        try:
            live = self.current() or 0
        except IndexDamagedError:
            return
        for number in self.numbers():
            if number > live:
                self.drop(number)
        self.drop_making()

    def drop_making(self) -> None:
        """Removes what `place_to_make` was used for and `take_in` was not.
        A process that still writes there ends by it.
        """
        for path in self._folder.glob(f"{_MAKING}*"):
            shutil.rmtree(path, ignore_errors=True)

    def drop_old(self) -> None:
        """Keeps the live generation, and the one before it for a rollback."""
        live = self.current() or 0
        for number in sorted(number for number in self.numbers() if number < live)[:-1]:
            self.drop(number)

    def numbers(self) -> list[int]:
        if not self._folder.is_dir():
            return []
        matches = [_NAME.fullmatch(entry.name) for entry in self._folder.iterdir()]
        return [int(match[1]) for match in matches if match]


def write_atomically(path: Path, text: str | bytes) -> None:
    """Replaces a file: a crash leaves the old text or the new one, and a power cut does not undo a reported write."""
    temporary = path.with_name(path.name + ".new")
    with temporary.open("wb") as file:
        file.write(text.encode() if isinstance(text, str) else text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
