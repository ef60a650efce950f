"""Confluence's storage format as plain HTML: what a reader of the page sees."""

from __future__ import annotations

import re
from html import unescape

from lxml import etree
from lxml.etree import _Element

from kb.evaluation.fidelity.tools import UncheckedError

_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)\w+;")
_SPACES = "ac", "ri", "at"
_MARK = re.compile(r"<(?:ac|ri):[a-z-]+[\s>/]")
_SEEN = frozenset(("title",))
"""Parameters of macros that are text on the page."""
_UNSEEN = frozenset(("parameter", "placeholder", "task-id", "task-uuid", "task-status", "emoticon"))
_FALLBACK = "adf-extension"


def is_storage(content: bytes) -> bool:
    """Tells whether some XML is a page of Confluence's."""
    return _MARK.search(content[:200_000].decode("utf-8", "replace")) is not None


def storage_as_html(storage: str) -> tuple[str, str]:
    """Returns the page as HTML, and what of it may be left out: names and parameters of macros."""
    declared = " ".join(f'xmlns:{space}="urn:{space}"' for space in _SPACES)
    text = _ENTITY.sub(lambda found: unescape(found[0]), re.sub(r"<\?xml.*?\?>", "", storage))
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    root = etree.fromstring(f"<body {declared}>{text}</body>".encode(), parser)
    if root is None:
        raise UncheckedError("it is no XML")
    apart: list[str] = []
    for element in list(root.iter()):
        _rewrite(element, apart)
    return etree.tostring(root, encoding="unicode", method="html"), " ".join(apart)


def _rewrite(element: _Element, apart: list[str]) -> None:
    if not isinstance(element.tag, str) or not element.tag.startswith("{"):
        return
    name = etree.QName(element).localname
    if name == _FALLBACK:
        for node in element.findall(".//{*}adf-node"):
            node.clear(keep_tail=True)
    if name in _UNSEEN and element.get("{urn:ac}name") not in _SEEN:
        apart.append(" ".join(element.itertext()))
        tail = element.tail
        element.clear()
        element.tail = tail
    if name in ("structured-macro", "macro"):
        apart.append(element.get("{urn:ac}name") or "")
    if name == "page" and (title := element.get("{urn:ri}content-title")):
        apart.append(title)
    is_block = name in ("rich-text-body", "structured-macro", "task", "task-body", "parameter")
    element.tag = "pre" if name == "plain-text-body" else "div" if is_block else "span"
    element.attrib.clear()
