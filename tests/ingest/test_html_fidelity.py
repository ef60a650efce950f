"""Documents made at random, as files, in Markdown and on websites, through parser and chunker: no word is lost, none is
added, their order stays, and every cell stands under its own header.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunking.chunks import chunk_page
from ingest.page import ParsedPage
from ingest.parsers.formats import parse_file
from kb.models import Page
from tests.fakes.web_pages import parsed_from_web

BASES = (
    "word",
    "Straße",
    "été",
    "تقرير",
    "דוח",
    "報告",
    "한국어",
    "R&D",
    "x<y",
    "a>b",
    "«mot»",
    "{{n}}",
    "{%v%}",
    "{:k}",
)
"""Of several scripts, with what HTML escapes and what generators would take for theirs. A number makes each unique."""
WORD = re.compile("(?:" + "|".join(map(re.escape, BASES)) + r")\d+")


@dataclass
class Document:
    """`words`: as a reader meets them. `tables`: for each, by row and
    column: the words of a cell and of its headers.
    """

    html: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    tables: list[list[list[tuple[str, frozenset[str]]]]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def word(self, base: str) -> str:
        word = f"{base}{next(self._numbers)}"
        self.words.append(word)
        return escape(word, quote=False)


Draw = Callable[[st.SearchStrategy], object]
few = st.integers(1, 4)
bases = st.sampled_from(BASES)


def prose(draw, document: Document, *, links: bool = True) -> str:
    pieces = []
    for _ in range(draw(st.integers(1, 5))):
        word = document.word(draw(bases))
        mark = draw(
            st.sampled_from(("", "", "b", "em", "kbd", "span", "code", *(["a href='/x'"] if links else [])))
        )
        pieces.append(f"<{mark}>{word}</{mark.split()[0]}>" if mark else word)
    return draw(st.sampled_from((" ", "\n", "<br>", " &nbsp;"))).join(pieces)


def listed(draw, document: Document, depth: int = 0) -> str:
    tag = draw(st.sampled_from(("ul", "ol")))
    items = []
    for _ in range(draw(few)):
        text = prose(draw, document)
        paragraph = draw(st.booleans())
        item = f"<p>{text}</p>" if paragraph else text
        if depth < 2 and draw(st.integers(0, 3)) == 0:
            item += listed(draw, document, depth + 1)
        items.append(f"<li>{item}</li>")
    return f"<{tag}>{''.join(items)}</{tag}>"


def code(draw, document: Document) -> str:
    lines = []
    for _ in range(draw(few)):
        indent = " " * draw(st.sampled_from((0, 2, 4)))
        lines.append(indent + " ".join(document.word(draw(bases)) for _ in range(draw(few))))
    if draw(st.booleans()):
        return "<pre><code>" + "\n".join(lines) + "</code></pre>"
    numbers = "\n".join(str(at + 1) for at in range(len(lines)))
    return (
        f'<table class="highlighttable"><tr><td class="linenos"><pre>{numbers}</pre></td>'
        f'<td class="code"><pre>{chr(10).join(lines)}</pre></td></tr></table>'
    )


def table(draw, document: Document) -> str:
    """Cells that tile a grid, under one or two rows of headers."""
    width, heads = draw(st.integers(2, 4)), draw(st.integers(1, 2))
    height = heads + draw(st.integers(1, 3))
    texts: list[list[str]] = [[""] * width for _ in range(height)]
    rows = []
    for top in range(height):
        cells = []
        for left in range(width):
            if texts[top][left]:
                continue
            free = next((at for at in range(left, width) if texts[top][at]), width) - left
            across = draw(st.integers(1, min(2, free)))
            down = draw(st.integers(1, min(2, (heads if top < heads else height) - top)))
            start = len(document.words)
            written = " ".join(document.word(draw(bases)) for _ in range(draw(st.integers(1, 2))))
            said = " ".join(document.words[start:])
            for row in range(top, top + down):
                texts[row][left : left + across] = [said] * across
            name = "th" if top < heads or (left == 0 and across < width and draw(st.booleans())) else "td"
            spans = (f" colspan={across}" if across > 1 else "") + (f' rowspan="{down}"' if down > 1 else "")
            inner = draw(st.sampled_from((written, f"<p>{written}</p>", f"\n {written}\n")))
            cells.append(f"<{name}{spans}>{inner}</{name}>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    headers = [frozenset(word for row in texts[:heads] for word in row[at].split()) for at in range(width)]
    document.tables.append([[(text, headers[at]) for at, text in enumerate(row)] for row in texts[heads:]])
    if draw(st.booleans()):
        return f"<table><thead>{''.join(rows[:heads])}</thead><tbody>{''.join(rows[heads:])}</tbody></table>"
    return f"<table>{''.join(rows)}</table>"


def block(draw, document: Document) -> str:
    match draw(st.integers(0, 8)):
        case 0:
            return f"<h2>{prose(draw, document)}</h2><p>{prose(draw, document)}</p>"
        case 1:
            return listed(draw, document)
        case 2:
            return code(draw, document)
        case 3 | 4:
            return table(draw, document)
        case 5:
            return f"<aside>{prose(draw, document, links=False)}</aside>"  # of links alone it is a menu
        case 6:
            return (
                f"<details><summary>{prose(draw, document)}</summary><p>{prose(draw, document)}</p></details>"
            )
        case 7:
            return f"<figure><figcaption>{prose(draw, document)}</figcaption></figure>"
        case _:
            return f"<p>{prose(draw, document)}</p>"


@st.composite
def documents(draw) -> Document:
    document = Document()
    for _ in range(draw(st.integers(1, 5))):
        document.html.append(f"<p>{prose(draw, document)}</p>" + block(draw, document))
    return document


def as_file(html: str) -> ParsedPage:
    return parse_file(f"<main><h1>Title</h1>{html}</main>".encode(), path="a.html")


def in_markdown(html: str) -> ParsedPage:
    return parse_file(f"# Title\n\n{html}\n".encode(), path="a.md")


def on_a_website(html: str) -> ParsedPage:
    page = f"<html><head><title>Title</title></head><body><nav>Menu</nav><main><h1>Title</h1>{html}</main></body></html>"
    return parsed_from_web(page, "a")


def check(document: Document, parsed: ParsedPage) -> None:
    page = Page(id="a:a", source="a", path="a", title="Title", url="https://acme.example/a")
    chunks = chunk_page(
        page, parsed, count_tokens=lambda text: len(text.split()) + len(text) // 40, max_tokens=48
    )
    text = unescape("\n\n".join("\n".join((*chunk.section, chunk.text)) for chunk in chunks))
    found = WORD.findall(text)

    assert set(found) == set(document.words)
    assert list(dict.fromkeys(word for word in found if word not in _in_tables(document))) == [
        word for word in document.words if word not in _in_tables(document)
    ]
    assert re.findall(r"[^\W\d_]+", re.sub(r"\]\([^)]*\)", "]", WORD.sub(" ", text))) == []
    _check_tables(document, parsed)


def _in_tables(document: Document) -> set[str]:
    """Rows of headers are read by column, so their order may differ."""
    cells = [cell for grid in document.tables for row in grid for cell in row]
    return {word for text, headers in cells for word in (*text.split(), *headers)}


def _check_tables(document: Document, parsed: ParsedPage) -> None:
    """A header over all columns of rows that have their own stands above the table, whose row of headers is empty."""
    blocks = [one for section in parsed.sections for one in section.blocks if one.kind == "table"]
    assert len(blocks) == len(document.tables)
    for grid, written in zip(document.tables, blocks, strict=True):
        headers = [set(WORD.findall(cell)) for cell in _cells(unescape(written.lead.split("\n")[-2]))]
        rows = [[" ".join(WORD.findall(cell)) for cell in _cells(unescape(row))] for row in written.parts]
        for row in grid:
            if len({text for text, _ in row}) == 1:  # a heading among the rows, which stands once
                continue
            for text, above in row:
                assert any(
                    cell == text and (headers[at] or not any(headers)) and headers[at] <= above
                    for line in rows
                    for at, cell in enumerate(line)
                ), (text, above, written.text)


def _cells(row: str) -> list[str]:
    return re.split(r"(?<!\\)\|", row)[1:-1]


@settings(max_examples=30, deadline=None)
@given(documents())
def test_a_file_says_in_its_chunks_what_it_says(document: Document) -> None:
    check(document, as_file("\n".join(document.html)))


@settings(max_examples=20, deadline=None)
@given(documents())
def test_html_in_markdown_says_in_its_chunks_what_it_says(document: Document) -> None:
    check(document, in_markdown("\n".join(document.html)))


@settings(max_examples=20, deadline=None)
@given(documents())
def test_a_website_says_in_its_chunks_what_it_says(document: Document) -> None:
    check(document, on_a_website("\n".join(document.html)))
