"""Parses texts and slides of every version of Office, e-books and e-mails of Outlook by kreuzberg (Rust, no network, no
temporary files).

docs/measurements/formats.md tells why this converter. Its output is corrected: pictures become their descriptions, and
mark-up that it escapes within table cells becomes mark-up again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.page import ParsedPage
from ingest.parsers.archives import check_archive, is_zip
from ingest.parsers.grids import Row, is_figure, joined_headers, table
from ingest.parsers.office.slides import read_slides
from ingest.parsers.office.word_parts import as_word_shows
from ingest.parsers.outline import Outline, Part, parsed_page
from ingest.parsers.pictures import description
from ingest.parsers.text import cleaned, own_date, title_from
from kb.spelled_out import UNESCAPED_BAR

_OPEN_XML = "application/vnd.openxmlformats-officedocument."
MEDIA_TYPES: Mapping[str, str] = {
    "docx": f"{_OPEN_XML}wordprocessingml.document",
    "pptx": f"{_OPEN_XML}presentationml.presentation",
    "docm": "application/vnd.ms-word.document.macroEnabled.12",
    "pptm": "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
    "doc": "application/msword",
    "ppt": "application/vnd.ms-powerpoint",
    "rtf": "application/rtf",
    "epub": "application/epub+zip",
    "msg": "application/vnd.ms-outlook",
    "org": "text/x-org",
}
"""The formats that kreuzberg reads for us, by file ending."""

_SLIDES = frozenset({"pptx", "pptm", "ppt"})
_ZIPPED = frozenset({"docx", "docm", "pptx", "pptm", "xlsx", "xlsm", "ods", "epub"})
_SUCCESSOR = {"doc": "docx", "ppt": "pptx", "xls": "xlsx"}
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of Office files before 2007, and of later ones that are encrypted."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_PICTURE = re.compile(r"\\?!\[([^\]\n]*)\]\([^)\n]*\)")
_LINK_WITHIN = re.compile(r"\[([^\[\]\n]+)\]\((?!https?:|mailto:)[^()\s]*\)")
"""A link to another part of the document, which has no address outside of it."""
_UNDERLINE = re.compile(r"\\?<u\\?>|\\?</u\\?>", re.IGNORECASE)
_NEEDLESS = re.compile(r"\\([<>~&\"'(){}=!])")
_TABLE = re.compile(r"(?:^\|.*\|[ ]*(?:\n|$)){3,}", re.MULTILINE)
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ORG_ROW = re.compile(rb"^[ \t]*\|[^\n]*\|[ \t\r]*$", re.MULTILINE)
_EMPTY_CELL = re.compile(rb"\|[ \t]*(?=\|)")
_HELD = "\ue0f0".encode()
"""Holds the place of an empty cell of an Org table: the converter drops it and moves the rest to the left."""


def parse_office(content: bytes, *, path: str, kind: str) -> ParsedPage:
    """Parses a file. `kind`: a file ending of `MEDIA_TYPES`.

    Raises:
        PageError: with the reason.
    """
    kind = checked_kind(content, kind)
    if kind in ("docx", "docm"):
        content = as_word_shows(content)
    if kind == "org":
        content = _ORG_ROW.sub(lambda row: _EMPTY_CELL.sub(b"| " + _HELD + b" ", row[0]), content)
    markdown, metadata = _converted(content, kind)
    markdown = markdown.replace(_HELD.decode(), "")
    markdown = _with_joined_headers(_corrected(cleaned(markdown)))
    outline = Outline(Part(text=markdown))
    own = outline.document_title or (kind in _SLIDES and outline.opening_heading)
    title = own if own and outline.has_text else title_from(path)
    return parsed_page(title, outline, FrontMatter(written=own_date(metadata.get("modified_at"))))


def checked_kind(content: bytes, kind: str) -> str:
    """Returns the format of the content, which is a newer one where an old ending holds a new file.

    Raises:
        PageError: it is protected, broken, or may be an attack.
    """
    if is_zip(content):
        kind = _SUCCESSOR.get(kind, kind)
        check_archive(content)
    elif kind in _ZIPPED:
        if content.startswith(_COMPOUND):
            protected = _ENCRYPTED in content
            raise PageError(
                "it is protected with a password: save it without one"
                if protected
                else f"it is in the format of Office before 2007 under a new name: save it as .{kind}"
            )
        raise PageError(
            f"it is broken, or no .{kind} file at all: save it again" if content else "it is empty"
        )
    return kind


def _converted(content: bytes, kind: str) -> tuple[str, Mapping[str, Any]]:
    """Converts a file to Markdown and its metadata."""
    import kreuzberg

    try:
        result = kreuzberg.extract_bytes_sync(content, MEDIA_TYPES[kind], _config())
    except kreuzberg.KreuzbergError as error:
        reason = str(error).lower()
        if "password" in reason or "encrypted" in reason:
            raise PageError("it is protected with a password: save it without one") from error
        if kind in ("pptx", "pptm"):  # kreuzberg rejects a deck when one picture in it is broken
            return read_slides(content), {}
        raise PageError(f"it is broken, or no .{kind} file at all: save it again") from error
    return result.content, result.metadata


@cache
def _config() -> Any:
    import kreuzberg

    options: Any = {"output_format": "markdown", "disable_ocr": True, "use_cache": False}
    return kreuzberg.ExtractionConfig(**options)


def _corrected(markdown: str) -> str:
    text = _PICTURE.sub(lambda found: description(found[1]), markdown)
    text = _LINK_WITHIN.sub(r"\1", text)
    text = _NEEDLESS.sub(r"\1", _UNDERLINE.sub("", _COMMENT.sub("", text)))
    return "\n".join(
        line.replace("\\*", "*") if line.startswith(("|", "#")) else line.rstrip()
        for line in text.split("\n")
    )


def _with_joined_headers(markdown: str) -> str:
    """Joins headers that span several columns: the converter repeats a merged cell, and takes only the first row for
    headers.

    "Days | Days" over "Full time | Part time" become "Days › Full time | Days › Part time"; one cell over the whole
    table is its title.
    """
    return _TABLE.sub(lambda found: _joined_table(found[0]), markdown)


def _joined_table(written: str) -> str:
    lines = written.rstrip("\n").split("\n")
    if not _RULE.fullmatch(lines[1]):
        return written
    rows = [[cell.strip() for cell in UNESCAPED_BAR.split(line)[1:-1]] for line in (lines[0], *lines[2:])]
    titles: list[str] = []
    while len(rows) > 2 and len(rows[0]) > 1 and rows[0][0] and len(set(rows[0])) == 1:
        titles += [rows.pop(0)[0], ""]
    heads = 1
    while heads < len(rows) - 1 and _names_columns(rows[heads - 1], rows[heads]):
        heads += 1
    if not titles and heads == 1:
        return written
    joined = table([joined_headers(rows[:heads]), *rows[heads:]])
    return "\n".join([*titles, joined, *([""] if written.endswith("\n") else [])])


def _names_columns(above: Row, below: Row) -> bool:
    """Whether a row has the names of columns under a merged header, and nothing of its own under the others."""
    if len(above) != len(below):
        return False
    neighbours = zip([None, *above], above, [*above[1:], None], strict=False)
    is_merged = [bool(cell) and cell in (left, right) for left, cell, right in neighbours]
    names = [name for name, merged in zip(below, is_merged, strict=True) if merged]
    own = [
        name
        for head, name, merged in zip(above, below, is_merged, strict=True)
        if not merged and head and name not in ("", head)
    ]
    are_names = len(set(names)) == len(names) and all(names) and not any(map(is_figure, names))
    return any(is_merged) and not all(is_merged) and are_names and not own
