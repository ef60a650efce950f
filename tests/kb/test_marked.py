"""An answer as Markdown: its marks stand beside sentences and never break a table or a fence."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kb.answer import Sentence
from kb.marked import growing_markdown, marked_markdown

FENCE = "```bash\nshipit --timeout 90\n```"
TABLE = "| Flag | Meaning |\n|---|---|\n| -t | time |"
BARLESS = "Flag | Meaning\n--- | ---\n-t | time"


def written(*texts: str | Sentence, below: str = "Source: {}") -> str:
    sentences = [one if isinstance(one, Sentence) else Sentence(text=one, citations=(1,)) for one in texts]
    return marked_markdown(sentences, "[{}]".format, below=lambda marks: below.format(" ".join(marks)))


def kinds(markdown: str) -> list[str]:
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    return [token.type for token in tokens if token.level == 0 and token.nesting >= 0]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["One.", "Two."], "One. [1] Two. [1]"),
        (["It is so:", FENCE, "Then wait."], f"It is so: [1]\n\n{FENCE}\n\nThen wait. [1]"),
        ([FENCE, "Then wait."], f"{FENCE}\n\nSource: [1]\n\nThen wait. [1]"),
        (["It is so:", TABLE, "That is all."], f"It is so: [1]\n\n{TABLE}\n\nThat is all. [1]"),
        (["- one", "- two", "Then."], "- one [1]\n- two [1]\n\nThen. [1]"),
        (["- one", FENCE], f"- one [1]\n\n{FENCE}\n\nSource: [1]"),
        ([TABLE, "| -r | retries |"], f"{TABLE}\n| -r | retries |\n\nSource: [1]"),
        ([BARLESS, "That is all."], f"{BARLESS}\n\nSource: [1]\n\nThat is all. [1]"),
        (["~~~\nx\n~~~", "Then."], "~~~\nx\n~~~\n\nSource: [1]\n\nThen. [1]"),
        (["```\nopen", "Then."], "```\nopen\n```\n\nSource: [1]\n\nThen. [1]"),
        (["# Title", "Text."], "# Title [1]\n\nText. [1]"),
    ],
)
def test_marks_stand_where_they_break_nothing(texts: list[str], expected: str) -> None:
    assert written(*texts) == expected


def test_a_table_is_cited_below_by_what_its_lead_in_does_not_cite() -> None:
    rows = Sentence(text=TABLE, citations=(1, 2))
    more = Sentence(text="| -r | retries |", citations=(2, 3))
    assert written("It is so:", rows, more).endswith("| -r | retries |\n\nSource: [2] [3]")
    assert written(Sentence(text="It is so:"), rows).endswith("\n\nSource: [1] [2]")
    assert written("It is so:", Sentence(text="Between.", citations=(2,)), rows).endswith("\n\nSource: [1]")


@pytest.mark.parametrize("block", ["> ```\n> code\n> ```", "    code\n    more", "\tcode"])
def test_code_without_a_fence_of_its_own_is_cited_below(block: str) -> None:
    assert written(block) == f"{block}\n\nSource: [1]"


@pytest.mark.parametrize("block", [FENCE, TABLE, BARLESS, "~~~\nx\n~~~"])
def test_what_comes_after_a_table_or_code_is_text_again(block: str) -> None:
    assert kinds(written("So:", block, "Then wait."))[-1] == kinds("Then wait.")[-1]
    assert kinds(written("So:", block, block))[0] == "paragraph_open"


@given(
    st.lists(
        st.sampled_from(["One.", "- a", "1. b", TABLE, "| x | y |", FENCE, "```\nopen", "> q", "# h", ""]),
        max_size=8,
    )
)
def test_it_only_grows_and_every_fence_closes(texts: list[str]) -> None:
    sentences = [Sentence(text=text, citations=(at % 2 + 1,)) for at, text in enumerate(texts)]
    steps = [text for text, _ in growing_markdown(sentences, "[{}]".format)]
    assert all(after.startswith(before) for before, after in pairwise(steps))
    whole = marked_markdown([*sentences, Sentence(text="The end.")], "[{}]".format)
    assert whole.endswith("The end.")
    assert not whole.endswith(tuple(f"``` {mark}" for mark in ("[1]", "[2]")))
    assert kinds(whole)[-1] == "paragraph_open"
