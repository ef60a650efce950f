"""Chunks: sized by the embedder's tokens, cut where a reader would, with ids that stay."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunking.chunks import chunk_page, fitting_place, fitting_title
from ingest.chunking.cutting import TABLE_TOKENS
from ingest.errors import PageError
from ingest.page import Block, ParsedPage, Section
from ingest.parsers.markup.markdown import parse_markdown
from kb.models import Chunk, Page
from kb.spelled_out import spelled_out

WORD = re.compile(r"\w+")


def count(text: str) -> int:
    return len(WORD.findall(text))


def count_characters(text: str) -> int:
    """A tokenizer whose parts do not add up, and that knows no words: every third character, rounded up."""
    return -(-len(text) // 3)


def chunks_of(text: str, *, max_tokens: int = 40, title: str = "Leave", place: str = "") -> list[Chunk]:
    page = Page(
        id="handbook:leave.md",
        source="handbook",
        path="leave.md",
        title=title,
        url="https://kb.example/leave",
        place=place,
    )
    return chunk_page(
        page, parse_markdown(text.encode(), path="leave.md"), count_tokens=count, max_tokens=max_tokens
    )


def words(prefix: str, number: int) -> str:
    return " ".join(f"{prefix}{at}" for at in range(number))


def test_a_section_that_fits_is_one_chunk_with_its_path_and_link() -> None:
    first, second = chunks_of("# Leave\nIntro.\n\n## Annual leave\n### Carry-over\nUntil March.\n\nAsk HR.\n")

    assert (first.section, first.url, first.position) == ((), "https://kb.example/leave", 0)
    assert second.text == "Until March.\n\nAsk HR."
    assert second.section == ("Annual leave", "Carry-over")
    assert second.url == "https://kb.example/leave#carry-over"
    assert second.embedded_text.startswith("Leave › Annual leave › Carry-over\n")


def test_no_chunk_is_larger_than_the_embedder_reads_with_its_headings() -> None:
    text = f"# Leave\n\n## A section\n\n{words('a', 30)}. {words('b', 90)}\n\n{words('c', 5)}"

    assert all(count(chunk.embedded_text) <= 40 for chunk in chunks_of(text))


def test_a_long_section_is_cut_between_paragraphs_first() -> None:
    texts = [chunk.text for chunk in chunks_of("\n\n".join(f"{words(letter, 15)}." for letter in "abc"))]

    assert [text[:2] for text in texts] == ["a0", "c0"]
    assert texts[0].endswith("b14.")


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    sentences = [f"{words(letter, 15).capitalize()}." for letter in "abcd"]

    assert [chunk.text for chunk in chunks_of(" ".join(sentences))] == [
        f"{sentences[0]} {sentences[1]}",
        f"{sentences[2]} {sentences[3]}",
    ]


def test_a_paragraph_whose_lines_end_at_a_width_is_cut_between_sentences_all_the_same() -> None:
    lines = [f"{words(f'a{at}x', 6)}. B{at}" for at in range(9)]
    chunks = chunks_of("\n".join(lines))

    assert len(chunks) > 1
    assert all(chunk.text.endswith(".") for chunk in chunks[:-1])


def test_a_long_quotation_is_cut_between_lines_and_each_keeps_its_mark() -> None:
    chunks = chunks_of("\n".join(f"> {words(f'a{at}x', 6)}. B{at}" for at in range(9)))

    assert len(chunks) > 1
    assert all(line.startswith("> ") for chunk in chunks for line in chunk.text.split("\n"))


def test_a_large_table_is_cut_between_rows_and_repeats_its_header() -> None:
    rows = [f"| item{at} | {words('x', 6)} |" for at in range(12)]
    chunks = chunks_of("\n".join(["| name | notes |", "|---|---|", *rows]))

    assert len(chunks) > 1
    assert all(chunk.text.startswith("| name | notes |\n|---|---|\n| item") for chunk in chunks)
    assert [row for chunk in chunks for row in chunk.text.split("\n")[2:]] == rows


def test_few_rows_share_a_chunk_however_much_would_fit() -> None:
    rows = [f"| item{at} | {words('x', 30)} |" for at in range(12)]
    chunks = chunks_of(
        "\n".join(["Before.", "", "| name | notes |", "|---|---|", *rows, "", "After."]), max_tokens=500
    )

    assert [chunk.text.count("| item") for chunk in chunks] == [2] * 6
    assert chunks[0].text.startswith("Before.\n\n| name | notes |")
    assert chunks[-1].text.endswith("|\n\nAfter.")
    assert all(count(spelled_out(chunk.text)) <= TABLE_TOKENS for chunk in chunks)


def test_the_names_of_the_columns_count_for_every_row() -> None:
    names = [words(f"n{at}x", 4) for at in range(4)]
    rows = [f"| {' | '.join(words(f'r{at}c{column}x', 2) for column in range(4))} |" for at in range(9)]
    chunks = chunks_of("\n".join([f"| {' | '.join(names)} |", "|---|---|---|---|", *rows]), max_tokens=80)

    assert len(chunks) > 2
    assert all(count(chunk.embedded_text) <= 80 for chunk in chunks)
    assert [row for chunk in chunks for row in chunk.text.split("\n")[2:]] == rows


def test_a_long_list_is_cut_between_items_and_repeats_its_intro() -> None:
    items = [f"- {words(f'i{at}x', 9)}" for at in range(6)]
    chunks = chunks_of("\n".join(["You need:", "", *items]))

    assert len(chunks) > 1
    assert all(chunk.text.startswith("You need:\n\n- ") for chunk in chunks)
    assert [item for chunk in chunks for item in chunk.text.split("\n")[2:]] == items


def test_a_piece_from_within_a_nested_list_repeats_the_items_around_it() -> None:
    inner = [f"    - {words(f'i{at}x', 9)}" for at in range(9)]
    chunks = chunks_of(
        "\n".join(
            ["- Before you leave,", "  tell:", "  - your team", "  - the office by", *inner, "- Then go."]
        )
    )

    assert len(chunks) > 2
    around = "- Before you leave,\n  tell:\n  - the office by\n    - i"
    assert chunks[0].text.startswith("- Before you leave,\n  tell:\n  - your team\n")
    assert all(chunk.text.startswith(around) for chunk in chunks[1:])
    assert [line for chunk in chunks for line in chunk.text.split("\n") if line.startswith("    - ")] == inner
    assert chunks[-1].text.endswith("\n- Then go.")


def test_an_item_that_announces_what_stands_beside_its_list_goes_with_it() -> None:
    inner = [f" - {words(f'i{at}x', 9)}" for at in range(6)]
    text = "\n".join(["4. Open it.", "5. Enter these:", *inner, "", "6. Run this:", "", "```", "make", "```"])
    chunks = chunks_of(text)

    assert len(chunks) > 2
    assert chunks[0].text == "4. Open it."
    assert all(chunk.text.startswith("5. Enter these:\n\n - i") for chunk in chunks[1:-1])
    assert chunks[-1].text.endswith("6. Run this:\n\n```\nmake\n```")


def test_items_that_are_too_long_to_be_repeated_are_not_and_what_is_in_them_starts_at_the_margin() -> None:
    inner = [f"  - {words(f'i{at}x', 9)}" for at in range(9)]
    chunks = chunks_of("\n".join([f"- {words('p', 20)}", *inner]))

    assert len(chunks) > 2
    assert all(chunk.text.startswith("- i") for chunk in chunks[1:])


def test_long_code_is_cut_between_lines_and_every_piece_is_fenced() -> None:
    lines = [f"    call_{at}({words('arg', 5)})" for at in range(20)]
    chunks = chunks_of("\n".join(["```python", *lines, "```"]))

    assert len(chunks) > 1
    assert all(
        chunk.text.startswith("```python\n    call_") and chunk.text.endswith("\n```") for chunk in chunks
    )
    assert [line for chunk in chunks for line in chunk.text.split("\n")[1:-1]] == lines


def test_code_keeps_its_empty_lines() -> None:
    assert chunks_of("```\na = 1\n\n\nb = 2\n```")[0].text == "```\na = 1\n\n\nb = 2\n```"


def test_an_id_depends_on_text_and_place_in_the_outline_but_not_on_position() -> None:
    before = chunks_of("## A\nOne.\n## B\nTwo.\n")
    after = chunks_of("## New\nZero.\n## A\nOne.\n## B\nTwo!\n")

    assert after[1].id == before[0].id
    assert after[2].id != before[1].id


def test_the_same_text_twice_in_one_section_has_two_ids_that_stay() -> None:
    text = "\n\n".join([words("same", 30)] * 3)
    first, second = chunks_of(text), chunks_of(text)

    assert len({chunk.id for chunk in first}) == len(first) == 3
    assert [chunk.id for chunk in first] == [chunk.id for chunk in second]


def test_a_heading_that_would_fill_the_chunk_is_shortened_and_its_words_are_kept_in_the_text() -> None:
    heading = words("h", 60)
    chunks = chunks_of(f"## {heading}\nText.\n")

    assert all(count(chunk.embedded_text) <= 40 for chunk in chunks)
    assert all(chunk.section[0].endswith("…") for chunk in chunks)
    assert WORD.findall(" ".join(chunk.text for chunk in chunks)) == [*heading.split(), "Text"]


def test_a_title_takes_a_quarter_of_a_chunk_at_most() -> None:
    assert fitting_title("Leave", count_tokens=count, max_tokens=40) == "Leave"
    assert fitting_title(words("t", 50), count_tokens=count, max_tokens=40) == f"{words('t', 10)}…"


def test_a_place_has_the_parts_that_fit_in_an_eighth_of_a_chunk() -> None:
    parts = ("people and culture", "offices", "ghent")

    assert fitting_place(parts, count_tokens=count, max_tokens=40) == " › ".join(parts)
    assert fitting_place(parts, count_tokens=len, max_tokens=160) == "offices › ghent"
    assert fitting_place(parts, count_tokens=len, max_tokens=32) == ""
    assert fitting_place((), count_tokens=count, max_tokens=40) == ""


def test_every_chunk_starts_with_its_page_s_place_and_fits_with_it() -> None:
    place = "offices › ghent"
    chunks = chunks_of(f"# Leave\n\n## A section\n\n{words('a', 90)}", place=place)

    assert all(
        chunk.embedded_text.startswith(f"Leave ({place}) › A section\n") and count(chunk.embedded_text) <= 40
        for chunk in chunks
    )


markdown_pieces = st.lists(
    st.sampled_from(
        ["# T", "## A b", "### C", "- item one", "  - nested two", "1. first", "| a | b |", "|---|---|", "| 1 | 2 |",
         "```", "> quote", "para graph words here.", "", "", "    indented", "<p>html", "</p>", "{{ x }}", "a" * 70,
         "中文没有空格的句子。" * 9, "[^1]: note", "***", "`code`"]
    ),
    max_size=60,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    markdown_pieces,
    st.sampled_from([count, count_characters]),
    st.sampled_from([(), ("offices", "ghent"), ("a" * 60,)]),
)
def test_whatever_the_page_every_chunk_fits_and_no_word_is_lost(lines, counter, parts) -> None:  # type: ignore[no-untyped-def]
    text = "\n".join(lines)
    try:
        parsed = parse_markdown(text.encode(), path="leave.md")
    except PageError as error:
        assert error.reason == "it has no text"  # noqa: PT017 (the page may also be fine)
        return
    title = fitting_title(parsed.title, count_tokens=counter, max_tokens=40)
    place = fitting_place(parts, count_tokens=counter, max_tokens=40)
    page = Page(id="s:p", source="s", path="p", title=title, url="p", place=place)

    chunks = chunk_page(page, parsed, count_tokens=counter, max_tokens=40)

    assert all(counter(chunk.embedded_text) <= 40 for chunk in chunks)
    assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    whole = set(WORD.findall("\n".join(chunk.text for chunk in chunks)))
    cut = "".join("".join(chunk.text.split()) for chunk in chunks)
    lost = {
        word
        for section in parsed.sections
        for block in section.blocks
        for word in WORD.findall(block.text)
        if word not in whole and word not in cut
    }
    assert lost == set()


def sections_of(*sections: Section, max_tokens: int = 40) -> list[Chunk]:
    page = Page(
        id="x:leave.pdf", source="x", path="leave.pdf", title="Leave", url="https://kb.example/leave.pdf"
    )
    return chunk_page(
        page,
        ParsedPage(title="Leave", sections=sections),
        count_tokens=count,
        max_tokens=max_tokens,
    )


def a_section(heading: str, text: str, place: str) -> Section:
    return Section(path=(heading,), anchor=place, blocks=(Block(kind="prose", parts=(text,)),))


def test_a_section_that_goes_on_over_the_page_of_a_pdf_is_one_chunk_while_it_fits() -> None:
    (chunk,) = sections_of(
        a_section("Days", "You get 25 days.", "page=1"), a_section("Days", "They expire in March.", "page=2")
    )

    assert chunk.text == "You get 25 days.\n\nThey expire in March."
    assert chunk.url == "https://kb.example/leave.pdf#page=1"


def test_a_long_section_of_a_pdf_links_each_part_to_its_own_page() -> None:
    chunks = sections_of(
        a_section("Days", words("a", 30), "page=1"), a_section("Days", words("b", 30), "page=2")
    )

    assert [chunk.url.partition("#")[2] for chunk in chunks] == ["page=1", "page=2"]


class Counting:
    """A counter of words and of all else by the character, as tokenizers
    count; it notes the longest text that it saw.
    """

    def __init__(self) -> None:
        self.longest = 0
        self.seen = 0

    def __call__(self, text: str) -> int:
        self.longest = max(self.longest, len(text))
        self.seen += len(text)
        return len(re.findall(r"[a-z]+|[^\sa-z]", text))


def one_block(block: Block, counting: Counting) -> list[Chunk]:
    page = Page(id="kb:a.md", source="kb", path="a.md", title="T", url="https://kb.example/a")
    parsed = ParsedPage(title="T", sections=(Section(path=("S",), anchor=None, blocks=(block,)),))
    return chunk_page(page, parsed, count_tokens=counting, max_tokens=128)


HARD = {
    "no spaces": lambda size: "a-" * (size // 2),
    "one word": lambda size: "a" * size,
    "sentences in one line": lambda size: "Nobody looks at the backup. " * (size // 28),
    "lines": lambda size: "nobody looks at the backup\n" * (size // 27),
    "Chinese": lambda size: "的" * size,
    "spaces": lambda size: "a" + " " * size + "b",
    "a quotation": lambda size: "> nobody looks\n" * (size // 15),
}


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("block", ["prose", "list", "code"])
def test_a_tokenizer_sees_a_little_at_a_time_and_no_more_than_in_proportion_to_the_text(kind, block) -> None:  # type: ignore[no-untyped-def]
    seen = []
    for size in (40_000, 160_000):
        counting = Counting()
        chunks = one_block(Block(kind=block, parts=(HARD[kind](size),)), counting)
        assert counting.longest <= 128 * 64 + 100
        assert max(len(chunk.text) for chunk in chunks) <= 128 * 64
        seen.append(counting.seen)
    assert seen[1] <= 6 * seen[0] + 20_000


def test_what_is_deep_in_a_long_item_is_cut_in_proportion_to_it_and_keeps_the_items_around_it() -> None:
    item = "- top\n" + "".join(f"  - second {n}\n    - third {n}\n" for n in range(3000))
    counting = Counting()
    chunks = one_block(Block(kind="list", parts=(item,)), counting)
    assert all(chunk.text.startswith("- top\n") for chunk in chunks)
    assert counting.seen <= 60 * len(item)
