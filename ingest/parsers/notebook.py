"""Parses Jupyter notebooks: the Markdown cells as they are, code and its output in fences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ingest.errors import PageError
from ingest.page import ParsedPage
from ingest.parsers.markup.markdown import parse_markdown
from ingest.parsers.text import decoded
from kb.text.unicode import well_formed_value

_MAX_OUTPUT = 2000
"""Characters of an output that are kept: a longer one is a log or data."""


def parse_notebook(content: bytes, *, path: str) -> ParsedPage:
    """Parses a notebook.

    Raises:
        PageError: it is no notebook, or has no text.
    """
    try:
        book = well_formed_value(json.loads(decoded(content)))
    except (ValueError, RecursionError) as error:
        raise PageError("it is broken or cut off: no Jupyter notebook") from error
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        raise PageError("it is no Jupyter notebook of format 4: open it in Jupyter and save it again")
    language = _language(book)
    markdown = "\n\n".join(
        text for cell in cells if isinstance(cell, dict) for text in _texts(cell, language)
    )
    return parse_markdown(markdown.encode(), path=path)


def _texts(cell: Mapping[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source"))
    if cell.get("cell_type") != "code":
        yield source
        return
    if source.strip():
        yield _fenced(source, language)
    for output in cell.get("outputs") or ():
        text = _output(output) if isinstance(output, dict) else ""
        if text.strip():
            yield _fenced(text[:_MAX_OUTPUT], "text")


def _output(output: Mapping[str, Any]) -> str:
    data = output.get("data")
    return _joined(data.get("text/plain") if isinstance(data, dict) else output.get("text"))


def _joined(text: object) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else text if isinstance(text, str) else ""


def _fenced(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _language(book: Mapping[str, Any]) -> str:
    metadata = book.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) and name.isalnum() else "python"
