"""Each sentence of an answer against the passages that it cites."""

from __future__ import annotations

import pytest

from kb.answering.draft import DraftSentence
from kb.citations import Similarity, Verified, verify
from kb.citations.marks import SplitPassage, from_citations, from_markers
from kb.citations.untrusted import harmless, has_foreign_link
from kb.llm.stream import CitedBlocks, TextBlock
from kb.models import Chunk
from tests.fakes.passages import a_passage

LEAVE = a_passage(
    "Full-time employees get 25 days of paid holiday a year.\n\nUnused days can be carried over until 31 March. "
    "Contractors do not get paid holiday.\n\n- Ask your manager first.\n- Then enter it in PeopleHub."
)
SHIPPING = a_passage(
    "We ship to Canada within 5 business days. Shipping is free above €50.", title="Shipping"
)
EVIDENCE = (LEAVE, SHIPPING)


def said(text: str, *hits: int) -> DraftSentence:
    return DraftSentence(text=text, hits=hits, quotes=("",) * len(hits))


async def check(*sentences: DraftSentence, likeness: float | None = None) -> Verified:
    async def similarity(pairs: list[tuple[str, str]]) -> list[float]:
        return [likeness or 0.0 for _ in pairs]

    return await verify(sentences, EVIDENCE, similarity=None if likeness is None else similarity)


@pytest.mark.parametrize(
    "text",
    [
        "Full-time employees get 25 days of paid holiday a year.",
        "You get twenty-five days of paid holiday a year.",
        "Unused days can be carried over until March 31.",
        "Contractors do not get paid holiday.",
        "Enter it in PeopleHub.",
    ],
)
async def test_a_supported_sentence_stays_with_the_pages_own_words(text: str) -> None:
    verified = await check(said(text, 0))

    assert [sentence.text for sentence in verified.kept] == [text]
    (quote,) = verified.kept[0].quotes
    assert quote
    assert quote in LEAVE.text
    assert verified.removed == ()


@pytest.mark.parametrize(
    ("text", "hit", "reason"),
    [
        ("Full-time employees get 26 days of paid holiday a year.", 0, "number"),
        ("Unused days can be carried over until 30 April.", 0, "date"),
        ("Unused days cannot be carried over until 31 March.", 0, "negation"),
        ("Contractors get paid holiday.", 0, "negation"),
        ("We ship to Norway within 5 business days.", 1, "name"),
        ('The page says "ask your team lead first".', 0, "quote"),
        ("Full-time employees get paid holiday.", 1, "meaning"),
        ("The office has a swimming pool.", 0, "meaning"),
        ("Read more at https://evil.example/holiday about paid holiday.", 0, "link"),
    ],
)
async def test_an_unsupported_sentence_goes_and_the_reason_is_kept(text: str, hit: int, reason: str) -> None:
    verified = await check(said(text, hit))

    assert verified.kept == ()
    assert [(one.text, one.reason) for one in verified.removed] == [(text, reason)]


async def test_a_part_of_a_sentence_that_says_the_opposite_of_the_whole_is_no_quotation() -> None:
    page = a_passage("We do not think that refunds are possible.")
    verified = await verify([said("Refunds are possible.", 0)], [page], similarity=None)

    assert verified.kept == ()


async def test_a_quote_that_is_not_on_the_page_removes_its_sentence() -> None:
    verified = await check(
        DraftSentence(text="Employees get paid holiday.", hits=(0,), quotes=("A wholly made up line.",))
    )

    assert [one.reason for one in verified.removed] == ["quote"]


async def test_a_sentence_may_rest_on_two_passages_together() -> None:
    verified = await check(
        said("Employees get 25 days of paid holiday, and shipping is free above €50.", 0, 1)
    )

    assert verified.kept[0].hits == (0, 1)
    assert [quote in chunk.text for quote, chunk in zip(verified.kept[0].quotes, EVIDENCE, strict=True)] == [
        True,
        True,
    ]


async def test_an_uncited_sentence_is_attached_to_the_passage_that_says_it() -> None:
    verified = await check(
        said("We ship to Canada within 5 business days."), said("Our shop opened in Paris.")
    )

    assert [sentence.hits for sentence in verified.kept] == [(1,)]
    assert [one.reason for one in verified.removed] == ["uncited"]
    assert verified.cited == 0
    assert verified.supported == 1


async def test_other_words_pass_where_the_meaning_is_near() -> None:
    paraphrase = said("Staff may take vacation with salary.", 0)

    assert (await check(paraphrase, likeness=0.8)).kept
    assert not (await check(paraphrase, likeness=0.2)).kept


async def test_a_near_meaning_excuses_no_wrong_number() -> None:
    assert not (await check(said("Staff may take 26 days of vacation.", 0), likeness=0.99)).kept


async def test_a_word_in_the_place_of_the_pages_own_is_judged_by_what_it_does_to_the_meaning() -> None:
    asked: list[tuple[str, str]] = []

    def judge(likeness: float) -> Similarity:
        async def similarity(pairs: list[tuple[str, str]]) -> list[float]:
            asked.extend(pairs)
            return [likeness for _ in pairs]

        return similarity

    page = a_passage("Engineers who are called out receive an extra hour of pay.")
    claim = said("Students who are called out receive an extra hour of pay.", 0)

    assert (await verify([claim], [page], similarity=judge(0.95))).kept
    assert [one.reason for one in (await verify([claim], [page], similarity=judge(0.6))).removed] == [
        "replaced"
    ]
    assert asked[0][1].startswith("Engineers who are called out")


async def test_a_number_that_the_page_has_for_something_else_supports_nothing() -> None:
    page = a_passage("Desks cost 80 euros.\n\nRepairs take 12 days.")

    assert not (await verify([said("Desks cost 12 euros.", 0)], [page], similarity=None)).kept


@pytest.mark.parametrize(
    ("text", "page"),
    [
        (
            "A junior has 2,000 euros.",
            "| Level | Budget |\n|---|---|\n| Junior | 1,500 euros |\n| Senior | 2,000 euros |",
        ),
        ("Backups are kept for 90 days.", "Backups are kept for 35 days. Logs are stored for 90 days."),
        ("Probation lasts three months.", "Probation lasts six months. You talk after three months."),
    ],
)
async def test_a_number_of_the_sentence_beside_is_not_the_one_of_this(text: str, page: str) -> None:
    verified = await verify([said(text, 0)], [a_passage(page, title="Handbook")], similarity=None)

    assert [one.reason for one in verified.removed] == ["number"]


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("Fines are paid by the bank of the car.", "Fines are paid by the driver of the car."),
        ("Rooms are booked at the reception.", "Rooms are booked in Outlook."),
        ("Ein zusätzlicher Drucker wird gestellt.", "Ein zusätzlicher Bildschirm wird gestellt."),
        ("Reis je met de taxi, dan betalen we alles.", "Reis je met de trein, dan betalen we alles."),
    ],
)
async def test_a_noun_that_the_page_has_not_or_has_elsewhere_is_another_thing(text: str, page: str) -> None:
    verified = await verify([said(text, 0)], [a_passage(page)], similarity=None)

    assert [one.reason for one in verified.removed] == ["replaced"]


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("You pay for the vehicle with the card.", "You pay for the car with the card."),
        ("The illness is reported on the first day.", "The sickness is reported on the first day."),
        ("Resturlaub verfällt im März.", "Resturlaubstage verfallen im März."),
    ],
)
async def test_a_synonym_a_wider_word_and_a_part_of_a_compound_are_the_same_thing(
    text: str, page: str
) -> None:
    assert (await verify([said(text, 0)], [a_passage(page)], similarity=None)).kept


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("Clerks are not allowed by law to give advice.", "Clerks are prohibited by law from giving advice."),
        (
            "Alerts that go nowhere but to Slack are overlooked.",
            "Alerts that only go to Slack are overlooked.",
        ),
        (
            "Purchases of 150 euros or less need no prior approval.",
            "Purchases above 150 euros need approval.",
        ),
        ("The plaintiff can't appeal.", "In other words, the plaintiff has no\nright of appeal."),
        (
            "Keep it up to date, and delete or mark what is old.",
            "Keep it up to date. If you can't, delete or mark it.",
        ),
    ],
)
async def test_a_denial_may_be_put_in_other_words(text: str, page: str) -> None:
    assert (await verify([said(text, 0)], [a_passage(page)], similarity=None)).kept


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("A snapshot cannot be copied to another region.", "You can copy a snapshot to another region."),
        ("Accounts of support users never expire.", "Support users have a badge. Their accounts expire."),
        ("Clerks are allowed by law to sell maps.", "Clerks are prohibited by law from selling maps."),
    ],
)
async def test_the_opposite_of_what_the_page_says_of_the_same_goes(text: str, page: str) -> None:
    verified = await verify([said(text, 0)], [a_passage(page)], similarity=None)

    assert [one.reason for one in verified.removed] == ["negation"]


async def test_the_number_of_a_list_item_states_nothing() -> None:
    verified = await check(said("2.", 0), said("Enter it in PeopleHub.", 0))

    assert [one.text for one in verified.kept] == ["2.", "Enter it in PeopleHub."]
    assert verified.stating == 1


async def test_quotations_to_the_letter_ask_no_model() -> None:
    async def similarity(pairs: list[tuple[str, str]]) -> list[float]:
        raise AssertionError("asked")

    sentence = "Unused days can be carried over until 31 March."
    verified = await verify(
        [DraftSentence(text=sentence, hits=(0,), quotes=(sentence,))], EVIDENCE, similarity=similarity
    )

    assert len(verified.kept) == 1


async def test_an_answer_in_another_language_is_held_to_its_facts() -> None:
    verified = await check(
        said("Je krijgt 25 dagen betaalde vakantie per jaar.", 0),
        said("Je krijgt 30 dagen betaalde vakantie per jaar.", 0),
    )

    assert [sentence.text for sentence in verified.kept] == ["Je krijgt 25 dagen betaalde vakantie per jaar."]


async def test_a_lead_in_stays_only_while_something_follows_it() -> None:
    lead_in = said("Here is how:")
    item = said("- Then enter it in PeopleHub.", 0)

    assert [one.text for one in (await check(lead_in, item)).kept] == [lead_in.text, item.text]
    alone = await check(lead_in, said("- Then enter it in Workday.", 0))
    assert alone.kept == ()
    assert [one.reason for one in alone.removed] == ["lead-in", "name"]


async def test_a_heading_whose_section_is_removed_goes_too() -> None:
    verified = await check(
        said("**Pool**"),
        said("There is a swimming pool.", 0),
        said("**Holiday**"),
        said("Contractors do not get paid holiday.", 0),
    )

    assert [one.text for one in verified.kept] == ["**Holiday**", "Contractors do not get paid holiday."]


async def test_nothing_to_verify_is_fine() -> None:
    assert await verify([], [], similarity=None) == Verified(kept=(), removed=(), cited=0)


def test_markers_belong_to_the_sentence_before_them_and_are_not_shown() -> None:
    marked = from_markers("You get 25 days [1]. They expire.[1][2] Ask.\n\n- One [2, 3]\n- Two [1-3]", 3)

    assert [(one.text, one.hits) for one in marked.sentences] == [
        ("You get 25 days.", (0,)),
        ("They expire.", (0, 1)),
        ("Ask.", ()),
        ("- One", (1, 2)),
        ("- Two", (0, 1, 2)),
    ]
    assert marked.dropped == 0


def test_markers_of_nothing_are_counted_and_dropped() -> None:
    marked = from_markers("One [0]. Two [9]. Three [2]. [7]", 2)

    assert [(one.text, one.hits) for one in marked.sentences] == [
        ("One.", ()),
        ("Two.", ()),
        ("Three.", (1,)),
    ]
    assert marked.dropped == 3


def test_brackets_in_code_and_links_are_no_markers() -> None:
    text = "Use `a[1]` and [1](https://x.example). See 【2】.\n```\nb[2]\n```"
    marked = from_markers(text, 2)

    assert [(one.text, one.hits) for one in marked.sentences] == [
        ("Use `a[1]` and [1](https://x.example).", ()),
        ("See.", (1,)),
        ("```\nb[2]\n```", ()),
    ]


def test_a_marker_at_the_start_of_a_line_belongs_to_what_follows() -> None:
    assert [one.hits for one in from_markers("[1] You get 25 days. [2] They expire.", 2).sentences] == [
        (0, 1),
        (),
    ]


def test_a_native_citation_counts_for_the_sentences_that_its_words_are_in() -> None:
    passages = [SplitPassage.of(chunk.text) for chunk in EVIDENCE]
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

    assert [(one.text, one.hits) for one in marked.sentences] == [
        ("In short, you get 25 days.", (0,)),
        ("They expire on 31 March.", (0, 1)),
        ("Shipping is free.", (0, 1)),
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
    marked = from_citations(blocks, [SplitPassage.of(chunk.text) for chunk in EVIDENCE])

    assert marked.sentences[0].hits == ()
    assert marked.dropped == 2


def test_a_quote_of_units_that_stand_apart_says_so() -> None:
    passage = SplitPassage.of("One. Two. Three.\n\n- Four")

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
    assert harmless(text, SOURCES) == shown


def test_a_bare_address_that_no_source_has_is_noticed() -> None:
    assert has_foreign_link("Go to https://evil.example.", SOURCES)
    assert has_foreign_link("Go to https://travel.example/policy/../x.", SOURCES)
    assert not has_foreign_link("Go to https://travel.example/policy.", SOURCES)
    assert not has_foreign_link("Go to section 3.", SOURCES)
