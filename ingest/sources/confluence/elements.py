"""The storage format as a tree: read generously, and named as its documentation names things (`ac:link`)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
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
_NO_MARKUP = re.compile(r"&(?!#\d{1,7};|#x[\da-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]{0,30};)|<(?![A-Za-z/!?])")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


HEADINGS = {f"h{level}": level for level in range(1, 7)}
MACROS = frozenset({"ac:structured-macro", "ac:macro"})
_BLOCK_NAMES = """
div section article body root center details figure thead tbody p ul ol table blockquote pre hr dl dt dd
ac:layout ac:layout-section ac:layout-cell ac:rich-text-body ac:adf-fallback ac:task-body ac:task-list ac:adf-extension
"""
BLOCKS = frozenset(_BLOCK_NAMES.split()) | HEADINGS.keys() | MACROS
"""Elements that stand alone. Which macros do is for `macros` to tell."""
_DROPPED_NAMES = """
ac:parameter ac:placeholder ac:task-id ac:task-uuid ac:task-status script style colgroup
"""
DROPPED = frozenset(_DROPPED_NAMES.split())
"""Elements whose text is no text of the page."""


class StorageError(Exception):
    """The text is no storage format."""


def parse_storage(storage: str) -> Element:
    """Parses the text under one root; declares the prefixes and replaces the HTML entities that it uses undeclared.

    Raises:
        StorageError: it cannot be read as XML, even leniently.
    """
    pieces = _CDATA.split(_NO_XML.sub("", storage))
    text = "".join(
        piece if piece.startswith("<![CDATA[") else _ENTITY.sub(_as_text, _NO_MARKUP.sub(_escaped, piece))
        for piece in pieces
    )
    declared = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in _NAMESPACES.items())
    parser = lxml.etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        huge_tree=True,  # else all that lies deeper than 256 elements, and all after it, is dropped without a word
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
    if any(error.type == lxml.etree.ErrorTypes.ERR_RESOURCE_LIMIT for error in parser.error_log):
        raise StorageError("it is nested too deep")
    return root


def _escaped(character: re.Match[str]) -> str:
    return html.escape(character[0])


def _as_text(entity: re.Match[str]) -> str:
    return html.unescape(entity[0]).replace("&", "&amp;").replace("<", "&lt;").replace("\xa0", " ")


def name_of(element: Element) -> str:
    """Returns an element's name as the format's documentation writes it: `p`, `ac:link`; "" of a comment."""
    if not isinstance(element.tag, str):
        return ""
    qualified = lxml.etree.QName(element.tag)
    prefix = _PREFIXES.get(qualified.namespace or "")
    return f"{prefix}:{qualified.localname}" if prefix else str(qualified.localname)


def attribute(element: Element, name: str) -> str:
    """Returns an attribute by such a name: `attribute(link, "ac:anchor")`; "" where there is none."""
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


def macro_name(element: Element) -> str:
    return attribute(element, "ac:name").strip().lower()


def macro_of(element: Element) -> Macro:
    parameters: dict[str, str] = {}
    targets: list[Element] = []
    plain, rich = None, None
    for child in element:
        match name_of(child):
            case "ac:parameter":
                parameters[attribute(child, "ac:name")] = "".join(child.itertext()).strip()
                targets += [inner for inner in child.iter() if name_of(inner).startswith("ri:")]
            case "ac:plain-text-body":
                plain = "".join(child.itertext())
            case "ac:rich-text-body":
                rich = child
    return Macro(
        name=macro_name(element),
        parameters=parameters,
        targets=tuple(targets),
        plain=plain,
        rich=rich,
    )


def is_amid_text(element: Element) -> bool:
    """Whether it stands in a line, with text beside it."""
    parent, before = element.getparent(), element.getprevious()
    start = before.tail if before is not None else parent.text if parent is not None else None
    return bool((start or "").strip() or (element.tail or "").strip())


def seen_text(element: Element) -> Iterator[str]:
    """Yields a heading's own text, without the parameters of macros in it."""
    yield element.text or ""
    for child in element:
        if name_of(child) not in DROPPED and name_of(child) not in MACROS:
            yield from seen_text(child)
        yield child.tail or ""
