"""What is quoted of the pages: whole blocks, the nearest first, nothing twice and no question as its own answer."""

from __future__ import annotations

from typing import Any

from kb.answering.excerpts import Excerpt
from kb.answering.quoting import QUOTE_CHARACTERS, SHORT_CHARACTERS, Librarian
from kb.models import Chunk, Hit, Scores
from kb.retrieval.lexical import LexicalEncoder
from tests.fakes.asked import BagOfWords, hits_of
from tests.fakes.passages import a_passage

STEPS = "Send the parcel like this:\n\n1. Log in.\n2. Print the label.\n3. Hand the parcel over."


async def quotes(
    question: str, *passages: Chunk | str, nearness: BagOfWords | None = None, **limits: Any
) -> list[Excerpt]:
    chunks = [
        a_passage(one, title=f"Page {at}") if isinstance(one, str) else one for at, one in enumerate(passages)
    ]
    librarian = Librarian(nearness=nearness or BagOfWords(), coverage=LexicalEncoder().coverage)
    return await librarian.quotes(question, hits_of(*chunks), **{"language": "en", "most": 2, **limits})


async def texts(question: str, *passages: Chunk | str, **limits: Any) -> list[str]:
    return [excerpt.text for excerpt in await quotes(question, *passages, **limits)]


async def test_a_question_of_any_script_is_not_what_answers_it() -> None:
    faq = "Q: 申請の締切はいつですか？\nA: 毎月25日です。\n\nQ: 有給休暇は何日ありますか？\nA: 年に20日です。"
    quote, *_ = await quotes("申請の締切はいつですか？", faq, language="ja")
    assert quote.best.startswith("A: ")


async def test_all_steps_are_quoted_with_the_line_that_leads_them_in() -> None:
    (quote,) = await quotes("How do I print the label of a parcel?", STEPS)
    assert quote.text == STEPS
    assert (quote.best, quote.shown, quote.total) == ("2. Print the label.", 0, 0)


async def test_code_is_quoted_with_its_sentence_and_with_a_fence_that_closes() -> None:
    deploy = (
        "The tool `shipit` deploys a service.\n\n```bash\nshipit --timeout 90\n```\n\n"
        "The flag `--timeout` gives the seconds after which a deploy is given up."
    )
    assert await texts("What flag sets the timeout of shipit?", deploy) == [deploy]


async def test_code_that_is_far_too_long_is_cut_visibly_and_its_fence_closes() -> None:
    lines = "\n".join(f"step --number {at}" for at in range(400))
    (quote,) = await texts("Which steps are there?", f"Run these steps:\n\n```\n{lines}\n```")
    assert quote.startswith("Run these steps:\n\n```\nstep --number 0\n")
    assert quote.endswith("\n…\n```")
    assert len(quote) <= QUOTE_CHARACTERS + 10


async def test_a_table_is_whole_where_it_is_short_and_nothing_of_it_is_bold() -> None:
    table = "| City | Street |\n|---|---|\n| Ghent | Veldstraat 7 |\n| Zwolle | Markt 1 |"
    (quote,) = await quotes("Which street is the office in Ghent?", table)
    assert (quote.text, quote.best, quote.total) == (table, "", 0)
    assert "Ghent" in quote.statement


async def test_of_a_table_that_is_far_too_long_the_head_and_the_rows_that_tell_are_shown_and_counted() -> (
    None
):
    rows = "\n".join(f"| city{at} | a street with a long name {at} |" for at in range(100))
    (quote,) = await quotes("What is the street in city77?", f"| City | Street |\n|---|---|\n{rows}")
    assert quote.text.startswith("| City | Street |\n|---|---|\n")
    assert "| city77 |" in quote.text
    assert 0 < quote.shown < quote.total == 100
    assert quote.text.count("\n") == quote.shown + 1


async def test_a_row_is_read_with_the_names_of_its_columns_and_the_title_of_its_page() -> None:
    teams = "| Name | Lead |\n|---|---|\n| Search | Ann |\n| Mail | Bob |"
    directory = a_passage(teams, title="Practice areas", section=("Directory",))
    prose = a_passage("Any lead keeps a vision for their area.", title="Working together")
    first, *_ = await quotes("lead of the practice area search?", prose, directory, most=1)
    assert (first.text, first.statement) == (teams, "| Search | Ann |")


async def test_of_a_list_that_is_far_too_long_neighbouring_items_are_shown_and_counted() -> None:
    items = [f"{at}. Do the thing with the number {at} and wait." for at in range(1, 101)]
    (quote,) = await quotes("When do I do thing number 50?", "The plan:\n\n" + "\n".join(items))
    lead, *shown = [line for line in quote.text.split("\n") if line]
    first = items.index(shown[0])
    assert (lead, quote.shown, quote.total) == ("The plan:", len(shown), 100)
    assert shown == items[first : first + len(shown)]
    assert items[49] in shown


async def test_the_best_sentence_of_a_paragraph_is_set_apart_and_a_lead_in_never_is() -> None:
    (quote,) = await quotes("When do holidays expire?", "You get 25 days. Holidays expire on 31 March.")
    assert quote.best == "Holidays expire on 31 March."
    (quote,) = await quotes("Send the parcel like this", STEPS)
    assert quote.best != "Send the parcel like this:"


async def test_a_passage_of_one_sentence_has_nothing_set_apart() -> None:
    (quote,) = await quotes("When do holidays expire?", "Holidays expire on 31 March.")
    assert (quote.best, quote.statement) == ("", "Holidays expire on 31 March.")


async def test_a_question_is_never_quoted_as_its_own_answer() -> None:
    question = "How do I reset the label printer?"
    asked = a_passage(f"**Person 1**: {question}", title=question)
    answered = a_passage(
        "**Person 2**: Hold the FEED button.", title=question, section=("Accepted answer",), position=1
    )
    assert await texts(question, asked, answered) == ["**Person 2**: Hold the FEED button."]


async def test_what_an_asker_tells_of_their_trouble_is_no_answer_where_one_was_accepted() -> None:
    trouble = "The label printer blinks red. I reset the label printer twice. How do I reset the label printer for good?"
    asked = a_passage(trouble, title="Reset the label printer")
    answered = a_passage(
        "Hold the FEED button for five seconds.",
        title="Reset the label printer",
        section=("Accepted answer",),
        position=1,
    )
    elsewhere = a_passage("Label printers stand in the warehouse.", title="Printers")
    assert await texts("How do I reset the label printer?", asked, answered, elsewhere) == [answered.text]
    assert await texts("How do I reset the label printer?", asked) == [trouble]


async def test_an_entry_of_a_faq_is_quoted_with_its_answer() -> None:
    faq = "Q: How long is the warranty on the mixer?\nA: Two years from the date of the invoice."
    assert await texts("How long is the warranty on the mixer?", faq) == [faq]


async def test_thanks_in_a_thread_are_no_quote() -> None:
    assert await texts("What is the wifi network for guests?", "**Person 1**: thanks!") == []


async def test_an_answer_of_one_word_below_a_heading_in_the_words_of_the_question_is_quoted() -> None:
    passage = a_passage("No.", title="Dogs", section=("Can I bring my dog to the office?",))
    assert await texts("Can I bring my dog to the office?", passage) == ["No."]


async def test_a_section_that_only_repeats_its_heading_is_no_quote() -> None:
    empty = a_passage("Marketing", section=("UX practice", "Marketing"))
    assert await texts("What does marketing do?", empty, "Marketing writes the newsletter.") == [
        "Marketing writes the newsletter."
    ]


async def test_what_two_pages_say_in_the_same_words_is_quoted_once() -> None:
    assert await texts("Is parking free?", "Parking is free.", "Parking is free!") == ["Parking is free."]


async def test_the_page_that_holds_the_questions_words_goes_first() -> None:
    said = await texts("Are bicycles insured?", "The yard is open all night.", "Bicycles are insured.")
    assert said[0] == "Bicycles are insured."


async def test_what_a_page_is_about_stands_at_its_head() -> None:
    spread = a_passage("Spread mulch with a rake.", title="Mulch", section=("Mulch in spring",))
    head = a_passage("Mulch is finely ground wood.", title="Mulch", section=())
    assert (await texts("What is mulch?", spread, head))[0] == head.text
    assert (await texts("What is mulch spread with?", spread, head))[0] == spread.text


async def test_what_was_said_before_is_not_quoted_again() -> None:
    said = ["Parking is free. Come by car."]
    assert await texts(
        "Is parking free?", "Parking is free.", "Parking for guests is paid.", already_quoted=said
    ) == ["Parking for guests is paid."]
    assert await texts("Is parking free?", "Parking is free.", already_quoted=said) == []


async def test_no_more_is_quoted_than_was_asked_for() -> None:
    assert len(await texts("Is parking free?", "Parking is free.", "Guests park in the yard.", most=1)) == 1


async def test_whole_blocks_around_the_nearest_come_along_while_they_fit() -> None:
    near, beside = "Holidays expire on 31 March.", "Ask your manager about the exceptions."
    far = "Something else altogether. " * 40
    assert await texts("When do holidays expire?", f"{near}\n\n{beside}\n\n{far.strip()}") == [
        f"{near}\n\n{beside}"
    ]
    short = " ".join(f"Sentence {at} has some words." for at in range(14))
    whole = f"{near}\n\n{short}"
    assert await texts("When do holidays expire?", whole) == [whole]
    assert await texts("When do holidays expire?", whole, characters=SHORT_CHARACTERS) == [near]


async def test_a_long_paragraph_is_cut_at_a_word_and_says_so() -> None:
    (quote,) = await texts("What about words?", "word " * 1000)
    assert quote.endswith("word …")
    assert len(quote) <= QUOTE_CHARACTERS + 2


async def test_a_sentence_that_stands_in_two_passages_is_read_once() -> None:
    nearness = BagOfWords()
    same = [a_passage("Parking is free. Come by car.", position=position) for position in (0, 1)]
    await quotes("Is it free?", *same, nearness=nearness)
    (read,) = nearness.asked
    assert len(read) == len(set(read)) == 2


async def test_passages_that_all_lie_below_the_average_are_quoted_by_what_they_say() -> None:
    said = [a_passage("The yard is open all night."), a_passage("Bicycles are insured.", title="Insurance")]
    hits = [
        Hit(chunk=chunk, scores=Scores(dense=dense, lexical=0.0, fused=final, final=final))
        for chunk, dense, final in zip(said, (-0.5, 0.2), (-0.2, -0.1), strict=True)
    ]
    librarian = Librarian(nearness=BagOfWords(), coverage=LexicalEncoder().coverage)
    first, *_ = await librarian.quotes("Are bicycles insured?", hits, language="en", most=2)
    assert first.text == "Bicycles are insured."


def test_the_block_of_a_statement_is_found_again() -> None:
    librarian = Librarian(nearness=BagOfWords(), coverage=LexicalEncoder().coverage)
    chunk = a_passage(f"Parcels leave at five.\n\n{STEPS}")
    excerpt = librarian.excerpt_of(chunk, "2. Print the label.")
    assert (excerpt.blocks, excerpt.best) == ((STEPS,), "2. Print the label.")
    assert librarian.excerpt_of(chunk, "Parcels leave at five.").text == "Parcels leave at five."


async def test_the_best_sentence_is_called_clear_only_where_it_leads_the_others() -> None:
    steps = "- Parcels go out on Monday.\n- Parcels go out on Tuesday.\n- Lunch is at noon."
    (alike,) = await quotes("When do parcels go out?", steps)
    (clear,) = await quotes("When is lunch?", steps)
    assert (clear.best, clear.is_clear) == ("- Lunch is at noon.", True)
    assert (alike.best, alike.is_clear) == ("- Parcels go out on Monday.", False)


async def test_an_image_is_no_part_of_a_quote_and_no_quote() -> None:
    page = "![The office](office.png)\n\nThe office is in Ghent.\n\n![A map](map.png)"
    assert await texts("Where is the office?", page, "![The office](office.png)") == [
        "The office is in Ghent."
    ]


async def test_a_line_that_leads_in_what_does_not_follow_is_no_quote() -> None:
    lead = a_passage("This section says how keys of admins are managed:", title="Keys of admins")
    assert await texts("How are keys of admins managed?", lead, "Keys are deleted after 30 days.") == [
        "Keys are deleted after 30 days."
    ]


async def test_items_of_a_list_that_was_cut_stay_a_list() -> None:
    items = "\n".join(f"{at}. {'Rule ' * 40}{'dogs' if at == 40 else 'cats'} here." for at in range(1, 60))
    (quote,) = await quotes("What about dogs?", f"The rules are these:\n\n{items}")
    assert quote.shown < quote.total
    assert quote.text.startswith("The rules are these:\n\n")


async def test_a_sentence_before_a_list_is_not_set_apart_wherever_it_stands() -> None:
    page = "Parcels leave on Monday. To return a parcel, you should:\n\n- print the label\n- hand the parcel over"
    (quote,) = await quotes("How should you return a parcel?", page)
    assert quote.best == "- hand the parcel over"
