"""Checks an Office file (a zip of XML) before anything opens it.

The checks read the zip's directory and its XML; nothing is written to disk, and no name in it is used as a path.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping

from ingest.errors import PageError

MAX_UNPACKED = 300_000_000
"""Bytes of all members together. The largest handbook that we met, of 872 pages, unpacks to 9 MB."""
MAX_RATIO = 200
"""Unpacked to packed. Office XML packs at 10 to 30, a sheet of one repeated number at 100; a bomb at 1,000 and more."""
_SMALL = 10_000_000
"""Unpacked bytes below which the ratio does not matter."""
_STEP = 1 << 20
_ZIP = b"PK\x03\x04"
_EMPTY_ZIP = b"PK\x05\x06"
_ENTITY = tuple(b"<!ENTITY".decode().encode(code) for code in ("utf-8", "utf-16-le", "utf-16-be"))


def is_zip(content: bytes) -> bool:
    return content.startswith((_ZIP, _EMPTY_ZIP))


def check_archive(content: bytes) -> None:
    """Checks every member.

    Raises:
        PageError: it is broken, encrypted, unpacks to far too much, or declares XML entities.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if any(member.flag_bits & 1 for member in members):
                raise PageError("it is protected with a password: save it without one")
            _check_sizes(members, len(content))
            for member in members:
                _check_member(archive, member)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError) as error:
        raise PageError("it is broken or cut off: save it again") from error


def _check_sizes(members: list[zipfile.ZipInfo], packed: int) -> None:
    unpacked = sum(member.file_size for member in members)
    if unpacked > MAX_UNPACKED or (unpacked > _SMALL and unpacked > MAX_RATIO * packed):
        raise PageError(
            f"it unpacks from {packed / 1e3:.0f} kB to {unpacked / 1e6:.0f} MB: not opened, it may be a zip bomb"
        )


def _check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Reads XML to its end: where the directory lies about a member's size, its checksum is wrong as well."""
    if not member.filename.lower().endswith((".xml", ".rels", ".xhtml", ".html", ".opf", ".ncx", ".vml")):
        return
    before = b""
    with archive.open(member) as stream:
        while step := stream.read(_STEP):
            seen = before + step
            if any(mark in seen for mark in _ENTITY):
                raise PageError("it declares XML entities, which can be used for an attack: not opened")
            before = seen[-16:]


def with_members(archive: zipfile.ZipFile, changed: Mapping[str, bytes], *, compression: int) -> bytes:
    """Copies the archive, with other content in these members."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", compression) as copy:
        for member in archive.infolist():
            copy.writestr(member.filename, changed.get(member.filename) or archive.read(member))
    return written.getvalue()
