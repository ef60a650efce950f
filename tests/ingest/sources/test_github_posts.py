"""What people write on GitHub, as it stands on a page with other posts and is parsed with it."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.page import ParsedPage
from ingest.parsers.formats import parse_file
from ingest.sources.github.threads import Post, Thread, page_of


def a_post(text: str, author: str = "dana", **more: object) -> Post:
    return Post(id=more.pop("id", author), author=author, text=text, day=date(2026, 1, 1), **more)  # type: ignore[arg-type]


def parsed(question: str, *replies: str, answer: int | None = 0) -> ParsedPage:
    posts = tuple(a_post(text, f"p{at}", id=str(at)) for at, text in enumerate(replies))
    told = None if answer is None or not posts else str(answer)
    text = page_of(Thread(title="A title", question=a_post(question, "asker"), replies=posts, answer=told))
    return parse_file(text.encode(), path="acme/x/issues/1", media_type="text/markdown; variant=plain")


def words_of(page: ParsedPage) -> str:
    return "\n".join(block.text for section in page.sections for block in section.blocks)


def section_of(page: ParsedPage, words: str) -> tuple[str, ...]:
    return next(
        tuple(section.path)
        for section in page.sections
        if any(words in block.text for block in section.blocks)
    )


@pytest.mark.parametrize(
    "words",
    [
        "image.tag is set by {{ .Values.tag }} and defaults to 1.4",
        "{% if site.beta %} shows the beta {% endif %} only",
        "Write {: .no_toc } behind it",
        "See #123 and GH-45, cc @dana and @acme/team, or acme/other#9",
        "#123 is the same",
        "Run `<name>` or `{{ name }}` there",
        "It is :tada: at 09:30, 7.5 %, 00007",
        "https://example.com/a_b_c?x=1&y=2 says so",
        "import os from 'os'; export const x = 1",
    ],
)
def test_every_word_of_a_post_stays(words: str) -> None:
    assert words in words_of(parsed(words, words))
    assert words_of(parsed(words, words)).count(words) == 2


@pytest.mark.parametrize(
    "text",
    [
        "<!-- Thank you for filing! -->\nIt fails.",
        "<!--\nPlease read\n\n# the guide\n-->\n\nIt fails.",
        "It <!-- quietly --> fails.",
        "It\n<!-- quietly\nand often -->\nfails.",
        "### Describe <!-- briefly -->\n\nIt fails.",
        "It fails.\n\n<!-- an unclosed one with quietly\n\nand more",
        "- It fails.\n  <!-- in a list -->\n",
    ],
)
def test_comments_of_a_template_are_not_on_the_page(text: str) -> None:
    told = words_of(parsed(text, "The answer."))

    assert "fails" in told
    assert "The answer." in told
    for hidden in ("<!--", "-->", "filing", "guide", "quietly", "briefly", "in a list", "unclosed"):
        assert hidden not in told


def test_a_comment_that_code_shows_stays() -> None:
    told = words_of(parsed("```html\n<!-- keep this -->\n```\n\nand `<!-- this -->` too", "Yes."))

    assert "<!-- keep this -->" in told
    assert "<!-- this -->" in told


@pytest.mark.parametrize(
    "text",
    [
        "```\ncode without an end",
        "~~~~sh\ncode\n```\nstill code",
        "Text\n\n```python",
        "<pre>code without an end",
        "<pre>\ncode\n\nwithout an end",
        "<script>no end",
        "<?php echo 1",
        "<details>\n```\ncode",
        "<details>\n# a heading",
        "an open <b",
        "<h2>Fix",
        "</details>",
        "<table><tr><td>1",
        "<details><summary>Log</summary>\n\n```\nlines\n```",
        "> a quotation with\n> ```\n> code",
        "- a list with\n  ```\n  code",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "a line\n-----",
        "* * *",
    ],
)
def test_nothing_in_a_post_reaches_beyond_its_end(text: str) -> None:
    page = parsed(text, text, text + "\n\nlast words", "A remark.")

    assert section_of(page, "A remark.")[-1:] == ("Other replies",)
    assert "A remark." in words_of(page)


def test_headings_of_posts_are_below_the_pages_own() -> None:
    page = parsed(
        "# Steps\n\nDo it.\n\nExpected\n========\n\nIt works.", "# Fix\n\nTurn it.\n\n###### Deep\n\nOff."
    )

    assert page.title == "A title"
    assert section_of(page, "Do it.")[-1] == "Steps"
    assert section_of(page, "It works.")[-1] == "Expected"
    assert section_of(page, "Turn it.")[-2:] == ("Accepted answer", "Fix")


def test_the_heading_of_one_remark_does_not_stand_over_the_next() -> None:
    page = parsed("Q", "The answer.", "# Mine\n\nfirst remark", "second remark")

    assert section_of(page, "second remark")[-1] == "Other replies"
    assert "Mine" in words_of(page)


def test_an_answer_that_begins_with_code_a_list_or_a_table_is_read_as_that() -> None:
    code = parsed("Q", "```sh\nrotate --now\n```\nThen wait.")
    assert any(block.kind == "code" for section in code.sections for block in section.blocks)
    table = parsed("Q", "| Region | Code |\n|---|---|\n| North | n |")
    assert any(block.kind == "table" for section in table.sections for block in section.blocks)
    assert "1. First" in words_of(parsed("Q", "1. First\n2. Second"))


def test_pictures_are_their_descriptions_and_line_ends_of_windows_are_line_ends() -> None:
    told = words_of(
        parsed(
            "![A red button](https://x/y.png)\r\n\r\nIt is <img alt='the dialog' src='z'> here.\r\n", "Ok."
        )
    )

    assert "A red button" in told
    assert "the dialog" in told


def test_an_empty_question_is_no_empty_signature() -> None:
    assert "asker" not in words_of(parsed("<!-- only a template -->", "The answer."))
    assert "The answer." in words_of(parsed("", "The answer."))


FRAGMENTS = [
    "```", "~~~", "````", "<pre>", "</pre>", "# H", "## H2", "> q", "- item", "1. one", "    code", "| a | b |",
    "|---|---|", "---", "===", "<details>", "</details>", "<summary>s</summary>", "* * *", "<script>", "\t", "",
    "  - nested", "> ```", "<div>", "<a href='x'>", "{{ x }}", "{% raw %}", "\\", "<", "<b", "`", "``", "<?php",
    "<![CDATA[", "<!DOCTYPE", "<table>", "</table>", "<ul><li>x", "Map<String, List<X>>", "</b>", "<h1>H</h1>",
    "</h2>", "<h2 id=x>", "<p>", "</p>", "<blockquote>", "[1]: http://x.y", "[^1]: foot",
]  # fmt: skip
posts = st.lists(st.sampled_from(FRAGMENTS), max_size=7)


@settings(max_examples=150, deadline=None)
@given(question=posts, answer=posts, remark=posts)
@example(question=[], answer=[], remark=["<pre>", "<ul><li>x", "```"])
def test_whatever_is_left_open_in_a_post_the_next_one_stands_where_it_belongs(
    question: list[str], answer: list[str], remark: list[str]
) -> None:
    open_comment = ["<!-- never closed"]
    bodies = ["\n".join(lines) for lines in (question + open_comment, answer, remark + open_comment)]
    page = parsed(f"asked\n\n{bodies[0]}", f"answered\n\n{bodies[1]}", f"remarked\n\n{bodies[2]}", "last")

    assert section_of(page, "answered")[-1:] == ("Accepted answer",)
    assert section_of(page, "remarked")[-1:] == ("Other replies",)
    assert section_of(page, "**p2**: last")[-1:] == ("Other replies",)
    kinds = {
        block.kind for section in page.sections for block in section.blocks if "**p2**: last" in block.text
    }
    assert kinds == {"prose"}


@settings(max_examples=150, deadline=None)
@given(lines=posts, gap=st.sampled_from(["\n", "\n\n"]))
def test_no_word_of_a_post_is_lost_whatever_stands_around_it(lines: list[str], gap: str) -> None:
    lines = [line for line in lines if line != "<b"]  # what follows may be its attributes, which nobody sees
    body = "\n".join(f"{line}{gap}word{at}x" for at, line in enumerate(lines))
    page = parsed(body, body, body)
    told = [block.text for section in page.sections for block in section.blocks]
    told += [heading for section in page.sections for heading in section.path[-1:]]

    for at in range(len(lines)):
        assert "\n".join(told).count(f"word{at}x") >= 3
