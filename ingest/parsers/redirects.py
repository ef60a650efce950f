"""Recognizes pages that only redirect to another one, and pages whose text a script assembles in the browser.

Generators leave redirects at a page's old address (Jekyll's `redirect_to`, Hugo's `aliases`, meta refreshes, a script
that sets the location). They have no text of their own: their target has it. A page of the second kind is an empty
frame and a script.
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
"""Maximum words of a stub beside its link: "You will be redirected. If you are not, follow this link"."""
_HARDLY_ANY = 15
"""Maximum words of a stub that is known by a script or by `canonical`, which full pages have too."""
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
    """Returns the target of a page that only redirects, as written (a path, a URL); None: it is a page of its own."""
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
    return len(content) <= _LARGEST and any(word in content.lower() for word in _MAY_REDIRECT)


def needs_javascript(content: bytes) -> bool:
    """Whether an HTML page is a frame that a script fills: without the script it says nothing."""
    tree = _tree(content.decode("utf-8", "replace")) if len(content) <= 10 * _LARGEST else None
    if tree is None or not any(True for _ in tree.iter("script")):
        return False
    without_script = " ".join(str(element.text_content()) for element in tree.iter("noscript"))
    visible = _visible_text(tree)
    if _words(visible) > _FEW_WORDS or _words(without_script) > 2 * _FEW_WORDS:
        return False
    if "javascript" in visible.casefold() or not _words(visible) or _LOADING.fullmatch(visible.strip()):
        return True
    has_empty_root = any(
        (element.get("id") or "").casefold() in _ROOTS and not _words(str(element.text_content()))
        for element in tree.iter("div", "main")
    )
    return has_empty_root or ("javascript" in without_script.casefold() and _words(visible) <= _HARDLY_ANY)


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
    """Finds a target in front matter. `redirect_to` always redirects; `redirect` only on a page without a text."""
    for key, target in _KEY.findall(front):
        always = re.sub(r"[-_]", "", key.lower()) == "redirectto"
        address = re.sub(r"\s+#.*", "", target).strip()
        if address.casefold() not in _NO_TARGET and (always or not body.strip()):
            return address
    return None


def _by_html(text: str) -> str | None:
    tree = _tree(text)
    if tree is None:
        return None
    words = _words(_visible_text(tree))
    if words > _FEW_WORDS:
        return None
    if target := next(_refreshes(tree), None):
        return target
    if words > _HARDLY_ANY:
        return None
    for script in tree.iter("script"):
        found = _LOCATION.search(script.text or "")
        if found:
            return found[1]
    return _by_canonical(tree, words)


def _refreshes(tree: lxml.html.HtmlElement) -> Iterator[str]:
    """Yields the targets of `<meta>`, but of those for browsers without scripts."""
    for meta in tree.iter("meta"):
        found = _REFRESH.match(meta.get("content") or "")
        if (
            found
            and (meta.get("http-equiv") or "").strip().lower() == "refresh"
            and next(meta.iterancestors("noscript"), None) is None
        ):
            yield found[1].strip()


def _by_canonical(tree: lxml.html.HtmlElement, words: int) -> str | None:
    """Recognizes a page without text, or with nothing but a link to its canonical address."""
    canonical = next((link.get("href") for link in tree.iter("link") if _is_canonical(link)), None)
    links = {link.get("href") for link in tree.iter("a") if link.get("href")}
    if not canonical or next(tree.iter("script", "img", "form"), None) is not None:
        return None
    return str(canonical) if (not words or links == {canonical}) else None


def _is_canonical(link: lxml.html.HtmlElement) -> bool:
    return "canonical" in (link.get("rel") or "").lower().split()


def _tree(text: str) -> lxml.html.HtmlElement | None:
    text = re.sub(r"\A\s*<\?xml[^>]*\?>", "", text)
    try:
        return lxml.html.document_fromstring(
            text, parser=lxml.html.HTMLParser(no_network=True, huge_tree=False)
        )
    except (lxml.etree.ParserError, ValueError):  # empty, or only comments
        return None


def _visible_text(tree: lxml.html.HtmlElement) -> str:
    """Returns the text that a reader sees. Leaves the tree as it is."""
    pieces: list[str] = []
    for event, element in lxml.etree.iterwalk(tree, events=("start", "end", "comment")):
        if event == "start" and element.tag not in _UNSEEN:
            pieces.append(element.text or "")
        if event in ("end", "comment"):
            pieces.append(element.tail or "")
    return " ".join(pieces)


def _words(text: str) -> int:
    return len(_WORD.findall(text))
