"""What a document says about itself beside its text, as far as that may limit its readers."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from email import policy
from email.parser import BytesHeaderParser
from html import unescape

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from ingest.front_limits import names_a_limit
from ingest.parsers.text import decoded

_OFFICE = frozenset({"docx", "docm", "doc", "pptx", "pptm", "ppt", "xlsx", "xlsm", "xls"})
_OPEN_DOCUMENT = frozenset({"odt", "odp", "ods"})
_HTML = frozenset({"html", "htm", "xhtml"})
_ZIP = b"PK\x03\x04"
_LABEL = re.compile(r"MSIP_Label_.+_Name")
"""Under which Office keeps the name of a sensitivity label."""
_META = re.compile(r"<meta\b[^<>]*>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))")
_MAIL_HEADER = re.compile(r"(?:x-)?(?:sensitivity|classification|audience\w*|visibility)", re.IGNORECASE)
_PDF_ENTRY = re.compile(rb"/([A-Za-z][\w-]{2,40})\s*\(((?:[^()\\]|\\.){0,300})\)")
"""Of a PDF's information dictionary, where it is not packed."""

Pairs = list[tuple[str, object]]


def properties_of(content: bytes, kind: str) -> Pairs:
    """Names and values, in their order; what cannot be read has none, for the parser tells what is wrong with it."""
    try:
        return list(_properties(content, kind))
    except (
        zipfile.BadZipFile,
        ParseError,
        DefusedXmlException,
        KeyError,
        ValueError,
        RecursionError,
        OSError,
    ):
        return []


def _properties(content: bytes, kind: str) -> Iterator[tuple[str, object]]:
    if kind in _HTML:
        yield from meta_of(decoded(content))
    elif kind == "ipynb":
        book = json.loads(decoded(content))
        metadata = book.get("metadata") if isinstance(book, dict) else None
        yield from metadata.items() if isinstance(metadata, dict) else ()
    elif kind == "eml":
        message = BytesHeaderParser(policy=policy.compat32).parsebytes(content)
        yield from (
            (name.lower().removeprefix("x-"), str(said))
            for name, said in message.items()
            if _MAIL_HEADER.fullmatch(name)
        )
    elif kind == "pdf":
        yield from _limits_of_pdf(content)
    elif kind in _OFFICE | _OPEN_DOCUMENT and content.startswith(_ZIP):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield from _of_office(archive)


def _of_office(archive: zipfile.ZipFile) -> Iterator[tuple[str, object]]:
    names = set(archive.namelist())
    if "docProps/custom.xml" in names:
        for item in fromstring(archive.read("docProps/custom.xml")):
            name = item.get("name", "")
            yield (
                "sensitivity_label" if _LABEL.fullmatch(name) else name,
                " ".join("".join(item.itertext()).split()),
            )
    if "docProps/core.xml" in names:
        for item in fromstring(archive.read("docProps/core.xml")):
            if item.tag.endswith("}contentStatus") and item.text:
                yield "status", item.text
    if "meta.xml" in names:
        for item in fromstring(archive.read("meta.xml")).iter():
            if item.tag.endswith("}user-defined"):
                yield next((said for key, said in item.items() if key.endswith("}name")), ""), item.text or ""


def meta_of(text: str) -> Iterator[tuple[str, object]]:
    """Names and contents of the `<meta>` of a page of HTML."""
    for tag in _META.findall(text):
        attributes = {
            name.lower(): unescape(one or two or three) for name, one, two, three in _ATTRIBUTE.findall(tag)
        }
        name = next(
            (attributes[key] for key in ("name", "property", "itemprop", "http-equiv") if key in attributes),
            "",
        )
        if "content" in attributes:
            yield name.rpartition(":")[2], attributes["content"]


def _limits_of_pdf(content: bytes) -> Iterator[tuple[str, object]]:
    for name, value in _PDF_ENTRY.findall(content):
        if names_a_limit(name.decode()):
            wide = value.startswith(b"\xfe\xff")
            yield (
                name.decode(),
                value.decode("utf-16" if wide else "latin-1", errors="replace").replace("\\", ""),
            )
