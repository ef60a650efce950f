"""Markdown as its readers see it: on GitHub, and on the sites that generators make of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import dedent

from kb.evaluation.fidelity import tools
from kb.evaluation.fidelity.markup import CODE
from kb.evaluation.fidelity.texts import split_front_matter

_READER = "gfm+footnotes-emoji-tex_math_dollars-yaml_metadata_block"
"""pandoc's name for what GitHub shows, as far as it is text."""
_ERB = re.compile(r"<%\s*content_for\b.*?<%\s*end\s*%>|<%.*?%>", re.DOTALL)
"""Code, and what the site's layout shows elsewhere: its menus."""
_LIQUID = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{:[^{}\n]*\}", re.DOTALL)
_SITE_FIELDS = frozenset(("layout", "permalink"))
"""In front matter they say that Jekyll makes the page."""
_NOT_SHOWN = re.compile(r"(?<=^> )\[!\w+\]|(?<= )\{#[^{}\s]+\}[ \t]*$", re.MULTILINE)
"""The kind of a note on GitHub; the anchor that somebody gives a heading."""
_MODULES = re.compile(r"^(?:import|export)\s[^\n]*$|\{/\*.*?\*/\}", re.MULTILINE | re.DOTALL)
_COMPONENT = re.compile(r"^[ \t]*</?[A-Z][^\n<]*>[ \t]*$", re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]]*)\]\((?:https?:|/|#|\.)[^()\s]*\s*\)", re.IGNORECASE)


def markdown_as_html(text: str, *, path: str) -> tuple[str, str]:
    """Returns a page without its front matter, and what of it may be left out: its generator's syntax."""
    front, body = split_front_matter(text.replace("\r\n", "\n"))
    apart: list[str] = []
    for pattern in _syntax(front.keys(), path):
        apart += pattern.findall(body)
        body = pattern.sub(" ", body)
    if path.endswith(".mdx"):  # what stands within a component is indented, and no code
        body = "\n\n".join(dedent(part) for part in _COMPONENT.split(body))
    page = tools.pandoc(body.encode(), reader=_READER, suffix=".md").decode("utf-8", "replace")
    return f"<body>{_linked(page)}</body>", " ".join(apart)


def _syntax(fields: Iterable[str], path: str) -> Iterator[re.Pattern[str]]:
    if path.endswith(".erb"):
        yield _ERB
    if not _SITE_FIELDS.isdisjoint(fields):
        yield _LIQUID
    if path.endswith(".mdx"):
        yield _MODULES
    yield _NOT_SHOWN


def _linked(page: str) -> str:
    """Replaces links of Markdown that pandoc leaves as text, since HTML stands around them: generators read those."""
    parts = CODE.split(page)
    parts[::2] = [_LINK.sub(r"\1", part) for part in parts[::2]]
    return "".join(parts)
