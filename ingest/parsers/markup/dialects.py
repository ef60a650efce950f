"""Which site generator a Markdown page is written for, and what that generator adds to Markdown.

Known by the page's name (`.mdx`, `.md.erb`), by its folder's configuration (`ingest.sources.generators` looks for
it and says so as the variant of the media type, as RFC 7763 has it: "text/markdown; variant=jekyll"), or by its front
matter. Where none of them tells, `{{ }}`, `{% %}`, `{: }` and their like are words of the page: it may well be about
them, and every reader of it sees them.
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
"""Known by the name of their folder alone, and only by pages that have front matter."""
_BY_FIELD = (
    (re.compile(r"^(?:sidebar_position|sidebar_label|pagination_(?:next|prev))[ \t]*:", re.MULTILINE), "docusaurus"),
    (re.compile(r"^(?:layout|permalink|nav_order|has_children)[ \t]*:", re.MULTILINE), "jekyll"),
    (re.compile(r"\A\s*\+\+\+|^(?:linkTitle|archetype)[ \t]*[:=]", re.MULTILINE), "hugo"),
)  # fmt: skip
"""Fields of front matter that one generator alone has, as far as Markdown goes."""
_NO_LIQUID = re.compile(r"^render_with_liquid[ \t]*:[ \t]*[\"']?false\b", re.MULTILINE | re.IGNORECASE)
_VARIANT = re.compile(r";\s*variant\s*=\s*\"?([\w.+-]+)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """`syntaxes`: what is to be read as the generator's, not as words.

    `own_anchors`: an unescaped `{#id}` at a heading's end was put there by the source's own conversion. `of_file`: the
    page is as its author wrote it, so its front matter may tell the generator.
    """

    name: str = ""
    syntaxes: frozenset[Syntax] = frozenset()
    own_anchors: bool = False
    of_file: bool = False

    def has(self, *syntaxes: Syntax) -> bool:
        return not self.syntaxes.isdisjoint(syntaxes)

    @property
    def anchored(self) -> bool:
        """Whether `{#id}` at a heading's end is its address."""
        return self.own_anchors or self.has("anchors")

    def told_by(self, head: str) -> Dialect:
        """The dialect once the page's front matter is known. `head`: it as written, empty where there is none."""
        if not self.of_file:
            return self
        told = self
        if self.name == "plain":
            name = next((name for pattern, name in _BY_FIELD if pattern.search(head)), None)
            told = _of_file(name) if name else self
        if told.name in _FENCED_ONLY and not head:
            return _of_file("plain")
        if _NO_LIQUID.search(head):
            told = replace(told, syntaxes=told.syntaxes - {"liquid"})
        return told


NO_DIALECT = Dialect()
"""Text that no generator has touched: every brace is the author's."""
CONVERTED = Dialect(own_anchors=True)
"""What a source made of a vendor's page. It brings the anchors of its headings along."""


def dialect_of(path: str, media_type: str | None = None) -> Dialect:
    """Chooses by a page's name and the media type that its source gives it (None: it is a file, taken as it is)."""
    if media_type is not None:
        variant = _VARIANT.search(media_type)
        return _of_file(variant[1].lower()) if variant and variant[1].lower() in _SYNTAXES else CONVERTED
    name = path.lower()
    if name.endswith(".erb"):
        return _of_file("erb")
    return _of_file("mdx" if name.endswith(".mdx") else "plain")


def _of_file(name: str) -> Dialect:
    return Dialect(name=name, syntaxes=_SYNTAXES[name], of_file=True)
