"""The file of a backup: a tar of parts, at its end a manifest with the versions and the checksum of every part.

    index/GENERATION/00000.jsonl.gz    passages with their vectors, whole pages
    store/00000.jsonl.gz               keys of the store
    files/NAME                         settings without secrets, what the data folder holds besides
    manifest.json                      the last one: a file that was cut off has none

It holds private pages and what people asked: 0600 from its first byte.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from kb.errors import FootnoteError

FORMAT = 1
MANIFEST = "manifest.json"
LARGEST = 1 << 30
"""Bytes of one part, unpacked: more than a page with all its passages may have."""
_PART = re.compile(
    r"index/(?:live|previous)/\d{5,9}\.jsonl\.gz|store/\d{5,9}\.jsonl\.gz|files/(?!\.)[^/\0]+(?:/(?!\.\.?$)[^/\0]+)?"
)


class BackupError(FootnoteError):
    """A file is not a backup that can be restored here; the message says why."""


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Part(_Stored):
    sha256: str
    size: int


class GenerationPart(_Stored):
    """`manifest` and `calibration` as the index keeps them."""

    name: str
    manifest: dict[str, Any]
    calibration: str | None = None
    pages: int
    passages: int


class BackupManifest(_Stored):
    format: int
    footnote: str
    made_at: str
    namespace: str
    generations: tuple[GenerationPart, ...] = ()
    keys: int = 0
    parts: dict[str, Part]


class BackupWriter:
    """Writes a backup, blocking. The file appears under its name only once `finish` was called."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._parts: dict[str, Part] = {}
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=".partial")  # 0600
        self._draft = Path(name)
        self._output: IO[bytes] = os.fdopen(handle, "wb")
        self._tar = tarfile.open(fileobj=self._output, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115

    def add(self, name: str, content: bytes) -> None:
        if name != MANIFEST:
            self._parts[name] = Part(sha256=hashlib.sha256(content).hexdigest(), size=len(content))
        member = tarfile.TarInfo(name)
        member.size, member.mode = len(content), 0o600
        self._tar.addfile(member, io.BytesIO(content))

    def add_lines(self, name: str, lines: Sequence[Mapping[str, Any]]) -> None:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        self.add(name, gzip.compress(text.encode(), compresslevel=3, mtime=0))

    def finish(
        self, *, made_at: str, namespace: str, generations: Sequence[GenerationPart], keys: int
    ) -> BackupManifest:
        manifest = BackupManifest(
            format=FORMAT,
            footnote=version("footnote"),
            made_at=made_at,
            namespace=namespace,
            generations=tuple(generations),
            keys=keys,
            parts=self._parts,
        )
        self.add(MANIFEST, manifest.model_dump_json(indent=1).encode())
        self._tar.close()
        self._output.flush()
        os.fsync(self._output.fileno())
        self._output.close()
        self._draft.replace(self._file)
        folder = os.open(self._file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return manifest

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._output.close()
        self._draft.unlink(missing_ok=True)


class BackupReader:
    """Reads a backup, blocking. Once it is open, every part is what the manifest says.

    Raises:
        BackupError: it is not, or was written by a newer Footnote.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        with _backup_errors(file):
            self._tar = tarfile.open(file, mode="r:")  # noqa: SIM115
            try:
                self._members = self._checked_members()
                self.manifest = self._read_manifest()
                self._check_parts()
            except BaseException:
                self._tar.close()
                raise

    def names(self, prefix: str) -> list[str]:
        return sorted(name for name in self.manifest.parts if name.startswith(prefix))

    def read(self, name: str) -> bytes:
        content = self._tar.extractfile(self._members[name])
        if content is None:
            raise BackupError(f"{self._file} is no backup: {name} is no file")
        return content.read()

    def lines(self, name: str) -> Iterator[dict[str, Any]]:
        with _backup_errors(self._file), gzip.open(io.BytesIO(self.read(name))) as unpacked:
            text = unpacked.read(LARGEST + 1)
            if len(text) > LARGEST:
                raise BackupError(f"{self._file} cannot be restored: {name} is larger than any part of ours")
            for line in text.splitlines():
                yield json.loads(line)

    def extract(self, name: str, folder: Path) -> None:
        """Extracts a part below `folder`; tarfile's `data` filter refuses paths that lead out of it."""
        with _backup_errors(self._file):
            self._tar.extract(self._members[name], folder, filter="data")

    def close(self) -> None:
        self._tar.close()

    def _checked_members(self) -> dict[str, tarfile.TarInfo]:
        found: dict[str, tarfile.TarInfo] = {}
        for member in self._tar:
            if not member.isreg() or member.name in found or not _is_ours(member.name):
                raise BackupError(f"{self._file} is no backup of Footnote: it holds {member.name!r}")
            found[member.name] = member
        return found

    def _read_manifest(self) -> BackupManifest:
        if MANIFEST not in self._members:
            raise BackupError(f"{self._file} is no whole backup: its end is missing")
        content = self.read(MANIFEST)
        self.digest = hashlib.sha256(content).hexdigest()[:16]
        """Tells this backup from others."""
        raw = json.loads(content)
        format_number = raw.get("format") if isinstance(raw, dict) else None
        if not isinstance(format_number, int):
            raise BackupError(f"{self._file} is no backup of Footnote: its manifest does not say its format")
        ours, theirs = version("footnote"), str(raw.get("footnote"))
        if format_number > FORMAT or _numbers(theirs) > _numbers(ours):
            raise BackupError(
                f"{self._file} was made by Footnote {theirs}, this is {ours}: update Footnote first"
            )
        return BackupManifest.model_validate(raw)

    def _check_parts(self) -> None:
        names = self._members.keys() - {MANIFEST}
        for name in sorted(names ^ self.manifest.parts.keys()):
            raise BackupError(f"{self._file} is damaged: {name} is missing or was added")
        for name, part in self.manifest.parts.items():
            content = self.read(name)
            if (len(content), hashlib.sha256(content).hexdigest()) != (part.size, part.sha256):
                raise BackupError(f"{self._file} is damaged: the checksum of {name} is wrong")


def _is_ours(name: str) -> bool:
    return name == MANIFEST or (_PART.fullmatch(name) is not None and ".." not in name.split("/"))


def _numbers(version_text: str) -> tuple[int, ...]:
    """Returns "1.20.3" as a sort key: its first three numbers, without what follows a "+"."""
    return tuple(map(int, re.findall(r"\d+", version_text.partition("+")[0])[:3]))


@contextmanager
def _backup_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError, ValueError, ValidationError, gzip.BadGzipFile) as error:
        raise BackupError(f"{file} is no backup of Footnote, or it is damaged: {error}") from error
    except OSError as error:
        raise BackupError(f"{file} cannot be read: {error.strerror or error}") from error
