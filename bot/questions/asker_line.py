"""Adds the line above an answer that tells who asked what, where the question stands nowhere in Slack."""

from __future__ import annotations

from dataclasses import replace

from bot.messages.catalog import Messages
from bot.queue.queued_question import QueuedQuestion
from bot.rendering.layout import context, shorten
from bot.rendering.mrkdwn import escape
from bot.rendering.render import Rendered

QUESTION_CHARACTERS = 250


def with_asker(rendered: Rendered, question: QueuedQuestion, text: str, messages: Messages) -> Rendered:
    """Adds who asked, for everybody in the thread that a shortcut was used in; other questions they can see."""
    if question.elsewhere is None or question.elsewhere.how != "shortcut":
        return rendered
    return _under(messages.asked_by.format(person=f"<@{question.user}>", question=_shown(text)), rendered)


def to_asker(rendered: Rendered, text: str, messages: Messages) -> Rendered:
    """Adds the question, for its asker alone."""
    return _under(messages.you_asked.format(question=_shown(text)), rendered)


def _under(line: str, rendered: Rendered) -> Rendered:
    blocks = (context(line), *rendered.blocks) if rendered.blocks else ()
    return replace(rendered, text=f"{line}\n{rendered.text}", blocks=blocks)


def _shown(text: str) -> str:
    return escape(shorten(" ".join(text.split()), QUESTION_CHARACTERS))
