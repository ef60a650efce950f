"""The storage format as a tree: read generously, and named as its documentation names things (`ac:link`)."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

import lxml.etree
from lxml.etree import _Element as Element

_NAMESPACES = {
    "ac": "http://atlassian.com/content",
    "ri": "http://atlassian.com/resource/identifier",
    "at": "http://atlassian.com/template",
}
_PREFIXES = {uri: prefix for prefix, uri in _NAMESPACES.items()}
_CDATA = re.compile(r"(<!\[CDATA\[.*?\]\]>)", re.DOTALL)
_ENTITY = re.compile(r"&(?!(?:lt|gt|amp|quot|apos);)([A-Za-z][A-Za-z0-9]{1,30});")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


class StorageError(Exception):
    """The text is no storage format."""


def parse_storage(storage: str) -> Element:
    """The text under one root. It uses prefixes without declaring them and HTML's entities: both are supplied.

    Raises:
        StorageError: it cannot be read as XML, however generously.
    """
    pieces = _CDATA.split(_NO_XML.sub("", storage))
    text = "".join(
        piece if piece.startswith("<![CDATA[") else _ENTITY.sub(_as_text, piece) for piece in pieces
    )
    declared = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in _NAMESPACES.items())
    parser = lxml.etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = lxml.etree.fromstring(f"<root {declared}>{text}</root>".encode(), parser=parser)
    except lxml.etree.XMLSyntaxError as error:
        raise StorageError(str(error)) from error
    if root is None:
        raise StorageError("nothing in it can be read")
    return root


def _as_text(entity: re.Match[str]) -> str:
    return html.unescape(entity[0]).replace("&", "&amp;").replace("<", "&lt;").replace("\xa0", " ")


def name_of(element: Element) -> str:
    """`p`, `ac:link`: the name as the format's documentation writes it."""
    if not isinstance(element.tag, str):
        return ""
    qualified = lxml.etree.QName(element.tag)
    prefix = _PREFIXES.get(qualified.namespace or "")
    return f"{prefix}:{qualified.localname}" if prefix else str(qualified.localname)


def attribute(element: Element, name: str) -> str:
    """`attribute(link, "ac:anchor")`; empty where there is none."""
    prefix, _, local = name.rpartition(":")
    return str(element.get(f"{{{_NAMESPACES[prefix]}}}{local}" if prefix else local, ""))


@dataclass(frozen=True, kw_only=True, slots=True)
class Macro:
    """A macro with its parameters and bodies."""

    name: str
    parameters: dict[str, str]
    targets: tuple[Element, ...]
    """Resource identifiers (a page, a user) that are parameters."""
    plain: str | None
    rich: Element | None


def macro_of(element: Element) -> Macro:
    parameters: dict[str, str] = {}
    targets: list[Element] = []
    plain, rich = None, None
    for child in element:
        match name_of(child):
            case "ac:parameter":
                parameters[attribute(child, "ac:name")] = "".join(child.itertext()).strip()
                targets += [one for one in child.iter() if name_of(one).startswith("ri:")]
            case "ac:plain-text-body":
                plain = "".join(child.itertext())
            case "ac:rich-text-body":
                rich = child
    return Macro(
        name=attribute(element, "ac:name"),
        parameters=parameters,
        targets=tuple(targets),
        plain=plain,
        rich=rich,
    )
