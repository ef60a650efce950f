"""Markdown -> mrkdwn: what is drawn, and what can never be smuggled in."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.playground.block_kit import check_message_blocks
from bot.rendering.mrkdwn import escape, link, link_target, to_mrkdwn, to_pieces
from bot.rendering.styled_text import lines_of
from bot.rendering.tables import table_block
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


@pytest.mark.parametrize(
    "label",
    [
        "Go to kb.example",
        "(kb.example)",
        "🔒 kb.example",
        "user@kb.example",
        "localhost:3000/login",
        "See kb.examplе now",
    ],
)
def test_a_label_in_which_another_host_is_named_is_told_beside_the_address(label: str) -> None:
    assert link("https://evil.example/x", label) in (
        f"{label} (<https://evil.example/x>)",
        "<https://evil.example/x>",
    )
    assert link("mailto:a@evil.example", "boss@kb.example") != "<mailto:a@evil.example|boss@kb.example>"


@pytest.mark.parametrize(
    "label", ["How docs.kb.example works", "kb.example's pages", "Read config.toml", "e.g. this"]
)
def test_a_label_that_names_the_links_own_host_or_a_file_is_its_label(label: str) -> None:
    assert link("https://docs.kb.example/x", label) == f"<https://docs.kb.example/x|{label}>"


def test_code_cannot_close_its_own_fence() -> None:
    (piece,) = to_pieces("````\n```\n<!channel>\n````")
    assert piece.kind == "fence"
    assert "```" not in piece.text


def test_rows_of_a_table_have_the_same_length() -> None:
    (piece,) = to_pieces("| a | b |\n|---|---|\n| **1** |")
    assert [[cell.text for cell in row] for row in piece.rows] == [["a", "b"], ["1", ""]]


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
    """The rest differ on purpose: we escape mentions, draw tables as columns, drop a
    fence's language and relative links, and put no marks where Slack would show them."""
    cases = peer_cases()
    agreeing = sum(comparable(to_mrkdwn(case["markdown"])) == comparable(case["mrkdwn"]) for case in cases)
    assert agreeing / len(cases) >= 0.75


@pytest.mark.parametrize("label", ["[1]", "1", "(2)", "¹", "①", "[\u200b3]"])
def test_a_label_that_reads_as_one_of_our_numbers_is_not_used(label: str) -> None:
    assert link("https://kb.example/x", label) == "<https://kb.example/x>"


@pytest.mark.parametrize(
    "address",
    [
        "https://kb.example@evil.example/",
        "https://kb.example:443@evil.example/",
        "https://kb.example%2F@evil.example/",
        "https://@evil.example/",
        "https://kb.example\\@evil.example/",
        "https://kb.example\\.evil.example/",
        "https:\\\\evil.example/",
        "https:///evil.example/",
        "//evil.example/",
        "https://kb.example\x00.evil.example/",
        "https://kb.example/\x1b[31m",
        "https://kb\u200b.example/",
        "https://kb\u3002example/",
        "https://kb%2eexample/",
        "https://\u0430\u0440\u0440\u04cf\u0435.example/",
        "https://kb.ex\u0430mple/",
        "https://\u0261oogle.example/",
        "https://b\u0131nk.example/",
        "https://xn--pple-43d.example/",
        "https://xn--a/",
        "https://[x/",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "ftp://kb.example/",
        "slack://channel?id=C1",
        "vbscript:x",
    ],
)
def test_an_address_whose_host_is_not_what_it_seems_is_text(address: str) -> None:
    assert link(address, "Log in") == "Log in"
    assert link(address, "") == escape(address)
    assert link_target(address) is None


def test_a_page_cannot_link_to_a_host_behind_a_name() -> None:
    told = to_mrkdwn(
        "[Log in](https://kb.example@evil.example/) or go to https://kb.example@evil.example/login."
    )
    assert told == "Log in or go to https://kb.example@evil.example/login."


@pytest.mark.parametrize(
    "address",
    ["https://kb.example/~ann@home/a", "https://m\u00fcller.example/", "https://xn--mller-kva.example/", "http://127.0.0.1:8765/kb/", "http://[::1]:8765/",
     "https://KB.example:8443/a?to=ann@example.com", "mailto:ann@example.com"],
)  # fmt: skip
def test_an_address_that_is_what_it_seems_is_a_link(address: str) -> None:
    assert link(address, "Page") == f"<{address}|Page>"


def test_a_label_in_letters_that_only_look_like_an_address_is_not_used() -> None:
    assert link("https://evil.example/x", "ｂａｎｋ．example") == "<https://evil.example/x>"
    assert link("https://evil.example/x", "bank。example") == "<https://evil.example/x>"
    assert link("https://evil.example/x", "Log in at https://bank.example now") == (
        "Log in at https://bank.example now (<https://evil.example/x>)"
    )


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("申請の**締切日**は毎月25日です。", "申請の締切日は毎月25日です。"),
        ("**締切日**、毎月", "締切日、毎月"),
        ("**締切日：**毎月", "締切日：毎月"),
        ("含**「重点」**内容", "含「重点」内容"),
        ("한글**강조**한글", "한글강조한글"),
        ("ใน**วันหยุด**ยาว", "ในวันหยุดยาว"),
        ("un**believ**able", "unbelievable"),
        ("nai\u0308**ve**te\u0301", "nai\u0308vete\u0301"),
        ("**5**kg, 10**kg**", "5kg, 10kg"),
        ("~~5~~6 and x*y*z", "56 and xyz"),
        ("`ls`を実行", "lsを実行"),
        ("👍**x**👍", "👍x👍"),
        ("a **b**, (**c**) – **d**… “**e**”", "a *b*, (*c*) – *d*… “*e*”"),
        ("これは **太字** です", "これは *太字* です"),
        ("**a * b** and ~~a ~ b~~", "a * b and a ~ b"),
        ("**two  \nlines**", "two\nlines"),
        ("_x **y** z_", "_x *y* z_"),
        ("の_x **y** z_の", "の_x *y* z_の"),
        ("の*x **y** z*の", "のx *y* zの"),
        ("*a **b***c", "a bc"),
        ("# 5 * 3", "5 * 3"),
    ],
)
def test_marks_stand_only_where_slack_reads_them(markdown: str, expected: str) -> None:
    assert to_mrkdwn(markdown) == expected


@given(st.text(alphabet="ab1の、한가👍 *_~`-(", max_size=40))
def test_no_mark_of_ours_ever_touches_a_word_from_outside(markdown: str) -> None:
    plain = "".join(line.text for line in lines_of(markdown))
    said = to_mrkdwn(markdown)
    for mark in re.finditer(r"(?<=[\wの、한가👍])[*~`](?=[\wの、한가👍])", said):
        assert mark[0] in plain  # the page's own sign, not one of ours


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        (
            "at https://hr.example/sick?form=a&lang=en and",
            "at <https://hr.example/sick?form=a&amp;lang=en> and",
        ),
        (
            "of https://x.example/a?filter[team]=b&ids[]=1[2]",
            "of <https://x.example/a?filter[team]=b&amp;ids[]=1>[2]",
        ),
        ("(see https://x.example/a_(b)), then", "(see <https://x.example/a_(b)>), then"),
        ("Go to http://x.example/a.", "Go to <http://x.example/a>."),
        ("https://x.example/a, https://x.example/b!", "<https://x.example/a>, <https://x.example/b>!"),
        ("https://x.example/__init__.py", "<https://x.example/__init__.py>"),
        ("**https://x.example/a**", "*<https://x.example/a>*"),
        ("- https://x.example", "• <https://x.example>"),
        ("> https://x.example", "> <https://x.example>"),
        ("https://x.example/?a=1&amp;b=2 ok", "<https://x.example/?a=1&amp;b=2> ok"),
        ("こちらhttps://x.example/aをご覧。", "こちら<https://x.example/a>をご覧。"),
        ("www.x.example/a?b=1;", "<https://www.x.example/a?b=1|www.x.example/a?b=1>;"),
        ("Mail a.b+c@x.example.", "Mail <mailto:a.b+c@x.example|a.b+c@x.example>."),
        ("`https://x.example`", "`https://x.example`"),
        ("```\nhttps://x.example a@x.example\n```", "```\nhttps://x.example a@x.example\n```"),
        ("[Leave](https://x.example)", "<https://x.example|Leave>"),
        ("[https://x.example](https://x.example)", "<https://x.example>"),
        ("[see www.x.example](https://x.example/b)", "see www.x.example (<https://x.example/b>)"),
        ("<https://x.example>", "<https://x.example>"),
        ("https://x.example/{id}/a https://… https://", "https://x.example/{id}/a https://… https://"),
        ("https://<host>/a", "https://&lt;host&gt;/a"),
        ("<!date^1^{date}^https://x.example|now>", "&lt;!date^1^{date}^https://x.example|now&gt;"),
        ("<!subteam^S1|@kb-admins> <a@x.example>", "!subteam^S1¦@kb-admins <mailto:a@x.example|a@x.example>"),
        ("git@x.example:org/repo.git @alice @u@m.example", "git@x.example:org/repo.git @alice @u@m.example"),
        (
            "ftp://x.example javascript:alert(1) xhttps://x.example",
            "ftp://x.example javascript:alert(1) xhttps://x.example",
        ),
    ],
)
def test_an_address_that_stands_bare_can_be_clicked_and_none_in_code(markdown: str, expected: str) -> None:
    assert to_mrkdwn(markdown) == expected


@pytest.mark.parametrize(
    ("markdown", "urls"),
    [
        ("at https://hr.example/sick?form=a&lang=en.", ["https://hr.example/sick?form=a&lang=en"]),
        ("**a https://x.example/a** b@x.example", ["https://x.example/a", "mailto:b@x.example"]),
        ("`https://x.example` and [a](https://y.example)", ["https://y.example"]),
    ],
)
def test_in_rich_text_bare_addresses_are_links_too(markdown: str, urls: list[str]) -> None:
    assert [span.url for line in lines_of(markdown) for span in line.spans if span.url] == urls


@pytest.mark.parametrize(
    "address", ["https://x.example|<!channel>", "https://x.example/><!here>", "www.x.example|<@U1>"]
)
def test_a_bare_address_smuggles_nothing_in(address: str) -> None:
    assert not re.search(r"<[!@#]", to_mrkdwn(address))
    assert to_mrkdwn(address).count("<") <= 1


def test_a_link_in_a_tables_cell_is_a_link_there() -> None:
    (piece,) = to_pieces(
        "| Form | Where |\n|---|---|\n| [Sick](https://x.example/s) now | https://x.example/a&b |\n| `https://c.example` | [x](javascript:y) |"
    )
    header, first, second = table_block(piece.rows)["rows"]
    assert {cell["type"] for cell in [*header, *second]} == {"raw_text"}
    assert first[0]["elements"][0]["elements"] == [
        {"type": "link", "url": "https://x.example/s", "text": "Sick"},
        {"type": "text", "text": " now"},
    ]
    assert first[1]["elements"][0]["elements"] == [
        {"type": "link", "url": "https://x.example/a&b", "text": "https://x.example/a&b"}
    ]
    check_message_blocks([table_block(piece.rows)])
