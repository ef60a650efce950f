"""What the pages say, as Slack messages and as Markdown."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from slack_sdk.models.blocks import Block

from bot.playground.block_kit import check_message_blocks
from bot.rendering.render import Rendered, answer_markdown, render
from kb.answer import Answer, AnswerWarning, Checked, NearestPage, Quote
from kb.models import PageDates
from tests.fakes.answers import a_chunk, a_citation, a_page, a_quote, an_answer, cell_text, quotes_of

TODAY = date(2026, 11, 27)
OWNED = a_page(owner="People team")
ROWS = "| Team | Lead |\n|---|---|\n| Ops | **Ann** |\n| Web | [Bo](https://kb.example/bo) |"


def rendered(answer: Answer) -> Rendered:
    return render(answer, question_id="T0-C0-1.2", today=TODAY)


def elements(message: Rendered) -> list[dict[str, Any]]:
    return [one for block in message.blocks if block["type"] == "rich_text" for one in block["elements"]]


def words_of(element: dict[str, Any]) -> str:
    return "".join(words_of(one) if "elements" in one else one["text"] for one in element["elements"])


def bold_in(message: Rendered, *, kinds: tuple[str, ...] = ("rich_text_quote", "rich_text_list")) -> str:
    def leaves(element: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for one in element["elements"]:
            yield from leaves(one) if "elements" in one else [one]

    shown = [leaf for one in elements(message) if one["type"] in kinds for leaf in leaves(one)]
    return "".join(leaf["text"] for leaf in shown if leaf.get("style", {}).get("bold"))


def quoted_lines(message: Rendered) -> list[str]:
    return [words_of(one) for one in elements(message)]


def quiet_lines(message: Rendered) -> list[str]:
    return [
        one["text"] for block in message.blocks if block["type"] == "context" for one in block["elements"]
    ]


def section_lines(message: Rendered) -> list[str]:
    return [block["text"]["text"] for block in message.blocks if block["type"] == "section"]


def assert_slack_takes(message: Rendered) -> None:
    blocks = list(message.blocks)
    check_message_blocks(blocks)
    for block in blocks:
        parsed = Block.parse(block)
        assert parsed is not None, block["type"]
        assert json.loads(json.dumps(parsed.to_dict())) == block
    for element in elements(message):
        assert element["elements"], element["type"]
        assert words_of(element)
    assert len(message.text) <= 4000


def test_a_quote_is_led_in_by_its_page_and_its_best_sentence_is_bold() -> None:
    message = rendered(quotes_of())
    assert quoted_lines(message) == [
        "Leave policy › Annual leave (reviewed 3 May 2024) says:",
        "Full-time employees get 25 days of paid holiday a year. Public holidays come on top.",
    ]
    assert [one["type"] for one in elements(message)] == ["rich_text_section", "rich_text_quote"]
    assert elements(message)[0]["elements"][0] == {
        "type": "link",
        "url": "https://kb.example/leave-policy#annual-leave",
        "text": "Leave policy",
        "style": {"bold": True},
    }
    assert bold_in(message) == "Full-time employees get 25 days of paid holiday a year."
    assert [block["type"] for block in message.blocks] == ["rich_text", "context", "actions"]
    assert quiet_lines(message) == ["Quotes from the pages."]
    assert_slack_takes(message)


@pytest.mark.parametrize(
    ("language", "head"),
    [
        ("nl", "Leave policy › Annual leave (nagekeken 3 mei 2024) zegt:"),
        ("de", "Leave policy › Annual leave (überprüft 3. Mai 2024) sagt:"),
    ],
)
def test_the_head_is_in_the_readers_language(language: str, head: str) -> None:
    assert quoted_lines(rendered(quotes_of(language=language)))[0] == head


def test_a_page_without_dates_and_sections_is_named_by_its_title_alone() -> None:
    chunk = a_chunk(a_page(dates=PageDates()), section=(), url="leave.md")
    message = rendered(quotes_of(a_quote(citation=a_citation(chunk=chunk))))
    assert quoted_lines(message)[0] == "Leave policy says:"
    assert_slack_takes(message)


def test_a_list_is_quoted_as_a_list_with_its_numbers_and_what_is_nested_in_it() -> None:
    message = rendered(
        quotes_of(
            a_quote(
                "You need:\n\n3. a form\n   - signed\n4. a `stamp` & [a copy](https://kb.example/copy)",
                best="4. a `stamp` & [a copy](https://kb.example/copy)",
            )
        )
    )
    _, lead, first, nested, second = elements(message)
    assert (lead["type"], words_of(lead)) == ("rich_text_quote", "You need:")
    assert (first["style"], first["offset"], first["border"], words_of(first)) == ("ordered", 2, 1, "a form")
    assert (nested["style"], nested["indent"], words_of(nested)) == ("bullet", 1, "signed")
    assert (second["offset"], words_of(second)) == (3, "a stamp & a copy")
    assert bold_in(message) == "a stamp & a copy"
    assert_slack_takes(message)


@pytest.mark.parametrize(
    ("block", "best", "bold"),
    [
        ("Ask *Ann*. It is **not** free; see [the form](https://kb.example/f).", "It is **not** free; see [the form](https://kb.example/f).", "It is not free; see the form."),
        ("申請の締切日は毎月25日です。遅れたら来月。", "申請の締切日は毎月25日です。", "申請の締切日は毎月25日です。"),
        ("**Note: one. Two is here.** Three.", "Two is here.**", "Note: one. Two is here."),
        ("Set `MAX_*` to 5 * 3. Or a_b_c.", "Set `MAX_*` to 5 * 3.", "Set MAX_* to 5 * 3."),
        ("Tom &amp; Jo share. Ann &lt;ops&gt; too.", "Tom &amp; Jo share.", "Tom & Jo share."),
        ("A line that\nis wrapped. Next.", "A line that\nis wrapped.", "A line that is wrapped."),
        ("To ask:\n\n1. Write to:\n    - Projects: Ann", "    - Projects: Ann", "Projects: Ann"),
        ("One sentence that is all.", "One sentence that is all.", ""),
        ("Something else.", "Not on the page.", ""),
    ],
)  # fmt: skip
def test_no_mark_in_the_text_breaks_the_bold_of_the_best_sentence(block: str, best: str, bold: str) -> None:
    message = rendered(quotes_of(a_quote(block, best=best)))
    assert bold_in(message) == bold
    assert_slack_takes(message)


def test_a_table_in_a_quote_is_a_table_under_its_head_and_says_which_rows_are_missing() -> None:
    message = rendered(quotes_of(a_quote("Who leads:", ROWS, best="| Ops | **Ann** |", shown=2, total=7)))
    assert [block["type"] for block in message.blocks] == [
        "rich_text", "table", "context", "context", "actions",
    ]  # fmt: skip
    table = message.blocks[1]
    assert [[cell_text(cell) for cell in row] for row in table["rows"]] == [
        ["Team", "Lead"], ["Ops", "Ann"], ["Web", "Bo"],
    ]  # fmt: skip
    assert quiet_lines(message)[0] == "2 of 7 rows; the page has them all."
    assert "2 of 7 rows; the page has them all." in message.text
    assert_slack_takes(message)


def test_items_that_are_missing_are_counted_too() -> None:
    message = rendered(quotes_of(a_quote("- one\n- two", shown=2, total=12)))
    assert quiet_lines(message)[0] == "2 of 12 items; the page has them all."


def test_a_table_with_more_rows_than_a_message_takes_never_loses_them_silently() -> None:
    rows = "\n".join(f"| {at} | {'x' * 60} |" for at in range(150))
    message = rendered(quotes_of(a_quote(f"| n | what |\n|---|---|\n{rows}")))
    table = next(block for block in message.blocks if block["type"] == "table")
    shown = len(table["rows"]) - 1
    assert 0 < shown < 150
    assert quiet_lines(message)[0] == f"{shown} of 150 rows; the page has them all."
    assert_slack_takes(message)


def test_a_second_table_of_a_message_is_a_list_of_its_rows() -> None:
    message = rendered(quotes_of(a_quote(ROWS), a_quote(ROWS, n=2)))
    assert [block["type"] for block in message.blocks].count("table") == 1
    _, _, header, rows = elements(message)
    assert (header["type"], words_of(header)) == ("rich_text_quote", "Team · Lead")
    assert [words_of(row) for row in rows["elements"]] == ["Ops · Ann", "Web · Bo"]
    assert_slack_takes(message)


def test_code_is_a_fence_whatever_backticks_it_holds_and_nothing_in_it_is_bold() -> None:
    code = "Run this:\n\n````sh\necho '```'\nmake run\n````"
    message = rendered(quotes_of(a_quote(code, best="make run")))
    assert words_of(elements(message)[2]) == "echo '```'\nmake run"
    assert bold_in(message) == ""
    assert_slack_takes(message)
    left_open = rendered(quotes_of(a_quote("```\nmake run"), a_quote("Then go on.", n=2)))
    assert quoted_lines(left_open)[-1] == "Then go on."


def test_code_within_an_item_stays_between_the_items() -> None:
    message = rendered(quotes_of(a_quote("1. Run:\n\n   ```\n   make\n   ```\n\n2. Wait.")))
    assert [one["type"] for one in elements(message)][1:] == [
        "rich_text_list", "rich_text_preformatted", "rich_text_list",
    ]  # fmt: skip
    assert elements(message)[-1]["offset"] == 1


def test_doubts_come_after_the_quotes_and_a_conflict_before_them() -> None:
    old = a_page(title="Leave FAQ")
    overdue = AnswerWarning(
        kind="outdated", reason="review_overdue", page=OWNED, date=date(2025, 5, 3), text="", carries=True
    )
    conflict = AnswerWarning(
        kind="conflict", reason="conflict", page=old, date=None, text="", carries=True, disputed=(1, 2)
    )
    message = rendered(quotes_of(a_quote(page=OWNED), a_quote(page=old, n=2), warnings=(overdue, conflict)))
    assert [block["type"] for block in message.blocks] == [
        "section", "rich_text", "rich_text", "section", "context", "actions",
    ]  # fmt: skip
    first, last = section_lines(message)
    assert first.startswith("⚠️ The pages disagree: ")
    assert last.endswith("was due for review on 3 May 2025 (19 months ago). Owner: People team.")


def closest(**given: Any) -> Answer:
    others = (
        NearestPage(title="Leave policy", url=OWNED.url),
        NearestPage(title="Pay", url="https://kb.example/pay"),
    )
    return quotes_of(a_quote(page=OWNED), **({"outcome": "closest", "nearest": others} | given))


def test_what_is_only_near_claims_nothing_and_names_the_owner() -> None:
    message = rendered(closest())
    assert section_lines(message) == [
        "I found no direct answer. The closest is:",
        "Other pages nearby: <https://kb.example/pay|Pay>.\n"
        "Owner of <https://kb.example/leave-policy|Leave policy>: People team.",
    ]
    assert quoted_lines(message)[0] == "Leave policy › Annual leave (reviewed 3 May 2024)"
    assert "%" not in message.text
    assert message.blocks[-1]["type"] == "actions"
    assert_slack_takes(message)


def test_a_page_without_an_owner_leaves_the_reader_a_way_on() -> None:
    message = rendered(replace(closest(), quotes=(a_quote(),), nearest=()))
    assert section_lines(message)[-1].startswith("Try other words")


def test_a_model_that_declines_shows_what_comes_closest() -> None:
    message = rendered(closest(outcome="declined", mode="model", notes=()))
    assert section_lines(message)[0] == ("I couldn't find this in the knowledge base. The closest page says:")
    assert "People team" in section_lines(message)[1]
    assert_slack_takes(message)


def test_the_owner_of_a_page_that_only_comes_near_is_named_once() -> None:
    overdue = AnswerWarning(
        kind="outdated", reason="review_overdue", page=OWNED, date=date(2025, 5, 3), text="", carries=True
    )
    for message in (rendered(closest()), rendered(closest(warnings=(overdue,)))):
        assert message.text.count("People team") == 1
        assert json.dumps(message.blocks).count("People team") == 1


def test_each_part_of_a_question_stands_over_its_quotes_and_the_unfound_are_named() -> None:
    first, second = "How many days do I get?", "Who approves it?"
    message = rendered(
        quotes_of(
            a_quote(part=first),
            a_quote("Your manager does.", n=2, part=first),
            a_quote("Ann approves.", n=3, part=second),
            unfound=("What is the moon_base budget?",),
        )
    )
    assert section_lines(message) == [
        f"_{first}_",
        f"_{second}_",
        "I found no direct answer to: _What is the moon_base budget?_",
    ]
    assert_slack_takes(message)


def test_what_the_pages_leave_open_stands_apart_below_a_written_answer() -> None:
    message = rendered(an_answer(left_open="The pages don't say whether **contractors** get it."))
    assert section_lines(message)[1] == "The pages don't say whether *contractors* get it."
    assert answer_markdown(an_answer(left_open="The pages don't say.")).endswith("\n\nThe pages don't say.")


@pytest.mark.parametrize(
    ("removed", "told"),
    [
        (1, "One sentence removed: not on the page."),
        (2, "2 sentences removed: not on the page."),
    ],
)
def test_removed_sentences_are_counted(removed: int, told: str) -> None:
    answer = an_answer(notes=("sentences removed",))
    checked = Checked(sentences=4, cited=4, supported=4 - removed, removed=removed)
    message = rendered(replace(answer, trace=replace(answer.trace, checked=checked)))
    assert quiet_lines(message)[-1] == told


def test_when_there_is_nothing_more_to_say_that_is_said() -> None:
    nothing = an_answer(outcome="declined", sentences=(), citations=(), notes=("nothing more",))
    assert section_lines(rendered(nothing)) == ["That is all that the pages say about it."]
    assert answer_markdown(nothing) == "That is all that the pages say about it."
    more = quotes_of(notes=("extractive mode", "nothing more"))
    assert "That is all that the pages say about it." in quiet_lines(rendered(more))[-1]


def test_a_source_whose_worth_nothing_measured_shows_no_percentage() -> None:
    line = quiet_lines(rendered(an_answer(citations=(a_citation(score=None),))))[0]
    assert line.endswith("Annual leave · reviewed 3 May 2024")


def test_pages_with_one_title_have_their_place_beside_it_wherever_they_are_named() -> None:
    ghent, zwolle = (
        a_page(
            id=place, title="Parking", path=f"offices/{place}/parking.md", url=f"https://kb.example/{place}"
        )
        for place in ("ghent", "zwolle")
    )
    old = AnswerWarning(kind="outdated", reason="old_edit", page=ghent, date=date(2022, 1, 9), text="")
    message = rendered(quotes_of(a_quote(page=ghent), a_quote(page=zwolle, n=2), warnings=(old,)))
    assert [line.split(" ›")[0] for line in quoted_lines(message)[::2]] == [
        "Parking (ghent)",
        "Parking (zwolle)",
    ]
    assert "|Parking (ghent)>* was last edited" in section_lines(message)[0]
    near = NearestPage(title="Parking", url=zwolle.url)
    beside = quotes_of(a_quote(page=ghent), a_quote(page=zwolle, n=2))
    offered = closest(quotes=(a_quote(page=ghent),), nearest=(near,), trace=beside.trace)
    assert "<https://kb.example/zwolle|Parking (zwolle)>" in section_lines(rendered(offered))[1]
    assert [line.split(" ›")[0] for line in quoted_lines(rendered(quotes_of(a_quote(page=ghent))))[:1]] == [
        "Parking"
    ]


def test_the_place_of_a_page_survives_a_title_that_is_too_long() -> None:
    one, other = (a_page(id=place, title="Long " * 40, path=f"{place}/x.md") for place in ("north", "south"))
    head = quoted_lines(rendered(quotes_of(a_quote(page=one), a_quote(page=other, n=2))))[0]
    assert "… (north) › Annual leave" in head


def test_in_a_terminal_quotes_are_markdown_with_heads_and_bars() -> None:
    said = answer_markdown(
        quotes_of(a_quote("You need:\n\n- a form\n- a stamp", best="- a stamp", shown=2, total=5))
    )
    assert said == (
        "**[Leave policy › Annual leave](<https://kb.example/leave-policy#annual-leave>)** "
        "(reviewed 3 May 2024) says:\n\n"
        "> You need:\n>\n> - a form\n> - **a stamp**\n\n"
        "2 of 5 items; the page has them all."
    )


@pytest.mark.parametrize(
    ("block", "best"),
    [
        (ROWS, "Ops"),
        ("```\nmake run\nmake test\n```", "make run"),
        ("申請の締切日は毎月25日です。次の文。", "申請の締切日は毎月25日です。"),
    ],
)
def test_where_bold_would_break_a_markdown_text_it_stays_as_it_stands_on_the_page(
    block: str, best: str
) -> None:
    said = answer_markdown(quotes_of(a_quote(block, best=best))).split("\n\n", 1)[1]
    assert said == "\n".join(f"> {line}" for line in block.split("\n"))


def test_a_fence_that_a_block_leaves_open_is_closed_in_a_terminal_too() -> None:
    said = answer_markdown(quotes_of(a_quote("```\nmake run"), a_quote("Go on.", n=2)))
    assert "> ```\n> make run\n> ```\n\n**[" in said


def test_a_page_can_neither_forge_a_head_nor_ping_anybody() -> None:
    page = a_page(title="<!channel> *x*](y) _z_", owner="<@U0ALICE>")
    answer = quotes_of(
        a_quote("<!here> <@U0BOB> [1](https://evil.example)", page=page, part="<!everyone>"),
        outcome="closest",
        unfound=("<!channel>",),
    )
    message = rendered(answer)
    told = [message.text, *section_lines(message), *quiet_lines(message)]
    assert not [text for text in told if "<!" in text or "<@" in text]
    kinds = {leaf["type"] for one in elements(message) for leaf in one["elements"]}
    assert kinds <= {"text", "link", "rich_text_section"}
    html = MarkdownIt().render(answer_markdown(answer))
    assert "&lt;!channel&gt; *x*](y) _z_ › Annual leave</a>" in html


markdown_lines = st.text(alphabet="ab <>|`*_-#&\n.1!@。é", max_size=300)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(markdown_lines, min_size=1, max_size=4), min_size=1, max_size=9),
    st.integers(min_value=1, max_value=30),
    st.sampled_from(["answered", "closest", "declined"]),
)
def test_whatever_the_pages_hold_a_message_of_quotes_stays_within_slacks_limits(
    quotes: list[list[str]], times: int, outcome: Any
) -> None:
    def one(at: int, blocks: list[str]) -> Quote:
        page = a_page(title="T" * 40 * times, url=f"https://kb.example/{'u' * 30 * times}", owner="o" * 200)
        longer = tuple(block * times for block in blocks)
        return a_quote(*longer, page=page, n=at + 1, best=blocks[0], total=times, part=f"part {at}" * times)

    answer = quotes_of(*(one(at, blocks) for at, blocks in enumerate(quotes)), outcome=outcome)
    message = rendered(replace(answer, unfound=tuple(blocks[0] for blocks in quotes)))
    assert_slack_takes(message)
    answer_markdown(answer)


def test_a_heading_loses_the_mark_at_its_end_where_our_words_go_on() -> None:
    chunk = a_chunk(a_page(title="Gold Star Program."), section=("Giving:", "How to give one:"))
    message = rendered(quotes_of(a_quote(citation=a_citation(1, chunk=chunk))))
    assert (
        quoted_lines(message)[0] == "Gold Star Program › Giving › How to give one (reviewed 3 May 2024) says:"
    )


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Ask <mailto:pay@kb.example> for it.", "Ask pay@kb.example for it."),
        ("Ask [pay@kb.example](mailto:pay@kb.example?subject=Pay).", "Ask pay@kb.example."),
        ("Ask [payroll](mailto:pay@kb.example).", "Ask payroll."),
        ("![The pay slip](https://kb.example/slip.png)", "The pay slip"),
        ("![The pay slip](slip.png) is sent.", "The pay slip is sent."),
        ("Sent monthly. ![](https://kb.example/slip.png)", "Sent monthly. "),
    ],
)
def test_addresses_and_images_are_read_as_a_person_would_say_them(written: str, read: str) -> None:
    message = rendered(quotes_of(a_quote(written)))
    assert quoted_lines(message)[1] == read
    assert_slack_takes(message)
