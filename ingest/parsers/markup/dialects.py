"""Tells which site generator a Markdown page is written for, and what that generator adds to Markdown.

The page's name tells it (`.mdx`, `.md.erb`), its folder's configuration (`ingest.sources.generators` finds it and
passes it on as the variant of the media type, as in RFC 7763: "text/markdown; variant=jekyll"), or its front matter.
Where none of them does, `{{ }}`, `{% %}`, `{: }` and their like are words of the page: it may well be about them, and
every reader of it sees them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Syntax = Literal[
    "erb",  # <% %>
    "liquid",  # {{ }}, {% %}, {% raw %}: Liquid, Nunjucks, Jinja, Tera
    "tags",  # {% %} alone
    "interpolations",  # {{ }} alone
    "shortcodes",  # {{< >}}, {{% %}}
    "includes",  # {{#include }}
    "kramdown",  # {: }, {::comment}
    "attributes",  # {#id .class key=value} behind what it belongs to
    "anchors",  # {#id} behind a heading
    "jsx",  # import, export, <Component>, {/* */}
    "containers",  # :::note
    "admonitions",  # !!! note, ??? note, === "Tab"
    "alerts",  # > [!NOTE]
]

_SYNTAXES: Mapping[str, frozenset[Syntax]] = {
    "jekyll": frozenset({"liquid", "kramdown", "anchors", "alerts"}),
    "jekyll-collection": frozenset({"liquid", "kramdown", "anchors", "alerts"}),
    "eleventy": frozenset({"liquid", "alerts"}),
    "hugo": frozenset({"shortcodes", "attributes", "anchors", "alerts"}),
    "zola": frozenset({"liquid", "anchors", "alerts"}),
    "gitbook": frozenset({"tags", "anchors", "alerts"}),
    "honkit": frozenset({"liquid", "anchors", "alerts"}),
    "mdbook": frozenset({"includes", "anchors", "alerts"}),
    "mkdocs": frozenset({"admonitions", "attributes", "anchors", "alerts"}),
    "mkdocs-macros": frozenset({"admonitions", "attributes", "anchors", "alerts", "liquid"}),
    "docusaurus": frozenset({"jsx", "containers", "anchors", "alerts"}),
    "starlight": frozenset({"containers", "alerts"}),
    "vitepress": frozenset({"interpolations", "containers", "anchors", "alerts"}),
    "quarto": frozenset({"shortcodes", "attributes", "anchors", "containers", "alerts"}),
    "myst": frozenset({"containers", "anchors", "alerts"}),
    "mdx": frozenset({"jsx", "containers", "anchors", "alerts"}),
    "erb": frozenset({"erb", "anchors", "alerts"}),
    "plain": frozenset({"alerts"}),
}
_FENCED_ONLY = frozenset({"jekyll-collection"})
"""Dialects that only a folder's name tells, and that hold only for pages with front matter."""
_BY_FIELD = (
    (re.compile(r"^(?:sidebar_position|sidebar_label|pagination_(?:next|prev))[ \t]*:", re.MULTILINE), "docusaurus"),
    (re.compile(r"^(?:layout|permalink|nav_order|has_children)[ \t]*:", re.MULTILINE), "jekyll"),
    (re.compile(r"\A\s*\+\+\+|^(?:linkTitle|archetype)[ \t]*[:=]", re.MULTILINE), "hugo"),
)  # fmt: skip
"""Fields of front matter that only one generator of Markdown pages has."""
_NO_LIQUID = re.compile(r"^render_with_liquid[ \t]*:[ \t]*[\"']?false\b", re.MULTILINE | re.IGNORECASE)
_VARIANT = re.compile(r";\s*variant\s*=\s*\"?([\w.+-]+)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """A generator's syntax.

    Args:
        syntaxes: read as the generator's, not as words.
        own_anchors: an unescaped `{#id}` at a heading's end was put there by the source's own conversion.
        of_file: the page is as its author wrote it, so its front matter may tell the generator.
    """

    name: str = ""
    syntaxes: frozenset[Syntax] = frozenset()
    own_anchors: bool = False
    of_file: bool = False

    def has(self, *syntaxes: Syntax) -> bool:
        return not self.syntaxes.isdisjoint(syntaxes)

    @property
    def anchored(self) -> bool:
        """Whether `{#id}` at a heading's end is its anchor."""
        return self.own_anchors or self.has("anchors")

    def refined_by(self, head: str) -> Dialect:
        """Refines the dialect by the page's front matter as written (`head`; empty where there is none)."""
        if not self.of_file:
            return self
        if self.name in _FENCED_ONLY and not head:
            return _of_file("plain")
        dialect = self
        if self.name == "plain":
            name = next((name for pattern, name in _BY_FIELD if pattern.search(head)), "plain")
            dialect = _of_file(name)
        if _NO_LIQUID.search(head):
            dialect = replace(dialect, syntaxes=dialect.syntaxes - {"liquid"})
        return dialect


NO_DIALECT = Dialect()
"""Text without any generator's syntax: every brace is the author's."""
CONVERTED = Dialect(own_anchors=True)
"""Markdown that a source made of a vendor's page. Its headings bring their anchors."""


def dialect_of(path: str, media_type: str | None = None) -> Dialect:
    """Chooses by a page's name and its source's media type for it (None: it is a file as its author wrote it)."""
    if media_type is not None:
        variant = _VARIANT.search(media_type)
        return _of_file(variant[1].lower()) if variant and variant[1].lower() in _SYNTAXES else CONVERTED
    name = path.lower()
    if name.endswith(".erb"):
        return _of_file("erb")
    return _of_file("mdx" if name.endswith(".mdx") else "plain")


def _of_file(name: str) -> Dialect:
    return Dialect(name=name, syntaxes=_SYNTAXES[name], of_file=True)
