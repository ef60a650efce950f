"""Finds the readers of a document outside its text: in its properties, and in what its parser drops."""

from __future__ import annotations

import re
from dataclasses import replace

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.front_matter.page_fields import may_have_front_matter, split_front_matter
from ingest.front_matter.properties import limited_by, twice_named
from ingest.front_matter.unread import refuse_unread_limits
from ingest.page import ParsedPage
from ingest.parsers.markup.html_properties import html_properties
from ingest.parsers.properties import Pairs, properties_of
from ingest.parsers.text import decoded

_SCRIPTS = re.compile(r"<(script|style)\b(?:[^<]|<(?!\1\b|/\1\s*>))*+</\1\s*>", re.IGNORECASE)
"""Stops where another one begins, or a page of a million beginnings would be read a million times."""
_TABLES = frozenset({"csv", "tsv"})
"""Formats whose parser takes front matter for rows."""
_TOP = 1_000
"""Characters that tell whether a page may begin with front matter."""


def limited(page: ParsedPage, content: bytes, kind: str, *, looked_through: bool) -> ParsedPage:
    """Restricts a page to the readers whom its properties name. `looked_through`: text of the file that is not in the
    page, such as a comment, may name readers too.

    Raises:
        PageError: it has readers of its own that nobody would keep it to.
    """
    front = page.front
    if kind in _TABLES:
        above = _above(decoded(content))
        front = replace(front, audience=above.audience, for_everyone=above.for_everyone)
    page = replace(page, front=_limited_by(properties_of(content, kind), front))
    if page.front.audience is None and not page.front.for_everyone:
        refuse_unread_limits(page.as_markdown(), code=False)
        if looked_through:
            refuse_unread_limits(_SCRIPTS.sub("", decoded(content)), code=False)
    return page


def readers_of_html(text: str) -> tuple[str, ...] | None:
    """Returns the channels and groups of a page of HTML that another parser reads, as `limited` finds them.

    Raises:
        PageError: it has readers of its own that nobody would keep it to.
    """
    front = _limited_by(list(html_properties(text)), _above(text))
    if front.audience is None and not front.for_everyone:
        refuse_unread_limits(_SCRIPTS.sub("", text), code=False)
    return front.audience


def _above(text: str) -> FrontMatter:
    """Reads the front matter that a generator left above its page. It is in force, though readers see it."""
    try:
        return split_front_matter(text)[0] if may_have_front_matter(text[:_TOP].encode()) else FrontMatter()
    except PageError as error:
        if error.left_out:
            return FrontMatter()
        raise


def _limited_by(properties: Pairs, front: FrontMatter) -> FrontMatter:
    twice = twice_named(name for name, _ in properties)
    return limited_by(_named(properties), front, called="properties", twice=twice)


def _named(properties: Pairs) -> dict[str, object]:
    """Collects properties by name; joins lists of one name."""
    named: dict[str, object] = {}
    for name, value in properties:
        before = named.get(name)
        named[name] = [*before, *value] if isinstance(before, list) and isinstance(value, list) else value
    return named
