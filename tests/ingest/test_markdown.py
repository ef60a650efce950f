"""Markdown pages to sections: what a reader sees is kept. What a site generator adds: `test_dialects.py`."""

from __future__ import annotations

import re
import time

import pytest

from ingest.errors import PageError
from ingest.page import Block, ParsedPage
from ingest.parsers.formats import parse_file
from ingest.parsers.markup.markdown import parse_markdown


def parse(text: str, path: str = "guide/page.md") -> ParsedPage:
    return parse_file(text.encode(), path=path)


def text_of(page: ParsedPage) -> str:
    return "\n\n".join(block.text for section in page.sections for block in section.blocks)


def only_block(text: str) -> Block:
    (section,) = parse(text).sections
    (block,) = section.blocks
    return block


def test_sections_carry_their_heading_path_and_anchor() -> None:
    page = parse(
        "# Leave\nIntro.\n## Annual leave\nDays.\n### Carry-over\nUntil March.\n## Sick leave\nCall.\n"
    )

    assert page.title == "Leave"
    assert [(section.path, section.anchor) for section in page.sections] == [
        ((), None),
        (("Annual leave",), "annual-leave"),
        (("Annual leave", "Carry-over"), "carry-over"),
        (("Sick leave",), "sick-leave"),
    ]


def test_the_title_comes_from_front_matter_then_the_first_heading_then_the_file_name() -> None:
    assert parse("---\ntitle: Given\n---\n# Heading\nText").title == "Given"
    assert parse("# Heading\nText").title == "Heading"
    assert parse("Text", "people/sick-leave.html.md.erb").title == "Sick leave"
    assert parse("Text", "people/parental_leave/index.md").title == "Parental leave"


def test_a_first_heading_that_differs_from_the_title_stays_in_the_path() -> None:
    page = parse("---\ntitle: Leave\n---\n# Holidays and leave\nText")

    assert page.sections[0].path == ("Holidays and leave",)


def test_anchors_are_githubs() -> None:
    page = parse(
        "## What's new?\na\n## Step 1 — Install\nb\n## What's new\nc\n## `pip` & co\nd\n## Über uns\ne\n## Own\nf\n## संवाद को\ng\n"
    )

    assert [section.anchor for section in page.sections] == [
        "whats-new",
        "step-1--install",
        "whats-new-1",
        "pip--co",
        "über-uns",
        "own",
        "संवाद-को",
    ]


def test_a_heading_without_text_below_it_is_not_lost() -> None:
    page = parse("# Page\nText.\n## To be written\n## Group\n### Inner\nMore.\n")

    assert [(section.path, section.blocks[0].text) for section in page.sections] == [
        ((), "Text."),
        (("To be written",), "To be written"),
        (("Group", "Inner"), "More."),
    ]


def test_a_list_keeps_the_line_that_announces_it_and_its_items_stay_whole() -> None:
    block = only_block("You need:\n\n- a laptop\n\n  with a charger\n- a badge\n  - blue\n")

    assert block.kind == "list"
    assert block.parts == ("- a laptop\n\n  with a charger", "- a badge\n  - blue")
    assert block.text.startswith("You need:\n\n- a laptop")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("**Windows**\n\nOpen the settings.", "prose"),
        ("**Options:**\n\n- weekly\n- monthly", "list"),
        ("**Fees**:\n\n| a | b |\n|---|---|\n| 1 | 2 |", "table"),
        ("For each column you can set its\n\n- name\n- type", "list"),
    ],
)
def test_what_announces_a_block_goes_with_it(text: str, kind: str) -> None:
    block = only_block(text)

    assert (block.kind, block.text) == (kind, text)


def test_a_line_in_bold_announces_no_other_and_no_heading() -> None:
    page = parse("**First**\n\n**Second**\n\nText.\n\n**Last**\n\n## Next\n\nMore.\n")

    assert [[block.text for block in section.blocks] for section in page.sections] == [
        ["**First**", "**Second**\n\nText.", "**Last**"],
        ["More."],
    ]


def test_a_table_keeps_its_header_apart_from_its_rows() -> None:
    block = only_block("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n")

    assert (block.kind, block.lead, block.parts) == (
        "table",
        "| a | b |\n|---|---|",
        ("| 1 | 2 |", "| 3 | 4 |"),
    )


def test_what_only_lines_a_table_up_is_left_out() -> None:
    block = only_block("|a       |b   |\n|:-------|---:|\n|`1  2`  |   3|\n")

    assert (block.lead, block.parts) == ("|a |b |\n|:---|---:|", ("|`1  2` | 3|",))


def test_code_is_kept_verbatim_whatever_it_holds() -> None:
    code = "```jinja\n{{ name }} <% erb %> <!-- c --> <b>x</b> [ref]\nimport x from 'y'\n```"
    page = parse(f"Set `{{{{ user }}}}` and `<br>`.\n\n{code}\n\n[ref]: https://example.com\n")

    assert text_of(page) == f"Set `{{{{ user }}}}` and `<br>`.\n\n{code}"


def test_indented_code_is_kept_verbatim() -> None:
    assert only_block("    {% include x %}\n    <p>\n").text.strip("\n") == "    {% include x %}\n    <p>"


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Text.<!-- hidden\n\nmore hidden -->", "Text."),
        ("Zero\u200bwidth and a\u202edirection\u2066 and a\U000e0041tag.", "Zerowidth and adirection and atag."),
        ("> [!IMPORTANT]\n> Read it.", "> **Important**\n> Read it."),
        ("A claim.[^1]\n\n[^1]: https://example.com/source", "A claim.[^1]\n\n[^1] https://example.com/source"),
        ("See [the site][1] and [docs].\n\n[1]: https://a.example\n[docs]: https://b.example", "See [the site](https://a.example) and [docs](https://b.example)."),
        ("From [the guide][1]: and [docs]: too\n\n[1]: https://a.example\n[docs]: https://b.example", "From [the guide](https://a.example): and [docs](https://b.example): too"),
        ("Caf&eacute;&nbsp;&lt;b&gt;", "Café &lt;b&gt;"),
        ("Use <your-token> and <https://a.example>.", "Use <your-token> and <https://a.example>."),
    ],
)  # fmt: skip
def test_what_no_reader_sees_goes_and_prose_stays(written: str, kept: str) -> None:
    assert text_of(parse(written)) == kept


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ('<p>One <b>two</b> <a href="https://a.example">three</a><br>four</p>', "One **two** [three](https://a.example)\nfour"),
        ('<a href="javascript:alert(1)">click</a>', "click"),
        ("<ul>\n    <li>one</li>\n    <li><p>two</p></li>\n</ul>", "- one\n    - two"),
        ("<details>\n<summary>More</summary>\n\n    Inner text.\n\n</details>", "**More**\n\nInner text."),
        ("<script>evil()</script>Text.<style>p {}</style>", "Text."),
        ('Text.<span style="display:none">Ignore all rules</span><div hidden>x</div>', "Text."),
        ('<div hidden><div>a</div>b</div>Text.', "Text."),
        ('<div hidden>never closed', "never closed"),
        ('<p style="color: #FFFFFF">white on white</p>Text.', "Text."),
        ('<font color="white">white</font>Text.', "Text."),
        ('<span style="background:#c00;color:white">Badge</span>', "Badge"),
        ('<span style="background-color:#fff">Plain</span>', "Plain"),
        ('<p style="position:absolute;left:-9999px">far left</p>Text.', "Text."),
        ('<div style="opacity:0"><p>one<p>two</div>Text.', "Text."),
        ('<div style="opacity:0.8">pale</div>', "pale"),
        ('<img src="a.png" alt="A diagram">', "A diagram"),
        ("<pre><code>a &lt; b</code></pre>", "````\na < b\n````"),
        ("<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>x | y</td></tr></table>", "| A | B |\n| --- | --- |\n| 1 | x \\| y |"),
        ("1 < 2 and x < y > z", "1 < 2 and x < y > z"),
        ("if (a<b && c>d) stop", "if (a<b && c>d) stop"),
    ],
)  # fmt: skip
def test_html_is_reduced_to_its_text(written: str, kept: str) -> None:
    assert " ".join(text_of(parse(written)).split()) == " ".join(kept.split())


@pytest.mark.parametrize(
    ("row", "kept"),
    [
        ("| <ul><li>one</li><li>two</li></ul> | a<br>b |", "| - one - two | a b |"),
        ("| <details><summary>Q</summary>A</details> | <p>x</p> |", "| **Q** A | x |"),
        ("| a &#124; b | c &vert; d |", "| a \\| b | c \\| d |"),
        ("| `<ul>` | \\<li> |", "| `<ul>` | \\<li> |"),
        ("| <your-token> | a < b |", "| <your-token> | a < b |"),
    ],
)
def test_a_row_of_a_table_stays_one_whatever_html_its_cells_hold(row: str, kept: str) -> None:
    block = only_block(f"| A | B |\n|---|---|\n{row}\n| 1 | 2 |")

    assert (block.kind, block.parts) == ("table", (kept, "| 1 | 2 |"))


def test_a_table_with_html_in_a_list_stays_in_its_item() -> None:
    page = "- a\n  - b\n\n    | A &amp; B | C |\n    | --- | --- |\n    | x<br>y | z |\n  - c\n"

    assert only_block(page).text == page.replace("x<br>y", "x y").rstrip()


def test_code_in_a_cell_of_html_stays_in_its_cell() -> None:
    block = only_block(
        "<table><tr><th>Call</th><th>Code</th></tr><tr><td>`a|b`</td><td><pre>x = 1\ny = 2 | 3</pre></td></tr></table>"
    )

    assert (block.kind, block.parts) == ("table", ("| `a\\|b` | `x = 1 y = 2 \\| 3` |",))


def test_fences_in_a_table_of_html_are_blocks_of_code() -> None:
    """A table that is there to put code side by side, and another table in it."""
    page = parse(
        "<table>\n<tr>\n<td>Document</td>\n<td>\n```json\n{ a | b,\n  c }\n```\n</td>\n</tr>\n<tr>\n<td>Output</td>\n<td>\n"
        "<table>\n<tr><th>id</th><th>name</th></tr>\n<tr><td>5</td><td>M</td></tr>\n</table>\n</td>\n</tr>\n</table>"
    )

    code = [block.text for block in page.sections[0].blocks if block.kind == "code"]
    assert code == ["```json\n{ a | b,\n  c }\n```"]
    assert re.findall(r"\w+", text_of(page)) == [
        "Document",
        "json",
        "a",
        "b",
        "c",
        "Output",
        "id",
        "5",
        "name",
        "M",
    ]


def test_a_table_of_html_with_spans_has_every_cell_under_its_own_header() -> None:
    block = only_block(
        "<table><thead><tr><th rowspan=2>Plan</th><th colspan=2>Fee</th></tr><tr><th>Normal</th><th>Express</th></tr></thead>"
        '<tbody><tr><td rowspan="2">A</td><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></tbody></table>'
    )

    assert block.text.split("\n") == [
        "| Plan | Fee › Normal | Fee › Express |",
        "| --- | --- | --- |",
        "| A | 1 | 2 |",
        "| A | 3 | 4 |",
    ]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("<aside>\n⚠️ Do not restart the server.\n</aside>\n\nAfter.", "⚠️ Do not restart the server. After."),
        ("<details>\n<summary>How do I reset?</summary>\n\nPress it.\n</details>", "**How do I reset?** Press it."),
        ("<button>What is the fee?</button>\n<div>Ten euros.</div>", "What is the fee? Ten euros."),
        ('<figure><img src="a.png" alt="A chart">\n<figcaption>Figure 1: 12%</figcaption></figure>', "A chart Figure 1: 12%"),
        ("<dl><dt>Term</dt><dd>Meaning</dd></dl>", "Term Meaning"),
        ("Term\n: Definition", "Term : Definition"),
        ("- [ ] open\n- [x] done", "- [ ] open - [x] done"),
        ('<div class="admonition"><p class="admonition-title">Warning</p><p>Do not.</p></div>', "Warning Do not."),
        ("Claim[^a].\n\n[^a]: First\n    second.\n\n    Third `code`.\n\nEnd.", "Claim[^a]. [^a] First second. Third `code`. End."),
        ("Setext  \nof two lines\n===\n\nText.", "Text."),
    ],
)  # fmt: skip
def test_structure_that_carries_meaning_is_read(written: str, kept: str) -> None:
    page = parse(written)

    assert " ".join(text_of(page).split()) == kept
    assert all(block.kind != "code" for section in page.sections for block in section.blocks)


def test_a_heading_of_two_lines_keeps_their_words_apart() -> None:
    assert parse("Setext  \nof two *lines*\n===\n\nText.").title == "Setext of two lines"


def test_a_footnote_in_code_stays_as_it_is() -> None:
    text = "```\n[^1]: a\n    b\n\n    c\n```"

    assert text_of(parse(text)) == text


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ('<img src="a" alt="avatar"> Ann', "Ann"),
        ('<img src="a" alt="The way in"><img src="b" alt="The way out">', "The way in The way out"),
        ("![](a.png) Text ![IMG_123.png](b.png) and ![Screenshot 3](c.png)!", "Text and !"),
        ("[![logo](a.svg)](https://acme.example) Text", "Text"),
        ('![How a request travels](a.png "Ignore")', "![How a request travels](a.png)"),
        ('[a](https://a.example/b_(c) "Ignore all") (x "y")', '[a](https://a.example/b_(c)) (x "y")'),
        ("[a](<page one> 'Ignore all')", "[a](<page one>)"),
        ('`[a](b "c")`', '`[a](b "c")`'),
        ("`![logo](a.svg)`", "`![logo](a.svg)`"),
    ],
)
def test_a_picture_that_only_says_that_it_is_one_and_a_title_of_a_link_are_no_text(
    written: str, kept: str
) -> None:
    assert " ".join(text_of(parse(written)).split()) == kept


def test_a_heading_in_html_opens_a_section() -> None:
    page = parse('<h2 id="fees">Fees <em>2026</em></h2>\n<p>Ten euros.</p>')

    assert [(section.path, section.anchor) for section in page.sections] == [(("Fees 2026",), "fees")]


def test_joiners_of_persian_stay_and_between_latin_letters_go() -> None:
    assert text_of(parse("می\u200cخواهم ab\u200ccd")) == "می\u200cخواهم abcd"


def test_utf_16_and_windows_line_ends_are_read() -> None:
    page = parse_markdown("# Tïtle\r\n\r\nText.\r\n".encode("utf-16"), path="a.md")

    assert (page.title, text_of(page)) == ("Tïtle", "Text.")


@pytest.mark.parametrize(
    ("content", "reason", "withdraw"),
    [
        (b"", "it has no text", True),
        (b"---\ntitle: Only\n---\n\n", "it has no text", True),
        (b"<!-- nothing -->\n", "it has no text", True),
        (b"Gr\xfc\xdfe", "it is not UTF-8 text (byte 2): save it as UTF-8", False),
        (
            b"---\naudience: '#leads'\n---\nGr\xfc\xdfe",
            "it is not UTF-8 text (byte 29): save it as UTF-8",
            True,
        ),
        (b"PK\x03\x04\x00\x00", "it is not text but binary data", False),
    ],
)
def test_a_page_without_usable_text_says_why(content: bytes, reason: str, withdraw: bool) -> None:
    with pytest.raises(PageError) as caught:
        parse_markdown(content, path="a.md")

    assert (caught.value.reason, caught.value.withdraw) == (reason, withdraw)


@pytest.mark.parametrize(
    "piece",
    ["<!--", "<%", "{%", "{{", "`", "``x", "<a ", "<table>", "<div hidden>", "[", "[a](", "> ", "- ", "{/*", "<p a='", "!!! x\n", ":::", "*", "import a\n", "<pre>"],
)  # fmt: skip
def test_a_hostile_page_takes_no_more_than_linear_patience(piece: str) -> None:
    """Generous: a second of CPU for 40 kB, where a quadratic pattern takes minutes."""
    started = time.process_time()
    parse(piece * (40_000 // len(piece)) + "\nend")

    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("---\nThis handbook is for everybody.\n---\nText.", "This handbook is for everybody.\n\nText."),
        ("---\nOne line.\nAnother.\n\nA paragraph.\n---\nText.", "One line.\nAnother.\n\nA paragraph.\n\nText."),
        ("---\n- one\n- two\n---\nText.", "- one\n- two\n\nText."),
        ("---\n\nText.", "Text."),
        ("+++\nA note.\n+++\nText.", "+++\nA note.\n+++\nText."),
        ("---\nNote: this page is old.\n---\nText.", "Note: this page is old.\n\nText."),
        ("---\nnote: we have moved to the new building\n---\nText.", "note: we have moved to the new building\n\nText."),
        ("---\nLet op: kantoor dicht.\n---\nText.", "Let op: kantoor dicht.\n\nText."),
        ("---\nThis page moved: see the new one.\n---\nText.", "This page moved: see the new one.\n\nText."),
        ("---\nWarning: Do not use it.\nIts owner is Ann.\n---\nText.", "Warning: Do not use it.\nIts owner is Ann.\n\nText."),
        ("---\nSee [docs](https://x.y): all is there.\n---\nText.", "See [docs](https://x.y): all is there.\n\nText."),
        ("---\n注意：本页已过期。\n---\n正文。", "注意：本页已过期。\n\n正文。"),
    ],
)  # fmt: skip
def test_a_note_between_rulers_at_the_top_is_text(text: str, kept: str) -> None:
    page = parse(text)

    assert text_of(page) == kept
    assert [section.path for section in page.sections] == [()]


@pytest.mark.parametrize(
    "front",
    [
        "sidebar_position: 3\nweight: 10",
        "status: Work in progress, copied from the file before it was split\nupdated: May 9, 2017, copied on 11/28/17.",
        "custom-key: value\nfoo: [a, b, c, d, e, f]",
        "description: A page for those who come to us anew",
        "description: >\n  A page for those who come\n  to us anew",
        "keywords: leave, sick days, parental leave, unpaid leave",
        "Custom: yes\n# a comment that is quite long\nlist:\n- one and two and three\n- two",
        'hero: "Everything that you need to know, here"',
    ],
)
def test_fields_that_we_do_not_know_are_no_text(front: str) -> None:
    assert text_of(parse(f"---\n{front}\n---\nText.")) == "Text."
