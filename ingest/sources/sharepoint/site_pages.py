"""A modern page of a site as HTML: what people read of its web parts, column by column.

https://learn.microsoft.com/en-us/graph/api/resources/canvaslayout. Text parts are HTML; of the
others (quick links, heroes, pictures) Graph tells the HTML and the texts that its own search reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from pydantic import Field

from ingest.errors import PageError
from ingest.sources.api_responses import Shape

UNKNOWN_PAGE = "it tells the page in a form that Footnote does not know"
_GUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


class _Pair(Shape):
    value: str | None = None


class _Processed(Shape):
    html: list[_Pair] | None = Field(default=None, alias="htmlStrings")
    texts: list[_Pair] | None = Field(default=None, alias="searchablePlainTexts")


class _Data(Shape):
    processed: _Processed | None = Field(default=None, alias="serverProcessedContent")


class _WebPart(Shape):
    inner_html: str | None = None
    data: _Data | None = None

    def html(self) -> Iterator[str]:
        if self.inner_html:
            yield self.inner_html
        processed = (self.data and self.data.processed) or _Processed()
        yield from (pair.value for pair in processed.html or () if pair.value)
        yield from (f"<p>{escape(pair.value)}</p>" for pair in processed.texts or () if pair.value)


class _Column(Shape):
    parts: list[_WebPart] = Field(default_factory=list, alias="webparts")


class _Section(Shape):
    columns: list[_Column] = Field(default_factory=list)


class _Layout(Shape):
    sections: list[_Section] | None = Field(default=None, alias="horizontalSections")
    aside: _Column | None = Field(default=None, alias="verticalSection")

    def parts(self) -> Iterator[_WebPart]:
        for section in self.sections or ():
            for column in section.columns:
                yield from column.parts
        if self.aside is not None:
            yield from self.aside.parts


class _State(Shape):
    level: str = ""
    version: str = Field(default="", alias="versionId")


class SitePage(Shape):
    title: str | None = None
    name: str = ""
    state: _State = Field(default_factory=_State, alias="publishingState")
    layout: _Layout | None = Field(default=None, alias="canvasLayout")

    def html(self) -> bytes:
        """
        Raises:
            PageError: what Graph gives is no published text.
        """
        if self.state.level != "published":
            never = self.state.version.startswith("0.")
            why = "it is a draft" if never else "its last edit is not published yet, and Graph gives no other"
            raise PageError(f"{why}: publish it", withdraw=never, left_out=never)
        if self.layout is None:
            raise PageError("Graph did not give the text of the page")
        title = escape(self.title or self.name.removesuffix(".aspx"))
        body = "\n".join(html for part in self.layout.parts() for html in part.html())
        return (
            f"<!doctype html><html><head><title>{title}</title></head>"
            f"<body><main><h1>{title}</h1>\n{body}\n</main></body></html>"
        ).encode()


def page_id(tag: str) -> str | None:
    """Returns the id under which a site knows the page whose file has this eTag ("{GUID},8")."""
    found = _GUID.search(tag)
    return found.group().lower() if found else None
