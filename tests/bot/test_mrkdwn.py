"""Markdown -> mrkdwn: what is drawn, and what can never be smuggled in."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.mrkdwn import link, to_mrkdwn, to_pieces
from tests.fakes.shared import shared


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**bold** and _italic_ and ~~gone~~", "*bold* and _italic_ and ~gone~"),
        ("***both***", "_*both*_"),
        ("a `code <x>` b", "a `code &lt;x&gt;` b"),
        ("# A **bold** heading", "*A bold heading*"),
        ("[Leave](https://kb.example/a?b=1&c=2)", "<https://kb.example/a?b=1&amp;c=2|Leave>"),
        ("<https://kb.example>", "<https://kb.example>"),
        ("- one\n  - two\n    - three\n- four", "• one\n    ◦ two\n        ▪ three\n• four"),
        ("3. three\n4. four", "3. three\n4. four"),
        ("- [ ] open\n- [x] done", "• ☐ open\n• ☑ done"),
        ("> said\n> twice", "> said twice"),
        ("a wrapped\nline", "a wrapped line"),
        ("a hard  \nbreak", "a hard\nbreak"),
        ("```python\nprint(1 < 2)\n```", "```\nprint(1 &lt; 2)\n```"),
        ("| a | bb |\n|---|---|\n| 1 | 2 |", "```\na  bb\n-  --\n1  2\n```"),
        ("before <!-- a note to authors --> after", "before  after"),
    ],
)
def test_markdown_is_drawn_as_slack_draws_it(markdown: str, expected: str) -> None:
    assert to_mrkdwn(markdown) == expected


@pytest.mark.parametrize(
    "text", ["<!channel>", "<!here>", "<@U0ALICE>", "<#C0GENERAL|general>", "<!subteam^S1|x>"]
)
def test_a_page_cannot_ping_or_mention_anybody(text: str) -> None:
    for markdown in (
        text,
        f"`{text}`",
        f"[{text}](https://kb.example)",
        f"| {text} |\n|---|\n| {text} |",
        f"> {text}",
    ):
        assert not re.search(r"<[!@#]", to_mrkdwn(markdown))


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "/leave", "leave.md"]
)
def test_an_address_that_is_not_for_the_web_is_shown_without_a_link(url: str) -> None:
    assert to_mrkdwn(f"[Leave]({url})") in {"Leave", f"[Leave]({url})"}
    assert link(url, "Leave") == "Leave"


def test_a_label_cannot_be_forged_through_the_address_or_the_title() -> None:
    assert link("https://kb.example/a|Click>here", "Leave") == "<https://kb.example/a%7CClick%3Ehere|Leave>"
    assert link("https://kb.example", "Leave|https://evil.example>") == (
        "Leave¦https://evil.example&gt; (<https://kb.example>)"
    )
    assert link("https://kb.example", "two\nlines") == "<https://kb.example|two lines>"


def test_a_label_that_reads_as_another_host_is_not_used() -> None:
    assert link("https://evil.example/x", "https://bank.example") == "<https://evil.example/x>"
    assert link("https://evil.example/x", "bank.exa\u200bmple") == "<https://evil.example/x>"
    assert link("https://kb.example/travel.pdf", "travel.pdf") == "<https://kb.example/travel.pdf|travel.pdf>"
    assert link("https://www.kb.example/a", "kb.example") == "<https://www.kb.example/a|kb.example>"


def test_code_cannot_close_its_own_fence() -> None:
    (piece,) = to_pieces("````\n```\n<!channel>\n````")
    assert piece.kind == "fence"
    assert "```" not in piece.text


def test_rows_of_a_table_have_the_same_length() -> None:
    (piece,) = to_pieces("| a | b |\n|---|---|\n| **1** |")
    assert piece.rows == (("a", "b"), ("1", ""))


@given(st.text(alphabet="<>!@#|&`*_~[]()- \nab1:/.", max_size=80))
def test_no_text_ever_yields_a_mention_or_an_unsafe_link(markdown: str) -> None:
    for inside in re.findall(r"<([^>]*)>", to_mrkdwn(markdown)):
        assert re.match(r"(https?|mailto):", inside, re.IGNORECASE)


def peer_cases() -> list[dict[str, str]]:
    file = shared("data/slack/mrkdwn_peer_cases.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def comparable(mrkdwn: str) -> str:
    """White space, bullets' shapes and a link's repeated label are matters of taste in which the peers disagree."""
    plain = re.sub(r"[◦▪]", "•", mrkdwn.replace("\u200b", ""))
    return re.sub(r"<([^|>]+)\|\1>", r"<\1>", re.sub(r"\s+", " ", plain)).strip()


def test_three_converters_own_cases_mostly_agree_with_ours() -> None:
    """The rest differ on purpose: we escape mentions, draw tables as columns, drop a fence's language and relative links."""
    cases = peer_cases()
    agreeing = sum(comparable(to_mrkdwn(case["markdown"])) == comparable(case["mrkdwn"]) for case in cases)
    assert agreeing / len(cases) >= 0.8


@pytest.mark.parametrize("label", ["[1]", "1", "(2)", "¹", "①", "[\u200b3]"])
def test_a_label_that_reads_as_one_of_our_numbers_is_not_used(label: str) -> None:
    assert link("https://kb.example/x", label) == "<https://kb.example/x>"


def test_a_label_in_letters_that_only_look_like_an_address_is_not_used() -> None:
    assert link("https://evil.example/x", "ｂａｎｋ．example") == "<https://evil.example/x>"
    assert link("https://evil.example/x", "bank。example") == "<https://evil.example/x>"
    assert link("https://evil.example/x", "Log in at https://bank.example now") == (
        "Log in at https://bank.example now (<https://evil.example/x>)"
    )


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("申請の**締切日**は毎月25日です。", "申請の\u200b*締切日*\u200bは毎月25日です。"),
        ("un**believ**able", "un\u200b*believ*\u200bable"),
        ("**締切日**、毎月", "*締切日*、毎月"),
        ("a **b**, (**c**)", "a *b*, (*c*)"),
    ],
)
def test_emphasis_within_a_word_gets_the_edges_that_slack_needs(markdown: str, expected: str) -> None:
    assert to_mrkdwn(markdown) == expected
