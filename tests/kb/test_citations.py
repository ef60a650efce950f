"""Each sentence of an answer against the passages that it cites, by the letter."""

from __future__ import annotations

from datetime import date

import pytest

from kb.citations import DraftSentence, Removed, Verified, check, check_sentence
from kb.citations.citation_markers import SplitPassage, from_citations, from_markers
from kb.citations.sanitize import has_foreign_link, sanitize_links
from kb.llm.stream import CitedBlocks, TextBlock
from kb.models import Chunk, PageDates
from tests.fakes.passages import a_passage

LEAVE = a_passage(
    "Full-time employees get 25 days of paid holiday a year.\n\nUnused days can be carried over until 31 March. "
    "Contractors do not get paid holiday.\n\n- Ask your manager first.\n- Then enter it in PeopleHub."
)
SHIPPING = a_passage(
    "We ship to Canada within 5 business days. Shipping is free above €50.", title="Shipping"
)
EVIDENCE = (LEAVE, SHIPPING)


IDS = ("first", "second", "third")


def said(text: str, *cited: int) -> DraftSentence:
    """Cites passages of EVIDENCE by their place."""
    return DraftSentence(
        text=text, cites=tuple(EVIDENCE[index].id for index in cited), quotes=("",) * len(cited)
    )


def checked(*sentences: DraftSentence, question: str = "") -> Verified:
    return check(sentences, EVIDENCE, question=question)


def reason(text: str, page: str, *, question: str = "", **passage: object) -> str | None:
    """Why a sentence that cites this page is removed; None where it is kept."""
    cited = a_passage(page, **passage)  # type: ignore[arg-type]
    sentence = DraftSentence(text=text, cites=(cited.id,), quotes=("",))
    verdict = check_sentence(sentence, [cited], question=question)
    return verdict.reason if isinstance(verdict, Removed) else None


@pytest.mark.parametrize(
    "text",
    [
        "Full-time employees get 25 days of paid holiday a year.",
        "You get twenty-five days of paid holiday a year.",
        "Unused days can be carried over until March 31.",
        "Contractors do not get paid holiday.",
        "Enter it in PeopleHub.",
        "Je krijgt 25 dagen betaalde vakantie per jaar.",
        "Sie bekommen fünfundzwanzig Tage bezahlten Urlaub im Jahr.",
        "Los empleados tienen 25 días de vacaciones.",
        "Vous avez 25 jours de congé, à prendre avant le 31 mars.",
    ],
)
def test_a_supported_sentence_stays_with_the_pages_own_words(text: str) -> None:
    verified = checked(said(text, 0))

    assert [sentence.text for sentence in verified.kept] == [text]
    (quote,) = verified.kept[0].quotes
    assert quote
    assert quote in LEAVE.text
    assert verified.removed == ()


@pytest.mark.parametrize(
    ("text", "hit", "why"),
    [
        ("Full-time employees get 26 days of paid holiday a year.", 0, "number"),
        ("Je krijgt 30 dagen betaalde vakantie per jaar.", 0, "number"),
        ("Sie bekommen dreißig Tage bezahlten Urlaub im Jahr.", 0, "number"),
        ("Los empleados tienen 30 días de vacaciones.", 0, "number"),
        ("Vous avez 30 jours de congé.", 0, "number"),
        ("Unused days can be carried over until 30 April.", 0, "date"),
        ("Resturlaub gilt bis zum 30. April.", 0, "date"),
        ("Niet opgenomen dagen vervallen op 30 april.", 0, "date"),
        ("Los días caducan el 30 de abril.", 0, "date"),
        ("Les jours expirent le 30 avril.", 0, "date"),
        ("Unused days can be carried over until Monday.", 0, "weekday"),
        ("We ship to Norway within 5 business days.", 1, "name"),
        ("Enter it in `peoplehub --new`.", 0, "name"),
        ("Ask in #leave.", 0, "name"),
        ('The page says "ask your team lead first".', 0, "quote"),
        ("Read more at https://evil.example/holiday about paid holiday.", 0, "link"),
    ],
)
def test_what_does_not_stand_in_what_is_cited_removes_its_sentence(text: str, hit: int, why: str) -> None:
    verified = checked(said(text, hit))

    assert verified.kept == ()
    assert [(one.text, one.reason) for one in verified.removed] == [(text, why)]


@pytest.mark.parametrize(
    ("text", "page"),
    [
        (
            "Yes, if you pick your own therapist, the company will contribute £360 per year.",
            "You may use our therapists. If not, we pay up to £360 a year towards one that you choose.",
        ),
        ("Not without clearing it with the Ops team.", "Clear any travel with the Ops team first."),
        ("Contractors are paid for their holiday.", "Contractors do not get paid holiday."),
        ("Staff may rest with salary.", "Employees get paid holiday."),
        ("Fines are met by whoever sits behind the wheel.", "Fines are paid by the driver of the car."),
    ],
)
def test_meaning_is_not_the_letters_business(text: str, page: str) -> None:
    assert reason(text, page) is None


def test_headings_titles_numbers_of_items_and_heads_of_tables_are_part_of_the_passage() -> None:
    rows = "| Years | Days in 2026 |\n|---|---|\n| 5 to 10 | 27 |\n| over 10 | 30 |"

    assert reason("Principle 11 says that data is protected.", "10. Be open.\n11. Protect data.") is None
    assert reason("Principle 12 says that data is protected.", "10. Be open.\n11. Protect data.") == "number"
    assert reason("In 2026 the row 5 to 10 gives 27 days.", rows) is None
    assert reason("Band 7 gets a car.", "They get a car.", section=("Band 7",)) is None
    assert reason("The plan of 2025 holds.", "It holds.", title="Plan 2025") is None
    dates = PageDates(reviewed=date(2026, 3, 3))
    assert reason("It was reviewed on 3 March 2026.", "It holds.", dates=dates) is None


@pytest.mark.parametrize(
    "text",
    [
        "There are two ways: by post or by mail.",
        "Three steps are needed.",
        "Drei Schritte sind nötig.",
        "There are 3 items in it.",
    ],
)
def test_how_many_things_are_listed_is_no_figure_of_the_page(text: str) -> None:
    assert reason(text, "- by post\n- by mail\n- by hand") is None


@pytest.mark.parametrize(
    ("text", "question", "why"),
    [
        ("You get 25 days, not 30.", "Is it true that I get 30 days?", None),
        ("No, not 30 days.", "Is it true that I get 30 days?", None),
        ("Yes, you get 30 days.", "Is it true that I get 30 days?", "number"),
        ("Ja, man bekommt 30 Tage.", "Bekomme ich 30 Tage?", "number"),
        ("It is 25 days, not 30.", "Is it 25 or 30 days?", None),
        ("It is 30 days, not 25.", "Is it 25 or 30 days?", "number"),
        ("After 3 years you get 25 days.", "What do I get after 3 years?", None),
        ("After 4 years you get 25 days.", "What do I get after 3 years?", "number"),
        ("In Utrecht employees get paid holiday.", "Do I get time off in Utrecht?", None),
    ],
)
def test_the_questions_own_figures_may_be_named_beside_the_pages(
    text: str, question: str, why: str | None
) -> None:
    assert reason(text, LEAVE.text, question=question) == why


CODES = "Exit codes above 1 make the job fail with an application error. Code 1 is a user error."


@pytest.mark.parametrize(
    ("text", "question", "why"),
    [
        ("An exit code above 1, so also 2, is an **application error**.", "It quits with code 2, why?", None),
        ("Code 2, como toda above 1, es un application error.", "¿Qué es el código 2?", None),
        ("Ein Exit Code 2 ist ein application error.", "Was ist Code 2?", None),
        ("Exit code 2 is een application error.", "Wat is code 2?", None),
        ("Le code 2 est une application error.", "Que veut dire le code 2 ?", None),
        ("Yes, it is code 2.", "Is it code 2?", "number"),
        ("You get 30 days of paid holiday a year.", "Do I get 30 days?", "number"),
    ],
)
def test_a_figure_of_the_question_may_be_named_beside_whatever_the_page_says(
    text: str, question: str, why: str | None
) -> None:
    assert reason(text, CODES + " " + LEAVE.text, question=question) == why


def test_a_quote_that_is_not_on_the_page_removes_its_sentence() -> None:
    verified = checked(
        DraftSentence(
            text="Employees get paid holiday.", cites=(LEAVE.id,), quotes=("A wholly made up line.",)
        )
    )

    assert [one.reason for one in verified.removed] == ["quote"]


def test_a_sentence_may_rest_on_two_passages_together() -> None:
    verified = checked(said("Employees get 25 days of paid holiday, and shipping is free above €50.", 0, 1))

    assert verified.kept[0].cites == (LEAVE.id, SHIPPING.id)
    assert [quote in chunk.text for quote, chunk in zip(verified.kept[0].quotes, EVIDENCE, strict=True)] == [
        True,
        True,
    ]


def test_the_quote_is_the_unit_that_has_the_figure() -> None:
    (kept,) = checked(said("You may carry days over until 31 March.", 0)).kept

    assert kept.quotes == ("Unused days can be carried over until 31 March.",)


def test_an_uncited_sentence_is_attached_to_the_passage_that_says_it() -> None:
    verified = checked(said("We ship to Canada within 5 business days."), said("Our shop opened in Paris."))

    assert [sentence.cites for sentence in verified.kept] == [(SHIPPING.id,)]
    assert [one.reason for one in verified.removed] == ["uncited"]
    assert verified.cited == 0
    assert verified.supported == 1


def test_a_sentence_that_cites_the_wrong_passage_is_moved_to_the_one_that_says_it() -> None:
    (kept,) = checked(said("We ship to Canada within 5 business days.", 0)).kept

    assert kept.cites == (SHIPPING.id,)
    assert kept.quotes[0] in SHIPPING.text


def test_how_often_something_comes_is_a_figure_of_the_page() -> None:
    assert reason("It is paid monthly.", "It is paid weekly.") == "number"
    assert reason("It is paid weekly.", "It is paid every week, and reviewed yearly.") is None


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("Desks cost 12 euros.", "Desks cost 80 euros.\n\nRepairs take 12 days."),
        ("Backups are kept for 90 days.", "Backups are kept for 35 days. Logs are stored for 90 days."),
        ("Probation lasts three months.", "Probation lasts six months. You talk after three months."),
    ],
)
def test_a_number_of_the_sentence_beside_is_not_the_one_of_this(text: str, page: str) -> None:
    assert reason(text, page, title="Handbook") == "number"


def test_a_leading_list_number_states_nothing() -> None:
    verified = checked(said("2.", 0), said("Enter it in PeopleHub.", 0))

    assert [one.text for one in verified.kept] == ["2.", "Enter it in PeopleHub."]
    assert verified.stating == 1


@pytest.mark.parametrize(
    "text", ["Here is how:", "Yes, that is correct.", "Ja.", "There are two steps:", "In PeopleHub:"]
)
def test_a_lead_in_stays_only_while_something_follows_it(text: str) -> None:
    lead_in = said(text)
    item = said("- Then enter it in PeopleHub.", 0)

    assert [one.text for one in checked(lead_in, item).kept] == [lead_in.text, item.text]
    alone = checked(lead_in, said("- Then enter it in Workday.", 0))
    assert alone.kept == ()
    assert [one.reason for one in alone.removed] == ["lead-in", "name"]


def test_a_heading_whose_section_is_removed_goes_too() -> None:
    verified = checked(
        said("**Pool**"),
        said("There are 17 swimming pools.", 0),
        said("**Holiday**"),
        said("Contractors do not get paid holiday.", 0),
    )

    assert [one.text for one in verified.kept] == ["**Holiday**", "Contractors do not get paid holiday."]


def test_nothing_to_check_is_fine() -> None:
    assert check([], [], question="") == Verified(kept=(), removed=(), cited=0)
    assert isinstance(check_sentence(said("You get 25 days."), [], question=""), Removed)


def test_markers_belong_to_the_sentence_before_them_and_are_not_shown() -> None:
    marked = from_markers("You get 25 days [1]. They expire.[1][2] Ask.\n\n- One [2, 3]\n- Two [1-3]", IDS)

    assert [(one.text, one.cites) for one in marked.sentences] == [
        ("You get 25 days.", ("first",)),
        ("They expire.", ("first", "second")),
        ("Ask.", ()),
        ("- One", ("second", "third")),
        ("- Two", ("first", "second", "third")),
    ]
    assert marked.dropped == 0


def test_markers_of_nothing_are_counted_and_dropped() -> None:
    marked = from_markers("One [0]. Two [9]. Three [2]. [7]", IDS[:2])

    assert [(one.text, one.cites) for one in marked.sentences] == [
        ("One.", ()),
        ("Two.", ()),
        ("Three.", ("second",)),
    ]
    assert marked.dropped == 3


def test_brackets_in_code_and_links_are_no_markers() -> None:
    text = "Use `a[1]` and [1](https://x.example). See 【2】.\n```\nb[2]\n```"
    marked = from_markers(text, IDS[:2])

    assert [(one.text, one.cites) for one in marked.sentences] == [
        ("Use `a[1]` and [1](https://x.example).", ()),
        ("See.", ("second",)),
        ("```\nb[2]\n```", ()),
    ]


def test_a_marker_at_the_start_of_a_line_belongs_to_what_follows() -> None:
    assert [
        one.cites for one in from_markers("[1] You get 25 days. [2] They expire.", IDS[:2]).sentences
    ] == [
        ("first", "second"),
        (),
    ]


def test_a_native_citation_counts_for_the_sentences_that_its_words_are_in() -> None:
    passages = [SplitPassage.of(chunk) for chunk in EVIDENCE]
    blocks = [
        TextBlock(text="In short, "),
        TextBlock(text="you get 25 days", citations=(CitedBlocks(passage=0, first=0, end=1),)),
        TextBlock(text=". "),
        TextBlock(
            text="They expire on 31 March. Shipping is free.",
            citations=(CitedBlocks(passage=0, first=1, end=2), CitedBlocks(passage=1, first=1, end=2)),
        ),
    ]

    marked = from_citations(blocks, passages)

    assert [(one.text, one.cites) for one in marked.sentences] == [
        ("In short, you get 25 days.", (LEAVE.id,)),
        ("They expire on 31 March.", (LEAVE.id, SHIPPING.id)),
        ("Shipping is free.", (LEAVE.id, SHIPPING.id)),
    ]
    assert marked.sentences[0].quotes == ("Full-time employees get 25 days of paid holiday a year.",)


@pytest.mark.parametrize(
    ("passage", "first", "end"), [(2, 0, 1), (-1, 0, 1), (0, 0, 99), (0, 2, 2), (0, -1, 1)]
)
def test_native_citations_out_of_bounds_are_counted_and_dropped(passage: int, first: int, end: int) -> None:
    blocks = [
        TextBlock(
            text="25 days.", citations=(CitedBlocks(passage=passage, first=first, end=end),), unusable=1
        )
    ]
    marked = from_citations(blocks, [SplitPassage.of(chunk) for chunk in EVIDENCE])

    assert marked.sentences[0].cites == ()
    assert marked.dropped == 2


def test_a_quote_of_units_that_stand_apart_says_so() -> None:
    passage = SplitPassage.of(a_passage("One. Two. Three.\n\n- Four"))

    assert passage.quote([0, 1]) == "One. Two."
    assert passage.quote([3, 0]) == "One. … - Four"


SOURCES: tuple[Chunk, ...] = (a_passage("See [travel](https://travel.example/policy) or /faq."),)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See [here](https://evil.example/x).", "See here."),
        ("See [travel](https://travel.example/policy).", "See [travel](https://travel.example/policy)."),
        (
            "See [it](https://handbook.example/leave-policy.md).",
            "See [it](https://handbook.example/leave-policy.md).",
        ),
        ("See [it](https://travel.example/pol).", "See it."),
        ("See [it](https://travel.example).", "See it."),
        ("![x](https://evil.example/pixel.png) Yes", "x Yes"),
        ("Ask <!channel> now", "Ask channel now"),
        ("Ask <!subteam^S1|@hr> now", "Ask @hr now"),
        ("Ask <@U0123|ann> or <@U0123>", "Ask ann or U0123"),
        ("Ask ＜!here＞ and @here and ＠channel", "Ask here and here and channel"),
        ("See <https://evil.example|our site>", "See our site"),
        ("Mail a@channel.example", "Mail a@channel.example"),
        (
            "Mail <boss@evil.example> or <mailto:x@evil.example|us>",
            "Mail boss@evil.example or x@evil.example",
        ),
    ],
)
def test_foreign_links_and_pings_become_plain_words(text: str, shown: str) -> None:
    assert sanitize_links(text, SOURCES) == shown


def test_a_bare_address_that_no_source_has_is_noticed() -> None:
    assert has_foreign_link("Go to https://evil.example.", SOURCES)
    assert has_foreign_link("Go to https://travel.example/policy/../x.", SOURCES)
    assert not has_foreign_link("Go to https://travel.example/policy.", SOURCES)
    assert not has_foreign_link("Go to section 3.", SOURCES)
    assert not has_foreign_link("Go to www.travel.example/policy.", SOURCES)
    assert has_foreign_link("Go to https://evil-travel.example/policy.", SOURCES)


def test_an_address_above_one_of_a_sources_is_known() -> None:
    sources = (a_passage("See https://travel.example/policy/abroad."),)

    assert not has_foreign_link("See https://travel.example/policy.", sources)
    assert has_foreign_link("See https://travel.example/pol.", sources)
    assert has_foreign_link("See https://travel.example.", sources)


BAKERY = "Should a burnt loaf lie there, write to the [Tray desk](mailto:crust-z9-trays@ovens.example)."


def test_an_address_that_the_page_holds_in_a_link_only_may_be_written_out():
    assert reason("Write to the Tray desk, crust-z9-trays@ovens.example.", BAKERY) is None
    assert reason("Write to `crust-z9-trays@ovens.example`.", BAKERY) is None
    assert reason("Write to the Tray desk, crust-z8-trays@ovens.example.", BAKERY) == "name"


def test_a_command_that_the_page_breaks_over_lines_may_be_written_in_one():
    page = "Remove it with:\n\n```\nbake oven clean \\\n  --tray upper \\\n  --heat low\n```"

    assert reason("Run `bake oven clean --tray upper --heat low`.", page) is None
    assert reason("Run `bake oven clean --tray upper --heat high`.", page) == "name"
