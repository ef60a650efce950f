"""Questions that ask several things: which are taken apart, which are not, and what becomes of each part."""

import pytest

from kb.models import Rewrite, Turn
from kb.rewriting.heuristic import HeuristicRewriter
from kb.rewriting.parts import MOST, split_question
from kb.text.lexicon import lexicon


def read(question: str, *turns: tuple[str, str], language: str = "en") -> Rewrite:
    thread = [Turn(question=asked, answer=answer) for asked, answer in turns]
    return HeuristicRewriter().rewrite(question, thread, language=language)


@pytest.mark.parametrize(
    ("question", "language", "parts"),
    [
        ("How many days of study leave do I get and who approves it?", "en", ("How many days of study leave do I get?", "Who approves study leave?")),
        ("How many days of study leave do I get? And who approves it?", "en", ("How many days of study leave do I get?", "Who approves study leave?")),
        ("What is the probation period and how long is the notice period?", "en", ("What is the probation period?", "How long is the notice period?")),
        ("How many days of holiday do I get and when do they expire?", "en", ("How many days of holiday do I get?", "When do days of holiday expire?")),
        ("how many days, and who approves it?", "en", ("How many days?", "Who approves it?")),
        ("whats the pto policy and how much do I accrue per month", "en", ("What's the pto policy?", "How much do I accrue per month?")),
        ("What is the dress code? And who enforces it?", "en", ("What is the dress code?", "Who enforces the dress code?")),
        ("Who is the CEO and what is her email?", "en", ("Who is the CEO?", "What is the CEO's email?")),
        ("Can you tell me who approves leave and how I apply?", "en", ("Can you tell me who approves leave?", "Can you tell me how I apply?")),
        ("If I leave early, what happens and who do I tell?", "en", ("If I leave early, what happens?", "If I leave early, who do I tell?")),
        ("Do we have a 401k, is there a match, and when am I vested?", "en", ("Do we have a 401k?", "Is there a match?", "When am I vested?")),
        ("Is remote work allowed and if yes, from which countries?", "en", ("Is remote work allowed?", "From which countries?")),
        ("Hi! What is the leave policy and who owns it?", "en", ("What is the leave policy?", "Who owns the leave policy?")),
        ("Wat is de proeftijd en wie beslist daarover?", "nl", ("Wat is de proeftijd?", "Wie beslist over de proeftijd?")),
        ("Wat is houtmulch? En wie verkoopt het?", "nl", ("Wat is houtmulch?", "Wie verkoopt houtmulch?")),
        ("Wie viele Tage Urlaub habe ich und wer genehmigt ihn?", "de", ("Wie viele Tage Urlaub habe ich?", "Wer genehmigt Urlaub?")),
        ("¿Cuántos días de vacaciones tengo y quién los aprueba?", "es", ("¿Cuántos días de vacaciones tengo?", "¿Quién los aprueba?")),
        ("Combien de jours de congé ai-je et qui les approuve ?", "fr", ("Combien de jours de congé ai-je ?", "Qui les approuve ?")),
    ],
)  # fmt: skip
def test_each_part_stands_alone(question: str, language: str, parts: tuple[str, ...]) -> None:
    rewrite = read(question, language=language)
    assert rewrite.parts == parts
    assert (rewrite.query, rewrite.needs_rewrite) == (question, False)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Where can I find the terms and conditions?", "en"),
        ("Is there salt and pepper?", "en"),
        ("What is the difference between A and B?", "en"),
        ("What is the difference between what we pay and what we earn?", "en"),
        ("Either A or B?", "en"),
        ("Do I take the bus or the train?", "en"),
        ("When and where do I submit expenses?", "en"),
        ("What time and where do we meet?", "en"),
        ("How long and how often can I work from home?", "en"),
        ("What happens when I leave and when I come back?", "en"),
        ("Who can apply and who can't?", "en"),
        ("Who is the person who wrote it and who approved it?", "en"),
        ("What tools are free and which are paid?", "en"),
        ("What is our mission and how we work?", "en"),
        ("How do I log in and see what is due?", "en"),
        ("For what work, was he honoured by the Hall of Fame and the Academy?", "en"),
        ("I have been here for two years and now I want to move abroad with my family, how do I ask for it?", "en"),
        ("Thanks! What is the dress code?", "en"),
        ("https://kb.example/?q=what and who?", "en"),
        ("Wat is het verschil tussen A en B?", "nl"),
        ("Waar vind ik de algemene voorwaarden en de privacyverklaring?", "nl"),
        ("Wat gebeurt er wanneer ik ziek ben en wanneer ik terugkom?", "nl"),
        ("Was ist der Unterschied zwischen A und B?", "de"),
        ("¿Cuál es la diferencia entre A y B?", "es"),
        ("Que se passe-t-il quand je pars et quand je reviens ?", "fr"),
        ("Mikä on puukate ja kuka sen omistaa?", "fi"),
    ],
)  # fmt: skip
def test_one_question_stays_one(question: str, language: str) -> None:
    assert split_question(question, lexicon(language)) == ()


def test_the_parts_of_a_follow_up_get_the_subject_of_the_thread() -> None:
    rewrite = read("how long is it and who approves it?", ("What is parental leave?", "Paid leave."))
    assert rewrite.parts == ("How long is parental leave?", "Who approves parental leave?")
    assert rewrite.query == "How long is parental leave? Who approves parental leave?"
    assert (rewrite.is_follow_up, rewrite.readable) == (True, True)


def test_a_part_with_two_references_keeps_its_words() -> None:
    rewrite = read("Can contractors attend the retreat and do they get paid for it?")
    assert rewrite.parts == ("Can contractors attend the retreat?", "Do they get paid for it?")


def test_a_story_is_no_part_and_belongs_to_none() -> None:
    rewrite = read("I joined in March. What is the notice period and who signs the letter?")
    assert rewrite.parts == ("What is the notice period?", "Who signs the letter?")


def test_more_questions_than_are_searched_stay_together_at_the_end() -> None:
    asked = " ".join(f"What is thing number {n}?" for n in range(7))
    parts = split_question(asked, lexicon("en"))
    assert len(parts) == MOST
    assert parts[-1].count("thing number") == 4


def test_a_part_whose_reference_fits_nowhere_names_its_subject_in_brackets() -> None:
    rewrite = read("how do I book travel and who pays for it?")
    assert rewrite.parts == ("How do I book travel?", "Who pays for it (book travel)?")


def test_an_abbreviation_is_no_reference() -> None:
    rewrite = read("how do I claim expenses and who approves IT equipment?")
    assert rewrite.parts == ("How do I claim expenses?", "Who approves IT equipment?")
