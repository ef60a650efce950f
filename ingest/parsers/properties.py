"""Reads the properties of a document, beside its text, that may restrict its readers."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from email import policy
from email.parser import BytesHeaderParser

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError

from ingest.front_matter.limits import names_a_limit
from ingest.parsers.archives import is_zip
from ingest.parsers.markup.html_properties import html_properties
from ingest.parsers.office.properties import office_properties
from ingest.parsers.text import decoded

_HTML = frozenset({"html", "htm", "xhtml"})
_MAIL_HEADER = re.compile(r"(?:x-)?(?:sensitivity|classification|audience\w*|visibility)", re.IGNORECASE)
_PDF_ENTRY = re.compile(rb"/([A-Za-z][\w-]{2,40})\s*\(((?:[^()\\]|\\.){0,300})\)")
"""An entry of a PDF's information dictionary, where it is not packed."""

Pairs = list[tuple[str, object]]


def properties_of(content: bytes, kind: str) -> Pairs:
    """Returns names and values, in their order. A broken file has none: its parser reports the fault."""
    pairs: Pairs = []
    with suppress(
        zipfile.BadZipFile, ParseError, DefusedXmlException, KeyError, ValueError, RecursionError, OSError
    ):
        pairs.extend(_properties(content, kind))
    return pairs


def _properties(content: bytes, kind: str) -> Iterator[tuple[str, object]]:
    if kind in _HTML:
        yield from html_properties(decoded(content))
    elif kind == "ipynb":
        yield from _of_notebook(json.loads(decoded(content)))
    elif kind == "eml":
        message = BytesHeaderParser(policy=policy.compat32).parsebytes(content)
        yield from (
            (name.lower().removeprefix("x-"), str(value))
            for name, value in message.items()
            if _MAIL_HEADER.fullmatch(name)
        )
    elif kind == "pdf":
        yield from _limits_of_pdf(content)
    elif is_zip(content):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield from office_properties(archive)


def _of_notebook(book: object) -> Iterator[tuple[str, object]]:
    """Yields a notebook's metadata, its other fields, and the metadata of its cells."""
    if not isinstance(book, dict):
        return
    metadata, cells = book.get("metadata"), book.get("cells")
    yield from metadata.items() if isinstance(metadata, dict) else ()
    yield from ((name, value) for name, value in book.items() if name not in ("metadata", "cells"))
    if isinstance(cells, list):
        yield "cells", [cell.get("metadata") for cell in cells if isinstance(cell, dict)]


def _limits_of_pdf(content: bytes) -> Iterator[tuple[str, object]]:
    for name, value in _PDF_ENTRY.findall(content):
        if names_a_limit(name.decode()):
            wide = value.startswith(b"\xfe\xff")
            yield (
                name.decode(),
                value.decode("utf-16" if wide else "latin-1", errors="replace").replace("\\", ""),
            )
