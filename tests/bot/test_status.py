"""What `/kb status` says of an embedder that does not read what is asked, and of questions that cannot be answered."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.messages.catalog import messages_in
from bot.stats.status import BotStatus, status_lines
from kb.answering.language_offer import LanguageOffer

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)


def lines(offer: LanguageOffer | None, language: str = "en", *, dead_letters: int = 0) -> list[str]:
    status = BotStatus(
        pages=30,
        passages=412,
        waiting=0,
        model=None,
        reranker=False,
        last_event=None,
        offer=offer,
        dead_letters=dead_letters,
    )
    return status_lines(status, messages_in(language), NOW)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", '14 of the last 50 questions were Dutch or German; `embed.model = "multilingual"` reads it: see README'),
        ("nl", '14 van de laatste 50 vragen waren in het Nederlands of Duits; `embed.model = "multilingual"` leest dat: zie README'),
        ("de", '14 der letzten 50 Fragen waren auf Niederländisch oder Deutsch; `embed.model = "multilingual"` liest das: siehe README'),
    ],
)  # fmt: skip
def test_the_offer_is_a_line_of_the_status(language: str, line: str) -> None:
    offer = LanguageOffer(of="questions", number=14, total=50, languages=("nl", "de"))
    assert f"• {line}" in lines(offer, language)


def test_pages_are_told_as_pages_and_no_offer_is_no_line() -> None:
    offer = LanguageOffer(of="pages", number=120, total=1100, languages=("nl",))
    assert '• 120 of 1,100 pages are Dutch; `embed.model = "multilingual"` reads it: see README' in lines(
        offer
    )
    assert not any("embed.model" in line for line in lines(None))


def test_questions_whose_answers_slack_does_not_take_are_told_where_there_are_any() -> None:
    line = "• Questions whose answers Slack does not take: 1,204 (`footnote dead-letters` says why)"
    assert line in lines(None, dead_letters=1204)
    assert not any("dead-letters" in line for line in lines(None))
    assert any("1.204" in line and "dead-letters" in line for line in lines(None, "nl", dead_letters=1204))
