"""Pages that only say where the page is now, and pages whose text is put together in the browser.

Generators leave the first kind behind at an old address (Jekyll's `redirect_to`, Hugo's
`aliases`, meta refreshes, a script that sets the location). They have no text of their own:
the page that they lead to has. A page of the second kind is an empty frame and a script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import lxml.etree
import lxml.html

_LARGEST = 200_000
"""Bytes. No stub and no empty frame is larger."""
_FEW_WORDS = 60
"""What a stub may say beside its link: "You will be redirected. If you are not, follow this link"."""
_HARDLY_ANY = 15
"""A script that sets the location stands on full pages too; so may `canonical`."""
_HTML = frozenset({".html", ".htm", ".xhtml"})
_MARKUP = frozenset({".md", ".mdx", ".markdown", ".mdown", ".erb", ".liquid"})
_RST = frozenset({".rst", ".rest"})
_UNSEEN = frozenset({"script", "style", "noscript", "template", "head", "title"})

_MAY_REDIRECT = (b"redirect", b"refresh", b"location", b"canonical")
_REFRESH = re.compile(r"(?is)^\s*[\d.]*\s*[;,\s]\s*(?:url\s*=)?\s*['\"]?\s*(.+?)['\"]?\s*$")
_LOCATION = re.compile(
    r"(?:\b(?:window|document|self|top)\s*\.\s*)?\blocation"
    r"(?:\s*\.\s*href\s*=|\s*\.\s*(?:replace|assign)\s*\(|\s*=)\s*[\"'`]([^\"'`\s]+)[\"'`]"
)
_FRONT = re.compile(
    r"\A\ufeff?\s*(---|\+\+\+|\{)[ \t]*\r?\n?(.*?)(?:^(?:\1|\.\.\.)[ \t\r]*$|^\})", re.DOTALL | re.MULTILINE
)
_KEY = re.compile(
    r"(?im)^[ \t]*[\"']?(redirect[_-]?to|redirect(?:[_-]?(?:url|link|target))?)[\"']?[ \t]*[:=][ "
    r"\t]*(?:\[[ \t]*|\r?\n[ \t]*-[ \t]*)?"
    r"[\"']?([^\s\"',\]\[{}#][^\"',\]\r\n]*)"
)
_NO_TARGET = frozenset({"false", "no", "null", "none", "~", "true", "yes", "-"})
_MDX = re.compile(r"<Redirect\s[^>]*?\bto=\{?[\"'`]([^\"'`]+)[\"'`]")
_RST_REFRESH = re.compile(r"(?i):http\\?-equiv=\"?refresh\"?:\s*[\d.]+\s*;\s*url=[\"']?([^\s\"']+)")
_WORD = re.compile(r"\w+")
_LOADING = re.compile(
    r"(?i)\W*(?:loading|please wait|laden|wird geladen|chargement|cargando|caricamento)\b\W*(?:\w+\W*){0,3}"
)
_ROOTS = frozenset({"root", "app", "__next", "__nuxt", "___gatsby", "svelte", "app-root", "q-app"})


def redirect_of(content: bytes, *, path: str = "", media_type: str | None = None) -> str | None:
    """Where a page leads that only redirects, as it is written there (a path, a URL); None: it is a page of its own."""
    if not may_redirect(content):
        return None
    text = content.decode("utf-8", "replace")
    kind = PurePosixPath(path).suffix.lower()
    if media_type in ("text/html", "application/xhtml+xml") or (media_type is None and kind in _HTML):
        front = _FRONT.match(text)
        return (front and _by_front_matter(front[2], text[front.end() :])) or _by_html(
            text[front.end() :] if front else text
        )
    if media_type == "text/markdown" or (media_type is None and kind in _MARKUP):
        return _by_markdown(text)
    if media_type is None and kind in _RST and _words(text) <= _FEW_WORDS:
        found = _RST_REFRESH.search(text)
        return found[1] if found else None
    return None


def may_redirect(content: bytes) -> bool:
    """Whether it is worth asking `redirect_of`: nearly no page has such a word."""
    if len(content) > _LARGEST:
        return False
    lower = content.lower()
    return any(word in lower for word in _MAY_REDIRECT)


def needs_javascript(content: bytes) -> bool:
    """Whether an HTML page is a frame that a script fills: without the script it says nothing."""
    tree = _tree(content.decode("utf-8", "replace")) if len(content) <= 10 * _LARGEST else None
    if tree is None or not any(True for _ in tree.iter("script")):
        return False
    asked = " ".join(str(one.text_content()) for one in tree.iter("noscript"))
    said = _seen_text(tree)
    if _words(said) > _FEW_WORDS or _words(asked) > 2 * _FEW_WORDS:
        return False
    if "javascript" in said.casefold() or not _words(said) or _LOADING.fullmatch(said.strip()):
        return True
    frame = any(
        (one.get("id") or "").casefold() in _ROOTS and not _words(str(one.text_content()))
        for one in tree.iter("div", "main")
    )
    return frame or ("javascript" in asked.casefold() and _words(said) <= _HARDLY_ANY)


def _by_markdown(text: str) -> str | None:
    front = _FRONT.match(text)
    body = text[front.end() :] if front else text
    target = _by_front_matter(front[2], body) if front else None
    if target or _words(body) > _FEW_WORDS:
        return target
    found = _MDX.search(body)
    if found:
        return found[1]
    return _by_html(body) if re.search(r"(?i)<meta\s|<script", body) else None


def _by_front_matter(front: str, body: str) -> str | None:
    """`redirect_to` always redirects; a mere `redirect` may be anything where there is a text."""
    for key, target in _KEY.findall(front):
        always = key.lower().replace("-", "_").replace("_", "") == "redirectto"
        address = re.sub(r"\s+#.*", "", target).strip()
        if address.casefold() not in _NO_TARGET and (always or not body.strip()):
            return address
    return None


def _by_html(text: str) -> str | None:
    tree = _tree(text)
    if tree is None:
        return None
    words = _words(_seen_text(tree))
    if words > _FEW_WORDS:
        return None
    for target in _refreshes(tree):
        return target
    if words > _HARDLY_ANY:
        return None
    for script in tree.iter("script"):
        found = _LOCATION.search(script.text or "")
        if found:
            return found[1]
    return _by_canonical(tree, words)


def _refreshes(tree: lxml.html.HtmlElement) -> Iterator[str]:
    for meta in tree.iter("meta"):
        in_noscript = any(
            True for _ in meta.iterancestors("noscript")
        )  # for browsers without scripts: not the page's way
        found = _REFRESH.match(meta.get("content") or "")
        if (meta.get("http-equiv") or "").strip().lower() == "refresh" and found and not in_noscript:
            yield found[1].strip()


def _by_canonical(tree: lxml.html.HtmlElement, words: int) -> str | None:
    """A page of nothing, or of nothing but a link to the address that it calls its proper one."""
    named = [
        one.get("href") for one in tree.iter("link") if "canonical" in (one.get("rel") or "").lower().split()
    ]
    links = {one.get("href") for one in tree.iter("a") if one.get("href")}
    if not named or not named[0] or any(True for _ in tree.iter("script", "img", "form")):
        return None
    return str(named[0]) if (not words or links == {named[0]}) else None


def _tree(text: str) -> lxml.html.HtmlElement | None:
    text = re.sub(r"\A\s*<\?xml[^>]*\?>", "", text)
    try:
        return lxml.html.document_fromstring(
            text, parser=lxml.html.HTMLParser(no_network=True, huge_tree=False)
        )
    except (lxml.etree.ParserError, ValueError):  # empty, or only comments
        return None


def _seen_text(tree: lxml.html.HtmlElement) -> str:
    """What stands between the tags, without what no reader sees. Leaves the tree as it is."""
    pieces: list[str] = []
    for event, element in lxml.etree.iterwalk(tree, events=("start", "end", "comment")):
        if event == "start" and element.tag not in _UNSEEN:
            pieces.append(element.text or "")
        if event in ("end", "comment"):
            pieces.append(element.tail or "")
    return " ".join(pieces)


def _words(text: str) -> int:
    return len(_WORD.findall(text))
