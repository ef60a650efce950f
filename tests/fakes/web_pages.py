"""A page of a website as a sync reads it, without the website."""

from __future__ import annotations

from yarl import URL

from ingest.page import ParsedPage
from ingest.parsers.formats import parse_file
from ingest.sources.web.client import WebResponse
from ingest.sources.web.document import read_document


def parsed_from_web(page: str, path: str) -> ParsedPage:
    """`page`: the HTML that https://acme.example/`path` answers with."""
    response = WebResponse(
        url=URL(f"https://acme.example/{path}"),
        status=200,
        content=page.encode(),
        media_type="text/html",
        charset="utf-8",
    )
    document = read_document(response)
    assert document is not None
    return parse_file(document.content, path=path.rpartition("/")[2], media_type=document.media_type)
