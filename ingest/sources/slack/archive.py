"""Reads the files of a Slack export, in its zip or unpacked, however often it was packed again.

Nothing is ever unpacked to disk.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any
from unicodedata import normalize

from ingest.sources.slack.blocks import dicts
from kb.text.unicode import well_formed_value

_MAX_FILE = 100_000_000
"""Bytes of one day of one channel: the busiest make a few MB."""
_MAX_INNER = 2_000_000_000
"""A zip within a zip, which is read into memory."""
_DEEPEST = 4
"""Folders, and zips, that may stand around an export."""
_LISTS = ("channels.json", "groups.json")
"""Public and private channels; an export of chosen conversations may have either alone."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d\.json")
_UTF8_NAME = 0x800
"""The flag of a zip's entry whose name says that it is in UTF-8."""
_UNREADABLE = (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError, EOFError)


class ArchiveError(Exception):
    """The export, or a file of it, cannot be read; the message says why and what to do."""


class Archive:
    """Reads JSON by name. Use it as a context manager.

    Raises:
        ArchiveError: there is no export, or it is broken.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._zip: zipfile.ZipFile | None = None
        self._files: dict[str, str] = {}
        """Name within the export -> name within the zip, or below the path."""

    def __enter__(self) -> Archive:
        if not self._path.exists():
            raise ArchiveError(f"there is no export {self._path}: correct `path`")
        if self._path.is_file():
            self._zip = self._opened(self._path)
        for _ in range(_DEEPEST):
            names = self._names()
            root = self._root(names)
            if root is not None:
                self._files = {
                    name.removeprefix(root): real for name, real in names.items() if name.startswith(root)
                }
                return self
            self._zip = self._inner(names)
        raise ArchiveError(f"{self._path} is packed too often: unpack it")  # fmt: skip

    def __exit__(self, *_: object) -> None:
        if self._zip is not None:
            self._zip.close()
            self._zip = None

    def records(self, name: str) -> list[dict[str, Any]]:
        """Returns the objects of a JSON list; none where there is no such file."""
        if name not in self._files:
            return []
        try:
            found = well_formed_value(json.loads(self._read(name)))
        except ValueError as error:
            raise ArchiveError(f"{name} in the export is no JSON: download it again") from error
        if not isinstance(found, list):
            raise ArchiveError(f"{name} in the export holds no list: download it again")
        return dicts(found)

    def days(self, channel: str) -> list[str]:
        """Returns the names of a channel's files, one a day, in order."""
        parts = (name.rpartition("/") for name in self._files)
        return sorted(
            f"{folder}/{file}"
            for folder, _, file in parts
            if folder == normalize("NFC", channel) and _DAY.fullmatch(file)
        )

    def _names(self) -> dict[str, str]:
        """Returns the files without those that a Mac adds: the name as we write it -> the name in the export."""
        found = _names_in(self._zip) if self._zip is not None else _names_below(self._path)
        return {
            name: real
            for name, real in found.items()
            if not any(part.startswith(("__MACOSX", ".")) for part in name.split("/"))
        }

    def _root(self, names: Iterable[str]) -> str | None:
        """Returns the folder that holds the export, with a slash at its end; "" for the top, None for none."""
        roots = sorted(
            {name.removesuffix(file) for name in names for file in _LISTS if f"/{name}".endswith(f"/{file}")},
            key=lambda root: (root.count("/"), root),
        )
        if len(roots) > 1 and roots[0].count("/") == roots[1].count("/"):
            raise ArchiveError(
                f"{self._path} holds several exports ({', '.join(roots)}): make each a source of its own"
            )
        return roots[0] if roots else None

    def _inner(self, names: dict[str, str]) -> zipfile.ZipFile:
        """Opens the one zip in there, where the export is packed twice."""
        inner = [name for name in names if name.lower().endswith(".zip")]
        if not inner:
            reason = "it is no Slack export"
            if any(name.endswith(".txt") for name in names):
                reason = "a Slack export as text is not read: export it as JSON"
            raise ArchiveError(f"{self._path} has no channels.json: {reason}")
        if len(inner) > 1:
            raise ArchiveError(
                f"{self._path} has no channels.json, but several zips ({', '.join(sorted(inner))}): make each a source"
            )
        self._files = names
        outer, content = self._zip, self._read(inner[0], most=_MAX_INNER)
        if outer is not None:
            outer.close()
        return self._opened(BytesIO(content))

    def _opened(self, file: Path | BytesIO) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError) as error:
            raise ArchiveError(
                f"{self._path} is no zip file, or a broken one: download the export again"
            ) from error

    def _read(self, name: str, *, most: int | None = None) -> bytes:
        most = most or _MAX_FILE
        try:
            if self._zip is not None:
                with self._zip.open(self._files[name]) as file:
                    content = file.read(most + 1)
            else:
                real = (self._path / self._files[name]).resolve()
                if not real.is_relative_to(self._path.resolve()):
                    raise ArchiveError(f"{name} is a link that leads out of the export: not followed")
                with real.open("rb") as file:
                    content = file.read(most + 1)
        except _UNREADABLE as error:
            raise ArchiveError(f"{name} in the export cannot be read ({error}): download it again") from error
        if len(content) > most:
            raise ArchiveError(f"{name} in the export is larger than {most // 1_000_000} MB")
        return content


def _names_in(archive: zipfile.ZipFile) -> dict[str, str]:
    return {
        _plain(entry.filename if entry.flag_bits & _UTF8_NAME else _respelt(entry.filename)): entry.filename
        for entry in archive.infolist()
        if not entry.is_dir()
    }


def _respelt(name: str) -> str:
    """Mends a name: a Mac writes UTF-8 into a zip without saying so, and unpacking reads another code page."""
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def _names_below(folder: Path) -> dict[str, str]:
    """Lists files a few folders down. A link to a folder is not entered, but named, so that reading it fails."""
    found: dict[str, str] = {}
    folders = [(folder, 0)]
    while folders:
        parent, depth = folders.pop()
        for entry in parent.iterdir():
            if entry.is_dir() and not (entry.is_symlink() and not _is_within(entry, folder)):
                if depth <= _DEEPEST:
                    folders.append((entry, depth + 1))
                continue
            for file in entry.iterdir() if entry.is_dir() else [entry]:
                real = file.relative_to(folder).as_posix()
                found[_plain(_respelt(real))] = real
    return found


def _is_within(entry: Path, folder: Path) -> bool:
    return entry.resolve().is_relative_to(folder.resolve())


def _plain(name: str) -> str:
    """Writes a name with forward slashes, and letters with accents as one character: a Mac takes them apart."""
    return normalize("NFC", name.replace("\\", "/")).removeprefix("./")
