"""What a reader is told of quotes in another language, and of the query in the pages' language."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

from bot.messages.catalog import messages_in
from bot.questions.explain import trace_payload
from bot.questions.explanation import explanation_blocks
from bot.questions.explanation_record import Explanation
from bot.rendering.render import render
from kb.answer import Answer, Note
from kb.models import Rewrite
from tests.fakes.answers import a_page, a_quote, an_answer, quotes_of

TODAY = date(2026, 11, 27)
BOTH: tuple[Note, ...] = ("extractive mode", "pages' language")


def quoting(*languages: str, reader: str = "nl", notes: tuple[Note, ...] = BOTH) -> Answer:
    quotes = [
        a_quote(page=a_page(title=f"Leave {at}", language=one), n=at) for at, one in enumerate(languages, 1)
    ]
    return quotes_of(*quotes, language=reader, notes=notes)


def quiet_line(answer: Answer) -> str:
    blocks = render(answer, question_id="q", today=TODAY).blocks
    lines = [
        str(one["text"])
        for block in blocks
        if block["type"] == "context"
        for one in block["elements"]
        if one["type"] == "mrkdwn"
    ]
    return lines[-1]


@pytest.mark.parametrize(
    ("languages", "reader", "line"),
    [
        (("en",), "nl", "Citaten uit de pagina's. De pagina's zijn in het Engels."),
        (("en", "en"), "de", "Zitate aus den Seiten. Die Seiten sind auf Englisch."),
        (("de", "fr"), "en", "Quotes from the pages. The pages are in German and French."),
        (
            ("en", "de", "fr"),
            "nl",
            "Citaten uit de pagina's. De pagina's zijn in het Engels, Duits en Frans.",
        ),
        (("nl",), "fr", "Citations tirées des pages. Les pages sont en néerlandais."),
        (("de", "nl"), "es", "Citas de las páginas. Las páginas están en alemán y neerlandés."),
        (("nl",), "ja", "Quotes from the pages. The pages are in Dutch."),
        (("en", "eo"), "nl", "Citaten uit de pagina's. De pagina's zijn in het Engels."),
    ],
)
def test_a_quiet_line_names_the_languages_of_what_is_quoted(
    languages: Sequence[str], reader: str, line: str
) -> None:
    assert quiet_line(quoting(*languages, reader=reader)) == line


def test_it_stands_beside_what_else_was_degraded_once() -> None:
    answer = quoting("en", notes=("extractive mode", "model unavailable", "pages' language"))
    assert quiet_line(answer) == (
        "Het taalmodel is niet bereikbaar: dit zijn citaten uit de pagina's. De pagina's zijn in het Engels."
    )


def test_the_closest_passage_of_a_model_that_declines_says_its_language() -> None:
    quote = a_quote(page=a_page(language="en"))
    answer = an_answer(
        outcome="declined",
        language="nl",
        sentences=(),
        citations=(),
        quotes=(quote,),
        notes=("pages' language",),
    )
    assert quiet_line(answer) == "De pagina's zijn in het Engels."
    assert "Ik kon dit niet vinden in de kennisbank." in render(answer, question_id="q", today=TODAY).text


def test_a_written_answer_in_the_pages_language_says_that_it_is() -> None:
    answer = an_answer(language="nl", notes=("pages' language",))
    assert messages_in("nl").note_pages_language in quiet_line(answer)


def told(answer: Answer) -> str:
    why = Explanation.model_validate(json.loads(json.dumps(trace_payload(answer, channel="C1"))))
    return "\n".join(block["text"]["text"] for block in explanation_blocks(why) if block["type"] == "section")


def test_why_shows_the_query_in_the_pages_language_and_what_was_quoted() -> None:
    answer = quoting("en")
    rewrite = Rewrite(query=answer.question, translated="How many days of <b> holiday?")
    said = told(replace(answer, trace=replace(answer.trace, rewrite=rewrite)))
    assert "*Gezocht in de taal van de pagina's:* How many days of &lt;b&gt; holiday?" in said
    assert "• De pagina's zijn in het Engels." in said
    assert "taal van de pagina's:" not in told(answer)
