"""Reads the properties of a file of Office or LibreOffice that may restrict its readers."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import fromstring

from ingest.front_matter.limits import names_a_limit

_LABEL = re.compile(r"MSIP_Label_.+_Name")
"""The property under which Office keeps the name of a sensitivity label."""
_CUSTOM, _CORE = "docProps/custom.xml", "docProps/core.xml"
_OF_CORE = {"contentStatus": "status"} | {
    name: name for name in ("category", "keywords", "description", "subject")
}

Named = Iterator[tuple[str, object]]


def office_properties(archive: zipfile.ZipFile) -> Named:
    """Yields names and values, of any kind of file."""
    parts = {name.lower(): name for name in archive.namelist()}
    for part in _parts(archive, parts, "custom-properties", _CUSTOM):
        for item in part:
            name = item.get("name", "")
            yield "sensitivity_label" if _LABEL.fullmatch(name) else name, _text(item)
    for part in _parts(archive, parts, "core-properties", _CORE):
        for item in part:
            name = _OF_CORE.get(item.tag.rpartition("}")[2], "")
            if name and item.text:
                yield name, item.text
    if "word/document.xml" in parts:
        yield from _of_controls(archive.read(parts["word/document.xml"]))
    if "meta.xml" in parts:
        yield from _of_opendocument(fromstring(archive.read(parts["meta.xml"])))


def _parts(archive: zipfile.ZipFile, parts: dict[str, str], kind: str, usual: str) -> Iterator[Element]:
    """Yields the parts of a kind, at their usual place and wherever the relationships name them."""
    if usual.lower() in parts:
        yield fromstring(archive.read(parts[usual.lower()]))
    if "_rels/.rels" in parts:
        for relation in fromstring(archive.read(parts["_rels/.rels"])):
            named = posixpath.normpath(relation.get("Target", "").lstrip("/")).lower()
            if relation.get("Type", "").endswith(f"/{kind}") and named in parts and named != usual.lower():
                yield fromstring(archive.read(parts[named]))


def _of_controls(document: bytes) -> Named:
    """Yields Word's content controls, by their title or tag, that somebody has filled in."""
    if b"sdtPr" not in document:
        return
    for control in fromstring(document).iter():
        if not control.tag.endswith("}sdt"):
            continue
        inner = {item.tag.rpartition("}")[2]: item for item in control.iter()}
        titles = (_attribute(inner[tag], "val") for tag in ("alias", "tag") if tag in inner)
        title = next(filter(names_a_limit, titles), None)
        if title and "sdtContent" in inner and "showingPlcHdr" not in inner:
            yield title, _text(inner["sdtContent"])


def _of_opendocument(meta: Element) -> Named:
    for item in meta.iter():
        name = item.tag.rpartition("}")[2]
        if name == "user-defined":
            yield _attribute(item, "name"), item.text or ""
        elif name in ("keyword", "subject", "description") and item.text:
            yield "keywords" if name == "keyword" else name, item.text


def _attribute(item: Element, name: str) -> str:
    """Returns an attribute of any namespace; empty where there is none."""
    return next((value for key, value in item.items() if key.endswith(f"}}{name}")), "")


def _text(item: Element) -> str:
    return " ".join("".join(item.itertext()).split())
