"""Documents made at random, through the parser and the chunker: no word is lost, none is added, their order is kept.

Every word of a document is another one, so that what is found can be compared
one by one. A chunk repeats the header of a table, the intro of a list and the
lines that an item is nested in: a word counts where it is first said.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.chunking.chunks import chunk_page
from ingest.page import ParsedPage
from ingest.parsers.formats import parse_file
from kb.models import Chunk, Page

WORD = re.compile(r"(?:[^\W\d_]|[\u0300-\u036f\u0591-\u05c7\u064b-\u0655\u0900-\u097f])+\d+")
"""Letters of whatever script and the number that makes the word the only one of its kind."""
SCRIPTS = [
    "word",
    "Straße",
    "naïve",
    "слово",
    "λέξη",
    "كلمة",
    "מילה",
    "شرکت",
    "शब्द",
    "单词",
    "単語",
    "단어",
    "คำ",
    "İş",
]
BRACES = [
    "{{{{ {} }}}}", "{{% {} %}}", "{{: {} }}", "{{#{}}}", "${{{{ secrets.{} }}}}", "{{{{< {} >}}}}", "<%= {} %>", "{{{}}}",
    "\\<{}>", "\\{{{}\\}}", "[{}]", "({})", "<{}-x>", "%{}%", "`{}`", "`{{{{ {} }}}}`", "**{}**", "*{}*", "~~{}~~", "${}$",
    "&lt;{}&gt;", "{} &amp; x", "{} --> ", "<b>{}</b>", "a<br>{}", "!{}!", ":{}:", "@{}", "#{}", "|{}", "[{}](https://x.example/a_(b))",
    "![{}](a.png)", "<kbd>{}</kbd>", "&nbsp;{}", "<!-- -->{}", "\\`{}\\`", "`` {} ` ``", "{{{{{}", "{}}}}}", "<{}", "&{}", "\\\\{}",
]  # fmt: skip
"""What a word may stand in. `{}` is the word's place."""


@dataclass
class Author:
    """Writes words that were not there before. `text`: chooses them."""

    draw: st.DrawFn
    words: list[str] = field(default_factory=list)

    def word(self) -> str:
        self.words.append(f"{self.draw(st.sampled_from(SCRIPTS))}{len(self.words)}")
        return self.words[-1]

    def phrase(self, *, most: int = 8, styled: bool = True) -> str:
        pieces = []
        for _ in range(self.draw(st.integers(1, most))):
            style = self.draw(st.sampled_from(BRACES)) if styled and self.draw(st.booleans()) else "{}"
            pieces.append(style.format(self.word()))
        return " ".join(pieces)

    def cell(self) -> str:
        return self.phrase(most=3).replace("|", "\\|")

    def paragraph(self) -> str:
        start = self.draw(st.sampled_from(["", "x ", "12 ", "— ", "“"]))
        return "\n".join(f"{start}{self.phrase()}" for _ in range(self.draw(st.integers(1, 3))))

    def heading(self) -> str:
        return f"{'#' * self.draw(st.integers(1, 4))} {self.phrase(most=4, styled=False)}"

    def fence(self) -> str:
        mark = self.draw(st.sampled_from(["```", "~~~", "````"]))
        lines = [
            f"{' ' * self.draw(st.integers(0, 6))}{self.phrase()}"
            for _ in range(self.draw(st.integers(1, 4)))
        ]
        return "\n".join([f"{mark}python", *lines, mark])

    def indented(self) -> str:
        return f"x {self.phrase()}\n\n    {self.phrase()}\n    {self.phrase()}"

    def items(self, depth: int = 0) -> str:
        lines = []
        mark = self.draw(st.sampled_from(["-", "*", "1.", "- [ ]"]))
        inner = " " * (3 if mark == "1." else 2)
        for _ in range(self.draw(st.integers(1, 3))):
            lines.append(f"{mark} {self.phrase()}")
            if depth < 3 and self.draw(st.integers(0, 2)) == 0:
                below = self.draw(
                    st.sampled_from([lambda: self.items(depth + 1), self.fence, self.paragraph])
                )()
                lines += ["", *(f"{inner}{line}".rstrip() for line in below.split("\n")), ""]
        return "\n".join(lines)

    def table(self) -> str:
        width = self.draw(st.integers(1, 4))
        rows = [[self.cell() for _ in range(width)] for _ in range(self.draw(st.integers(2, 5)))]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([lines[0], f"|{'---|' * width}", *lines[1:]])

    def html_table(self) -> str:
        width = self.draw(st.integers(1, 3))
        head = "".join(f"<th>{self.phrase(most=2, styled=False)}</th>" for _ in range(width))
        rows = [
            "".join(f"<td>{self.phrase(most=2, styled=False)}</td>" for _ in range(width)) for _ in range(3)
        ]
        body = "".join(f"<tr>{row}</tr>" for row in [head, *rows])
        return f"<table>{body}</table>"

    def quotation(self) -> str:
        below = self.draw(st.sampled_from([self.paragraph, self.items, self.fence]))()
        return "\n".join(f"> {line}".rstrip() for line in below.split("\n"))

    def folded(self) -> str:
        return (
            f"<details>\n<summary>{self.phrase(styled=False)}</summary>\n\n{self.paragraph()}\n\n</details>"
        )

    def aside(self) -> str:
        return f"<aside>\n{self.phrase(styled=False)}\n</aside>"

    def note(self) -> str:
        return f"[^note]: {self.phrase()}\n\n    {self.phrase()}"

    def admonition(self) -> str:
        return f":::note\n{self.phrase()}\n:::"

    def setext(self) -> str:
        return f"{self.phrase(most=3, styled=False)}\n==="

    def document(self) -> str:
        kinds: list[Callable[[], str]] = [
            self.paragraph, self.heading, self.fence, self.indented, self.items, self.table, self.html_table,
            self.quotation, self.folded, self.aside, self.note, self.admonition, self.setext,
        ]  # fmt: skip
        blocks = [self.draw(st.sampled_from(kinds))() for _ in range(self.draw(st.integers(1, 8)))]
        return "\n\n".join([*blocks, self.paragraph()])


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A page and its words in reading order."""
    author = Author(draw)
    return author.document(), author.words


def read_words(page: ParsedPage) -> list[str]:
    """In reading order, each where it is first said. A title that is no heading of the page is the file's name."""
    said: list[str] = []
    for section in page.sections:
        said += [*section.path, *(block.text for block in section.blocks)]
    return list(dict.fromkeys(WORD.findall("\n".join(said))))


def chunked(page: ParsedPage, max_tokens: int) -> list[Chunk]:
    told = Page(id="a", source="s", path="page.md", title="", url="u")
    return chunk_page(told, page, count_tokens=lambda text: len(text.split()), max_tokens=max_tokens)


@settings(
    max_examples=75, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(documents(), st.sampled_from([None, "text/markdown", "text/markdown; variant=starlight"]))
def test_the_parser_keeps_every_word_in_its_order(
    document: tuple[str, list[str]], media_type: str | None
) -> None:
    text, words = document

    page = parse_file(text.encode(), path="page.md", media_type=media_type)

    title = WORD.findall(page.title)
    assert [word for word in read_words(page) if word not in title] == [
        word for word in words if word not in title
    ]
    assert set(title) <= set(words)


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(documents(), st.integers(32, 90))
def test_chunks_hold_the_words_of_the_page_and_no_others(
    document: tuple[str, list[str]], max_tokens: int
) -> None:
    text, words = document
    page = parse_file(text.encode(), path="page.md")

    chunks = chunked(page, max_tokens)

    held = [word for chunk in chunks for word in WORD.findall(" ".join([*chunk.section, chunk.text]))]
    title = WORD.findall(page.title)
    assert [word for word in dict.fromkeys(held) if word not in title] == [
        word for word in words if word not in title
    ]
    assert all(len(chunk.embedded_text.split()) <= max_tokens for chunk in chunks)


@st.composite
def spanned_tables(draw: st.DrawFn) -> tuple[str, list[list[str]]]:
    """A table of HTML whose cells span rows and columns, and what stands in each of its squares, headers first."""
    width, height = draw(st.integers(2, 5)), draw(st.integers(1, 5))
    squares: dict[tuple[int, int], str] = {}
    rows = []
    for row in range(height):
        cells = []
        for column in range(width):
            if (row, column) in squares:
                continue
            free = next((at for at in range(column, width) if (row, at) in squares), width) - column
            across = draw(st.integers(1, min(free, width - 1)))
            down = draw(st.integers(1, height - row))
            word = f"{draw(st.sampled_from(SCRIPTS))}{len(squares)}"
            for r in range(row, row + down):
                for c in range(column, column + across):
                    squares[r, c] = word
            spans = f' colspan="{across}"' if across > 1 else ""
            spans += f" ROWSPAN={down}" if down > 1 else ""
            cells.append(f"<td{spans}>{word}</td>")
        rows.append(f"<tr>\n{''.join(cells)}\n</tr>")
    heads = [f"head{column}" for column in range(width)]
    head = "".join(f"<th>{one}</th>" for one in heads)
    # a row without a cell of its own says nothing and is not seen
    grid = [[squares[row, column] for column in range(width)] for row in range(height) if "<td" in rows[row]]
    return f"<table>\n<tr>{head}</tr>\n{''.join(rows)}</table>", [heads, *grid]


@settings(max_examples=75, deadline=None)
@given(spanned_tables())
def test_every_cell_of_a_table_with_spans_stands_under_its_own_headers(
    table: tuple[str, list[list[str]]],
) -> None:
    html, grid = table
    page = parse_file(f"Text.\n\n{html}\n\nMore.".encode(), path="page.md")

    (block,) = [block for block in page.sections[0].blocks if block.kind == "table"]
    rows = [line.strip("|").split("|") for line in block.text.split("\n")]
    assert [[cell.strip() for cell in row] for row in rows if "---" not in row[0]] == grid
