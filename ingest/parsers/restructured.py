"""Parses reStructuredText by docutils, keeping the words in Sphinx's roles and directives.

Reads nothing outside the text: no includes, no raw HTML, no configuration files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from docutils import nodes
from docutils.core import publish_parts
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en

from ingest.errors import PageError
from ingest.page import ParsedPage
from ingest.parsers.markup.webpage import parse_html
from ingest.parsers.text import decoded

_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "_disable_config": True,
    "syntax_highlight": "none",
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "initial_header_level": 1,
    "line_length_limit": 100_000,
}
_ROLES = """
abbr attr class command data dfn doc download envvar exc file func guilabel index kbd keyword mailheader makevar manpage
menuselection meth mimetype mod numref obj option program ref regexp samp term token type
"""
_WITH_BODY = (
    "only tabs tab tab-set tab-item versionadded versionchanged deprecated seealso todo dropdown card "
    "grid grid-item"
)
_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+([\w:+.-]+?)::(?:[ \t]|$)", re.MULTILINE)
_DROPPED = (
    "toctree index literalinclude automodule autoclass autofunction currentmodule module highlight "
    "contents graphviz"
)


def parse_rst(content: bytes, *, path: str) -> ParsedPage:
    """Parses a page.

    Raises:
        PageError: it is not text, or has none.
    """
    _register_sphinx()
    text = decoded(content)
    _register_others(text)
    try:
        parts = publish_parts(text, writer="html5", settings_overrides=dict(_SETTINGS))
    except (AttributeError, ValueError, KeyError, TypeError, AssertionError, RecursionError) as error:
        raise PageError("it is not valid reStructuredText: docutils cannot read it") from error
    return parse_html(f"<main>{parts['html_body']}</main>", path=path)


class _AnyOption(dict[str, Any]):
    """Accepts any option of a directive: options control the layout."""

    def __missing__(self, name: str) -> Any:
        return directives.unchanged


class _WithBody(Directive):  # type: ignore[misc]
    """A directive whose argument and content a reader sees."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = _AnyOption({"class": directives.unchanged})

    def run(self) -> Sequence[Any]:
        box = nodes.container()
        if self.arguments:
            prefix = f"{self.name.capitalize()} " if "version" in self.name else ""
            words = prefix + self.arguments[0]
            box += nodes.paragraph("", "", nodes.strong(words, words))
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]


class _Dropped(_WithBody):
    """A directive that names other files or controls the layout."""

    def run(self) -> Sequence[Any]:
        return []


def _of_role(_name: str, rawtext: str, text: str, *_: Any, **__: Any) -> tuple[list[Any], list[Any]]:
    """Shows a role's own words: `:ref:`carry over <carry>`` reads "carry over"."""
    shown = text.rpartition(" <")[0] if text.endswith(">") and " <" in text else text.lstrip("~!")
    return [nodes.inline(rawtext, shown)], []


def _register_others(text: str) -> None:
    """Keeps the words in directives of any extension of Sphinx, which docutils drops."""
    registered = directives._directive_registry.keys() | directives._directives.keys() | en.directives.keys()
    for name in {found.lower() for found in _DIRECTIVE.findall(text)} - registered:
        directives.register_directive(name, _WithBody)


@cache
def _register_sphinx() -> None:
    for name in _ROLES.split():
        roles.register_local_role(name, _of_role)
        roles.register_local_role(f"py:{name}", _of_role)
    for name in _WITH_BODY.split():
        directives.register_directive(name, _WithBody)
    for name in _DROPPED.split():
        directives.register_directive(name, _Dropped)
