"""Answers as Slack messages."""

import json
import re
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block

from bot.messages.catalog import LANGUAGES
from bot.rendering.render import Rendered, answer_markdown, render
from kb.answer import Answer, AnswerWarning, NearestPage, Sentence
from kb.models import PageDates, Rewrite, Successor
from tests.fakes.answers import a_chunk, a_citation, a_page, an_answer, cell_text

TODAY = date(2026, 11, 27)

OVERDUE = a_page(owner="People team", dates=PageDates(reviewed=date(2024, 5, 3), review_due=date(2025, 5, 1)))
OVERDUE_WARNING = AnswerWarning(
    kind="outdated", reason="review_overdue", page=OVERDUE, date=date(2025, 5, 1), text=""
)


def rendered(answer: Answer) -> Rendered:
    return render(answer, question_id="T0-C0-1.2", today=TODAY)


def texts(message: Rendered) -> list[str]:
    """What each block says, in order."""
    said: list[str] = []
    for block in message.blocks:
        if block["type"] == "section":
            said.append(block["text"]["text"])
        elif block["type"] == "context":
            said.extend(element["text"] for element in block["elements"])
        elif block["type"] == "table":
            said.extend(" | ".join(cell_text(cell) for cell in row) for row in block["rows"])
    return said


def assert_slack_takes(message: Rendered) -> None:
    assert len(message.blocks) <= 50
    total = 0
    for block in message.blocks:
        parsed = Block.parse(block)
        assert parsed is not None, block["type"]
        assert json.loads(json.dumps(parsed.to_dict())) == block
        total += len(json.dumps(block, ensure_ascii=False))
        if block["type"] == "section":
            assert len(block["text"]["text"]) <= 3000
            assert block["text"]["text"].count("```") % 2 == 0
        if block["type"] == "context":
            assert len(block["elements"]) <= 10
            assert all(len(element["text"]) <= 3000 for element in block["elements"])
    assert sum(len(text) for text in texts(message)) <= 13_200
    assert len(message.text) <= 4000


def test_an_answer_comes_first_then_warnings_then_sources_then_the_buttons() -> None:
    message = rendered(
        an_answer(
            "Full-time employees get 25 days of paid holiday a year.",
            "Unused days can be carried over until 31 March.",
            citations=(a_citation(1, OVERDUE, freshness="outdated"),),
            warnings=(OVERDUE_WARNING,),
        )
    )
    assert texts(message) == [
        "Full-time employees get 25 days of paid holiday a year. "
        "<https://kb.example/leave-policy#annual-leave|[1]> "
        "Unused days can be carried over until 31 March. "
        "<https://kb.example/leave-policy#annual-leave|[1]>",
        "⚠️ *<https://kb.example/leave-policy|Leave policy>* was due for review on 1 May 2025 (19 months ago). "
        "Owner: People team.",
        "[1]  <https://kb.example/leave-policy#annual-leave|Leave policy> › Annual leave"
        " · reviewed 3 May 2024 · review overdue since 1 May 2025 · owner: People team · 92%",
    ]
    assert [block["type"] for block in message.blocks] == ["section", "section", "context", "actions"]
    assert_slack_takes(message)


def test_a_doubt_about_the_page_that_carries_the_answer_stands_above_it() -> None:
    message = rendered(
        an_answer(
            citations=(a_citation(1, OVERDUE, freshness="outdated"),),
            warnings=(replace(OVERDUE_WARNING, carries=True),),
        )
    )
    assert [text[:12] for text in texts(message)] == ["⚠️ *<https:/", "Full-time em", "[1]  <https:"]
    assert message.text.startswith("Full-time employees get 25 days")
    assert_slack_takes(message)


@pytest.mark.parametrize(
    ("language", "told", "reviewed"),
    [
        ("en", "The pages disagree: ", "reviewed 3 May 2026"),
        ("nl", "De pagina's spreken elkaar tegen: ", "nagekeken 3 mei 2026"),
        ("de", "Die Seiten widersprechen sich: ", "3. Mai 2026"),
    ],
)
def test_a_conflict_shows_both_statements_with_page_and_date_the_newer_one_first(
    language: str, told: str, reviewed: str
) -> None:
    new = a_page(title="Leave policy", dates=PageDates(reviewed=date(2026, 5, 3)))
    old = a_page(title="Leave FAQ", dates=PageDates(edited=date(2025, 8, 12)))
    message = rendered(
        an_answer(
            Sentence(text="- Employees get 27 days of holiday.", citations=(1,)),
            Sentence(text="- Staff have 25 days of holiday.", citations=(2,)),
            citations=(a_citation(1, new), a_citation(2, old)),
            warnings=(
                AnswerWarning(
                    kind="conflict",
                    reason="conflict",
                    page=old,
                    date=date(2025, 8, 12),
                    text="",
                    carries=True,
                    disputed=(1, 2),
                ),
            ),
            language=language,
        )
    )
    warning, body, *sources = texts(message)
    assert warning.startswith(f"⚠️ {told}*<https://kb.example/leave-policy|Leave policy>* (")
    first, second = body.split("\n")
    assert "27 days" in first
    assert "Leave policy>*" in first
    assert reviewed in first
    assert "25 days" in second
    assert "Leave FAQ>*" in second
    assert len(sources) == 1  # one block of two lines
    assert_slack_takes(message)


def test_a_replaced_page_names_its_successor_beside_its_citation() -> None:
    page = a_page(
        title="Travel 2024",
        successor=Successor(id="n", title="Travel 2026", url="https://kb.example/travel-2026"),
    )
    warning = AnswerWarning(kind="superseded", reason="superseded", page=page, date=None, text="")
    message = rendered(
        an_answer(citations=(a_citation(1, page, freshness="superseded"),), warnings=(warning,))
    )
    assert "replaced by <https://kb.example/travel-2026|Travel 2026>" in texts(message)[-1]
    assert "has been replaced by <https://kb.example/travel-2026|Travel 2026>" in texts(message)[1]


def test_the_text_for_notifications_says_the_same_as_the_blocks() -> None:
    message = rendered(an_answer(warnings=(OVERDUE_WARNING,), notes=("extractive mode",)))
    assert message.text.startswith("Full-time employees get 25 days of paid holiday a year. [1]\n")
    for part in ("was due for review", "Sources:", "Leave policy", "Quotes from the pages"):
        assert part in message.text


def test_a_rewritten_question_is_shown_before_the_answer() -> None:
    rewrite = Rewrite(query="When do <unused> holiday days expire?", needs_rewrite=True)
    message = rendered(an_answer(rewrite=rewrite))
    assert texts(message)[0] == "Interpreted as: _When do &lt;unused&gt; holiday days expire?_"
    assert texts(rendered(an_answer()))[0].startswith("Full-time")


def test_buttons_say_what_they_mean_without_their_emoji() -> None:
    (actions,) = [block for block in rendered(an_answer()).blocks if block["type"] == "actions"]
    assert [button["accessibility_label"] for button in actions["elements"]] == [
        "This answer helped",
        "This answer did not help",
        "Why this answer?",
    ]
    assert {button["value"] for button in actions["elements"]} == {"T0-C0-1.2"}


def warnings_in(message: Rendered) -> list[str]:
    return [line for text in texts(message) for line in text.split("\n") if line.startswith("⚠️")]


@pytest.mark.parametrize(
    ("warning", "told"),
    [
        (
            {"reason": "expired", "date": date(2026, 11, 1)},
            "*{page}* expired on 1 November 2026 (26 days ago).",
        ),
        (
            {"reason": "old_edit", "date": date(2022, 1, 9)},
            "*{page}* was last edited on 9 January 2022 (4 years ago).",
        ),
        (
            {"reason": "old_review", "date": date(2025, 3, 1)},
            "*{page}* was last reviewed on 1 March 2025 (21 months ago).",
        ),
    ],
)
def test_a_warning_names_the_page_the_date_and_how_long_ago(warning: dict[str, Any], told: str) -> None:
    page = a_page()
    one = AnswerWarning(kind="outdated", page=page, text="", **warning)
    assert f"⚠️ {told.format(page='<https://kb.example/leave-policy|Leave policy>')}" in texts(
        rendered(an_answer(warnings=(one,)))
    )


def test_pages_in_one_state_share_a_line_and_name_each_owner_once() -> None:
    def overdue(title: str, day: date, **given: Any) -> AnswerWarning:
        page = a_page(title=title, url="", **given)
        return AnswerWarning(kind="outdated", reason="review_overdue", page=page, date=day, text="")

    ours = [
        overdue(title, date(2026, 8, day), owner="Ops") for title, day in (("Access", 9), ("Backups", 21))
    ]
    theirs = overdue("Travel", date(2025, 5, 3), owner="People team")
    assert warnings_in(rendered(an_answer(warnings=(ours[0], theirs, ours[1])))) == [
        "⚠️ Overdue for review: *Access* (9 August 2026), *Backups* (21 August 2026). Owner: Ops. "
        "Overdue for review: *Travel* (3 May 2025). Owner: People team."
    ]


def test_a_page_that_was_replaced_keeps_a_line_of_its_own() -> None:
    old = a_page(title="Pay", url="")
    aged = [
        AnswerWarning(kind="outdated", reason=reason, page=a_page(title=title, url=""), date=day, text="")
        for reason, title, day in (
            ("old_edit", "Travel", date(2022, 1, 9)),
            ("old_review", "Leave", date(2025, 3, 1)),
        )
    ]
    replaced = AnswerWarning(kind="superseded", reason="superseded", page=old, date=None, text="")
    assert warnings_in(rendered(an_answer(warnings=(aged[0], replaced, aged[1])))) == [
        "⚠️ Not reviewed or edited for long: *Travel* (9 January 2022), *Leave* (1 March 2025).",
        "⚠️ *Pay* has been replaced.",
    ]


def test_a_page_that_its_author_has_given_up_says_so_in_the_author_s_word() -> None:
    page = a_page(retired="deprecated")
    one = AnswerWarning(kind="outdated", reason="retired", page=page, date=None, text="")
    assert (
        "⚠️ *<https://kb.example/leave-policy|Leave policy>* is marked “deprecated” by its author."
        in texts(rendered(an_answer(warnings=(one,))))
    )


@pytest.mark.parametrize(
    "written",
    [
        "Leave policy 2026",
        "leave-2026.md",
        "https://kb.example/leave-2026",
        "https://evil.example/login-2026",
        "https://kb.example@evil.example/2026",
        "//evil.example/2026",
        "javascript:alert(2026)",
        "<!channel> 2026",
    ],
)
def test_a_successor_that_the_reader_does_not_find_is_not_named(written: str) -> None:
    page = a_page(superseded_by=written)
    one = AnswerWarning(kind="superseded", reason="superseded", page=page, date=None, text="")
    message = rendered(an_answer(warnings=(one,), citations=(a_citation(1, page, freshness="superseded"),)))
    assert "has been replaced." in message.text
    assert "2026" not in json.dumps(message.blocks) + message.text


def test_a_page_without_a_date_says_so_in_its_source_line() -> None:
    page = a_page(dates=PageDates())
    said = texts(rendered(an_answer(citations=(a_citation(1, page, freshness="undated"),))))
    assert said[1].endswith("Annual leave · no date · 92%")


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("nl", "nagekeken 3 mei 2024"),
        ("de", "überprüft 3. Mai 2024"),
        ("fr", "révisée le 3 mai 2024"),
        ("ja", "reviewed 3 May 2024"),
    ],
)
def test_dates_and_words_are_the_readers_and_english_where_we_have_none(language: str, told: str) -> None:
    assert told in texts(rendered(an_answer(language=language)))[1]


def test_a_page_without_a_web_address_is_cited_without_a_link() -> None:
    chunk = a_chunk(a_page(url="leave.md"), url="leave.md#annual")
    said = texts(rendered(an_answer("25 days.", citations=(a_citation(1, chunk=chunk),))))
    assert said[0] == "25 days. [1]"
    assert said[1].startswith("[1]  Leave policy › Annual leave")


def test_a_list_keeps_its_form_and_its_marks() -> None:
    said = texts(rendered(an_answer("You need:", "1. a form", "2. a signature", "Then send it.")))
    mark = "<https://kb.example/leave-policy#annual-leave|[1]>"
    assert said[0] == f"You need: {mark}\n\n1. a form {mark}\n2. a signature {mark}\n\nThen send it. {mark}"


def test_a_table_is_a_table_block_and_is_cited_below() -> None:
    message = rendered(
        an_answer("| Days | Notice |\n|---|---|\n| 1-5 | 2 weeks |", "| 6+ | 6 weeks |", "That is all.")
    )
    table = next(block for block in message.blocks if block["type"] == "table")
    assert [[cell_text(cell) for cell in row] for row in table["rows"]] == [
        ["Days", "Notice"], ["1-5", "2 weeks"], ["6+", "6 weeks"],
    ]  # fmt: skip
    assert texts(message)[3].startswith("Source: <https://kb.example/leave-policy#annual-leave|[1]>")
    assert_slack_takes(message)


def test_code_is_cited_below_its_fence() -> None:
    said = texts(rendered(an_answer("```\nmake run\n```")))
    assert said[0] == "```\nmake run\n```\n\nSource: <https://kb.example/leave-policy#annual-leave|[1]>"


@pytest.mark.parametrize(
    "block", ["```\nmake run\n```", "| a | b |\n|---|---|\n| 1 | 2 |", "a | b\n--- | ---\n1 | 2"]
)
def test_no_number_stands_alone_below_a_table_or_code(block: str) -> None:
    led_in = rendered(an_answer("It is done like this:", block, "Then wait."))
    assert not any(
        re.match(r"\s*(Sources?: )?<[^>]*\|\[1\]>", line) for line in "\n".join(texts(led_in)).split("\n")
    )
    alone = rendered(an_answer(block, language="nl"))
    assert "Bron: [1]" in alone.text
    for text in (
        answer_markdown(an_answer(block, block)),
        answer_markdown(an_answer("So:", block, "Then wait.")),
    ):
        assert not re.search(r"^\[1\]", text, re.MULTILINE)
        assert re.search(r"\[1\]", text)


def test_a_fence_that_a_sentence_leaves_open_does_not_swallow_the_rest() -> None:
    said = texts(rendered(an_answer("```\nmake run", "Then open the page.")))
    assert "Then open the page." in said[0].split("```")[2]


def test_a_declined_answer_offers_the_nearest_pages_and_never_a_guess() -> None:
    answer = an_answer(
        outcome="declined",
        sentences=(),
        citations=(),
        nearest=(
            NearestPage(title="Travel", url="https://kb.example/t"),
            NearestPage(title="Pay", url="pay.md"),
        ),
    )
    message = rendered(answer)
    assert texts(message)[0] == (
        "I couldn't find this in the knowledge base.\nThe nearest pages are: <https://kb.example/t|Travel>, Pay.\n"
        "Try naming the product, team or rule you mean, or ask the owner of one of these pages."
    )
    assert_slack_takes(message)
    assert "[Travel](<https://kb.example/t>), [Pay](<pay.md>)" in answer_markdown(answer)


def test_an_outage_is_never_worded_as_not_found() -> None:
    said = texts(rendered(an_answer(outcome="unavailable", sentences=(), citations=())))
    assert said == [
        "I can't reach the knowledge base at the moment, so I can't say whether it is in there. "
        "Please ask again in a few minutes."
    ]


@pytest.mark.parametrize("kind", ["greeting", "thanks", "who_are_you", "goodbye"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_small_talk_is_answered_in_one_sentence_without_buttons(kind: Any, language: str) -> None:
    message = rendered(
        an_answer(outcome="chat", sentences=(), citations=(), small_talk=kind, language=language)
    )
    assert [block["type"] for block in message.blocks] == ["section"]
    assert_slack_takes(message)


def test_degradations_are_one_quiet_line_and_what_only_operators_mend_is_not_among_them() -> None:
    message = rendered(an_answer(notes=("extractive mode", "model unavailable", "reranker unavailable")))
    assert texts(message)[-1] == ("The model is not reachable: these are quotes from the pages.")


def test_a_page_cannot_forge_marks_or_pings() -> None:
    page = a_page(title="<!channel>|x\ue0001\ue001", owner="<@U0ALICE>")
    warning = AnswerWarning(kind="outdated", reason="old_edit", page=page, date=date(2020, 1, 1), text="")
    message = rendered(
        an_answer("<!here> \ue0001\ue001", citations=(a_citation(1, page),), warnings=(warning,))
    )
    everything = json.dumps(message.blocks, ensure_ascii=False) + message.text
    assert "<!" not in everything
    assert "<@" not in everything
    assert all(block.get("text", {}).get("verbatim", True) for block in message.blocks)


def test_a_long_answer_is_cut_at_its_paragraphs_and_says_so() -> None:
    paragraph = "Every line manager signs the form before it goes to payroll. " * 12
    code = "```\n" + "\n".join(f"step {number} of the deployment" for number in range(200)) + "\n```"
    message = rendered(an_answer(*[Sentence(text=f"- {paragraph}", citations=(1,))] * 9, code))
    assert_slack_takes(message)
    assert texts(message)[-1].startswith("This is shortened.")
    assert_slack_takes(rendered(an_answer(code, code.replace("step", "stage"))))


def test_a_second_or_a_huge_table_becomes_columns_of_text() -> None:
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {row} | x |" for row in range(150))
    message = rendered(
        an_answer(table, "And:", "| c | d |\n|---|---|\n| 1 | 2 |", "And:", "| e |\n|---|\n| 3 |")
    )
    assert [block["type"] for block in message.blocks].count("table") == 1
    assert_slack_takes(message)


markdown_lines = st.text(alphabet="ab <>|`*_-#&\n.1!@", max_size=400)


@settings(max_examples=60, deadline=None)
@given(st.lists(markdown_lines, min_size=1, max_size=40), st.integers(min_value=1, max_value=12))
def test_whatever_the_pages_hold_the_message_stays_within_slacks_limits(
    lines: list[str], sources: int
) -> None:
    citations = tuple(
        a_citation(n, a_page(title="T" * 50 * n, url=f"https://kb.example/{'u' * 80 * n}"))
        for n in range(1, sources + 1)
    )
    sentences = [Sentence(text=line * 3, citations=(1 + at % sources,)) for at, line in enumerate(lines)]
    assert_slack_takes(rendered(an_answer(*sentences, citations=citations)))


def test_a_whole_answer_looks_as_it_did(request: pytest.FixtureRequest) -> None:
    """The snapshot holds a message with everything; after a wanted change, delete it and run this test twice."""
    newer = a_page(title="Leave FAQ", dates=PageDates(edited=date(2026, 8, 12)))
    message = rendered(
        an_answer(
            Sentence(text="Full-time employees get **25 days** of paid holiday a year.", citations=(1,)),
            Sentence(text="- Unused days can be carried over until 31 March.", citations=(1, 2)),
            Sentence(text="| Days | Notice |\n|---|---|\n| 1-5 | 2 weeks |", citations=(2,)),
            citations=(a_citation(1, OVERDUE, freshness="outdated"), a_citation(2, newer, score=0.81)),
            warnings=(OVERDUE_WARNING,),
            notes=("extractive mode", "reranker unavailable"),
            rewrite=Rewrite(query="How many holiday days, and when do they expire?", needs_rewrite=True),
        )
    )
    snapshot = request.path.parent / "snapshots" / "answer.json"
    told = {"text": message.text, "blocks": list(message.blocks)}
    if not snapshot.exists():
        snapshot.parent.mkdir(exist_ok=True)
        snapshot.write_text(json.dumps(told, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        pytest.fail(f"{snapshot.name} was not there and is written now; look at it and run again")
    assert told == json.loads(snapshot.read_text(encoding="utf-8"))
    assert_slack_takes(message)
