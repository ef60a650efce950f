"""An unfinished answer as Markdown for a stream."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bot.rendering.partial_answer import MOST_CHARACTERS, partial_markdown, sanitize_links
from kb.answer import Sentence
from tests.fakes.answers import a_chunk, a_citation

ONE, TWO = a_citation(1), a_citation(2)
LINK_1 = "([1](https://kb.example/leave-policy#annual-leave))"
LINK_2 = "([2](https://kb.example/leave-policy#annual-leave))"

LONG = (
    Sentence(text="Full-time employees get 25 days.", citations=(1,)),
    Sentence(text="Others get a part:", citations=()),
    Sentence(text="- 20 days for 32 hours", citations=(1, 2)),
    Sentence(text="- 15 days for 24 hours", citations=(2,)),
    Sentence(text="| Hours | Days |\n| --- | --- |", citations=(1,)),
    Sentence(text="| 32 | 20 |", citations=(2,)),
    Sentence(text="It is booked like this:", citations=()),
    Sentence(text="```\nleave book\n```", citations=(1,)),
    Sentence(text="Then wait.", citations=(2,)),
)


def test_sentences_follow_each_other_with_their_sources() -> None:
    said = partial_markdown(LONG[:2], [ONE])
    assert said == f"Full-time employees get 25 days. {LINK_1} Others get a part:"


def test_what_was_shown_before_is_the_beginning_of_what_comes_after() -> None:
    steps = [partial_markdown(LONG[:n], [ONE, TWO]) for n in range(len(LONG) + 1)]
    for before, after in pairwise(steps):
        assert after.startswith(before)
        assert after != before


def test_a_table_and_code_have_their_sources_below() -> None:
    lines = partial_markdown(LONG, [ONE, TWO]).split("\n")
    assert lines[lines.index("| 32 | 20 |") + 2] == f"Sources: {LINK_1} {LINK_2}"
    assert lines[lines.index("leave book") + 3] == f"Source: {LINK_1}"


def test_a_source_whose_address_cannot_be_linked_is_a_number() -> None:
    for url in ("javascript:alert(1)", "leave.md", "mailto:a@b.example", f"https://kb.example/{'x' * 700}"):
        cited = a_citation(1, chunk=a_chunk(url=url))
        assert partial_markdown(LONG[:1], [cited]) == "Full-time employees get 25 days. (1)"


def test_an_address_cannot_end_its_link() -> None:
    cited = a_citation(1, chunk=a_chunk(url="https://kb.example/a_(b)](https://evil.example)<!channel>"))
    said = partial_markdown(LONG[:1], [cited])
    assert said.count("(") == said.count(")") == 2
    assert "<" not in said
    assert "https://kb.example/a_%28b%29%5D%28https://evil.example%29" in said


def test_a_source_that_is_not_known_is_not_shown() -> None:
    assert partial_markdown(LONG[2:3], [ONE]) == f"- 20 days for 32 hours {LINK_1}"


@pytest.mark.parametrize(
    ("evil", "gone"),
    [
        ("<!channel> wake up", "<!"),
        ("<!here|here>", "<!"),
        ("<@U0ALICE>", "<@"),
        ("<#C0GENERAL>", "<#"),
        ("&lt;!channel&gt;", "&lt;"),
        ("&#60;!channel>", "&#60;"),
        ("@channel and @here and @everyone", "@channel"),
        ("@channel and @here and @everyone", "@here"),
        ("see [the policy](https://evil.example)", "]("),
        ("![](https://evil.example/pixel.png)", "]("),
        ("[policy][1]\n\n[1]: https://evil.example", "]:"),
        ("[policy][1]\n\n[1]: https://evil.example", "]["),
        ("<https://evil.example|policy>", "<h"),
        ("https://evil.example", "://"),
        ("www.evil.example", "www."),
        ("<img src=x>", "<i"),
        ("a <!-- note to the bot --> b", "note"),
    ],
)
def test_nothing_that_a_page_or_the_model_writes_pings_or_leads_anywhere(evil: str, gone: str) -> None:
    assert gone not in sanitize_links(evil)
    assert gone not in partial_markdown([Sentence(text=evil, citations=(1,))], []).replace(LINK_1, "")


@pytest.mark.parametrize(
    "text", ["5 < 6 & 7 > 3", "R&D: a[0] = 1", "me@work.example", "10:30 // noon", "`x`"]
)
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    assert sanitize_links(text) == text


def test_a_fence_that_is_open_is_closed() -> None:
    assert partial_markdown([Sentence(text="```\nleave book")], []) == "```\nleave book\n```"


def test_a_draft_ends_where_slack_takes_no_more() -> None:
    many = [Sentence(text=f"{n} {'x' * 90}", citations=(1,)) for n in range(200)]
    said = partial_markdown(many, [ONE])
    assert MOST_CHARACTERS - 200 < len(said) <= MOST_CHARACTERS
    assert said.endswith(LINK_1)
