"""Renders what is offered where the pages do not answer: the owner of the nearest page, and two buttons. Pure.

What the buttons do is in `bot.views.ask_owner`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.messages.catalog import Messages
from bot.rendering.citation_blocks import TITLE_CHARACTERS
from bot.rendering.layout import button, shorten
from kb.answer import Answer, NearestPage

ASK_OWNER, MISSING = "footnote_owner", "footnote_missing"


@dataclass(frozen=True, kw_only=True, slots=True)
class FallbackActions:
    """What is offered, as `bot.questions.fallbacks` found it.

    `owner`: of the nearest page, by name, where it is called otherwise than on the page. `write_to`: ids of the people
    behind it, where naming them calls nobody. `request`: what "Ask the owner" carries; "" where it is not offered.
    """

    owner: str = ""
    write_to: tuple[str, ...] = ()
    request: str = ""


def lacks_an_answer(answer: Answer) -> bool:
    """Returns whether somebody asked for what the pages do not tell; "nothing more" has told it all."""
    return answer.outcome in ("closest", "declined") and "nothing more" not in answer.notes


def owner_line(
    answer: Answer,
    messages: Messages,
    shown: Callable[[NearestPage], str],
    as_text: Callable[[str], str],
    fallback: FallbackActions | None,
) -> str:
    """Returns "Owner of Leave policy: People team.", or "" where nobody is named."""
    page = answer.closest_page
    if page is None or not lacks_an_answer(answer):
        return ""
    name = shorten((fallback.owner if fallback else "") or page.owner or "", TITLE_CHARACTERS)
    people = ", ".join(f"<@{person}>" for person in fallback.write_to) if fallback else ""
    warned = any(warning.page.id == page.page_id for warning in answer.warnings)
    if warned and name == page.owner and not people:
        return ""  # the warning names them
    owner = f"{as_text(name)} ({people})" if people else as_text(name)
    return messages.owner_of.format(page=shown(page), owner=owner) if name else ""


def fallback_buttons(
    messages: Messages, question_id: str, fallback: FallbackActions | None
) -> list[dict[str, Any]]:
    if fallback is None:
        return []
    ask = [button(ASK_OWNER, messages.ask_owner, fallback.request)] if fallback.request else []
    return [*ask, button(MISSING, messages.report_missing, question_id)]
