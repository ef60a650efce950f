"""The files of a Slack export, in its zip or unpacked. Nothing is ever unpacked to disk."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MAX_FILE = 100_000_000
"""One day of one channel: the busiest make a few MB."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d\.json")


class ArchiveError(Exception):
    """The export cannot be read; the message says why and what to do."""


class Archive:
    """Reads JSON by name. Use it as a context manager.

    Raises:
        ArchiveError: there is no export, or it is broken.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._zip: zipfile.ZipFile | None = None

    def __enter__(self) -> Archive:
        if not self._path.exists():
            raise ArchiveError(f"there is no export {self._path}: correct `path`")
        if self._path.is_file():
            try:
                self._zip = zipfile.ZipFile(self._path)
            except (zipfile.BadZipFile, OSError) as error:
                raise ArchiveError(
                    f"{self._path} is no zip file, or a broken one: download the export again"
                ) from error
        if not self._has("channels.json"):
            raise ArchiveError(f"{self._path} has no channels.json: it is no Slack export")
        return self

    def __exit__(self, *_: object) -> None:
        if self._zip is not None:
            self._zip.close()
            self._zip = None

    def records(self, name: str) -> list[dict[str, Any]]:
        """The objects of a JSON list; none where there is no such file."""
        if not self._has(name):
            return []
        try:
            found = json.loads(self._read(name))
        except ValueError as error:
            raise ArchiveError(f"{name} in the export is no JSON: download it again") from error
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    def days(self, channel: str) -> Iterator[str]:
        """The names of a channel's files, one a day, in order."""
        if self._zip is not None:
            names = [name.rpartition("/") for name in self._zip.namelist()]
            files = [file for folder, _, file in names if folder == channel]
        else:
            folder = self._path / channel
            files = [file.name for file in folder.iterdir()] if _is_plain(channel) and folder.is_dir() else []
        for file in sorted(files):
            if _DAY.fullmatch(file):
                yield f"{channel}/{file}"

    def _has(self, name: str) -> bool:
        if self._zip is not None:
            return name in self._zip.NameToInfo
        return (self._path / name).is_file()

    def _read(self, name: str) -> bytes:
        try:
            if self._zip is not None:
                with self._zip.open(name) as file:
                    content = file.read(_MAX_FILE + 1)
            else:
                real = (self._path / name).resolve()
                if not real.is_relative_to(self._path.resolve()):
                    raise ArchiveError(f"{name} is a link that leads out of the export: not followed")
                with real.open("rb") as file:
                    content = file.read(_MAX_FILE + 1)
        except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError) as error:
            raise ArchiveError(f"{name} in the export cannot be read ({error}): download it again") from error
        if len(content) > _MAX_FILE:
            raise ArchiveError(f"{name} in the export is larger than {_MAX_FILE // 1_000_000} MB")
        return content


def _is_plain(name: str) -> bool:
    return bool(name) and "/" not in name and "\\" not in name and not name.startswith(".")
