"""Serves cited pages at `/kb/<path>`, so that a citation opens where a page has no address of its own.

Pages are written by others: whatever mark-up stands in them is shown as text.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from urllib.parse import unquote

import yaml
from aiohttp import web
from markdown_it.rules_core import StateCore
from mdit_py_plugins.anchors import anchors_plugin

from bot.rendering.markdown import commonmark


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownSection:
    """`anchor`: the fragment that leads here. `headings`: level (2 and up) and text of those that begin here."""

    anchor: str | None = None
    headings: tuple[tuple[int, str], ...] = ()
    markdown: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownPage:
    """What was read from a page that is no Markdown."""

    title: str
    sections: tuple[ShownSection, ...]


Pages = Callable[[str], Awaitable[str | ShownPage | None]]
"""A page's path -> its Markdown or what was read from it, or None when there is no such page."""

PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' https: data:; base-uri 'none'; form-action 'none'"
)
_FRONT_MATTER = re.compile(r"\A---\r?\n(.*?)\r?\n---\r?\n", re.DOTALL)
_EXPLICIT = re.compile(r"\s*\{#([^}\s]+)[^}]*\}\s*$")
_PUNCTUATION = re.compile(r"[^\w\- ]")


class KbPages:
    def __init__(self, pages: Pages | None) -> None:
        self._pages = pages
        self._markdown = commonmark()
        self._plain = commonmark()
        """Adds no anchors of its own: a section's are those that its citations lead to."""
        self._markdown.core.ruler.push("explicit_anchors", _explicit_anchors)
        self._markdown.use(anchors_plugin, max_level=6, slug_func=slug)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        path = unquote(request.match_info["path"])
        page = await self._pages(path) if self._pages is not None else None
        if page is None:
            body = (
                "<h1>There is no such page</h1><p>It may have been moved or deleted. <a href='/'>Back to "
                "the playground</a></p>"
            )
            return _html("No such page", body, status=404)
        return self._read(page) if isinstance(page, ShownPage) else self._render(path, page)

    def _read(self, page: ShownPage) -> web.Response:
        seen: set[str] = set()
        parts = [
            f"<h1>{escape(page.title)}</h1>",
            "<p class='page-facts'>The text that was read from this file</p>",
        ]
        for section in page.sections:
            anchor = section.anchor if section.anchor not in seen else None
            seen.add(section.anchor or "")
            headings = "".join(
                f"<h{min(level, 6)}>{escape(text)}</h{min(level, 6)}>" for level, text in section.headings
            )
            name = f" id='{escape(anchor)}'" if anchor else ""
            parts.append(f"<section{name}>{headings}{self._plain.render(section.markdown)}</section>")
        return _html(page.title, "\n".join(parts))

    def _render(self, path: str, text: str) -> web.Response:
        found = _FRONT_MATTER.match(text)
        matter = _fields(found[1]) if found else {}
        markdown = text[found.end() :] if found else text
        title = matter.pop("title", "") or path
        parts = [f"<p class='page-facts'>{_facts(matter)}</p>"] if matter else []
        if not re.search(r"^# ", markdown, re.MULTILINE):
            parts.insert(0, f"<h1>{escape(title)}</h1>")
        parts.append(self._markdown.render(markdown))
        return _html(title, "\n".join(parts))


def _explicit_anchors(state: StateCore) -> None:
    """Gives `## Heading {#id}` that id, and hides the braces."""
    for opening, inline in pairwise(state.tokens):
        last = inline.children[-1] if opening.type == "heading_open" and inline.children else None
        found = _EXPLICIT.search(last.content) if last is not None and last.type == "text" else None
        if last is not None and found:
            opening.attrSet("id", found[1])
            last.content = last.content[: found.start()]


def slug(heading: str) -> str:
    """Returns GitHub's slug of a heading: lower case, no punctuation, hyphens for spaces."""
    return _PUNCTUATION.sub("", heading.strip().lower()).replace(" ", "-")


def _fields(front_matter: str) -> dict[str, str]:
    try:
        loaded = yaml.safe_load(front_matter)
    except yaml.YAMLError:
        return {}
    if not isinstance(loaded, dict):
        return {}
    return {str(name): str(value) for name, value in loaded.items() if value is not None}


def _facts(matter: dict[str, str]) -> str:
    facts = (f"{escape(name.replace('_', ' '))}: <b>{escape(value)}</b>" for name, value in matter.items())
    return " · ".join(facts)


def _html(title: str, body: str, *, status: int = 200) -> web.Response:
    document = (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><link rel='stylesheet' href='/static/pages.css'></head>"
        f"<body><main>{body}</main></body></html>"
    )
    headers = {"Content-Security-Policy": PAGE_POLICY}
    return web.Response(text=document, content_type="text/html", status=status, headers=headers)
