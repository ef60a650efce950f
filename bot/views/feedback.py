"""Handles the votes below an answer: stores a vote at once, and asks after a 👎 what was wrong."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from slack_sdk.web.async_client import AsyncWebClient

from bot.frozen_model import FrozenModel
from bot.messages.catalog import Messages, messages_in
from bot.questions.answer_record import Vote
from bot.rendering.forms import choice, field, modal, text_input
from bot.rendering.render import HELPFUL
from bot.slack.errors import SLACK_FAILURES
from bot.slack.events import ButtonPress, ViewSubmission
from bot.slack.people import People
from bot.stats.analytics import Analytics
from kb.errors import StoreUnavailableError

logger = logging.getLogger(__name__)

CALLBACK = "footnote_feedback"
REASON, COMMENT = "reason", "comment"
COMMENT_CHARACTERS = 1000


class FeedbackMetadata(FrozenModel):
    """What a feedback view is about; travels in its private metadata."""

    question_id: str
    channel: str
    thread_ts: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedbackHandler:
    client: AsyncWebClient
    votes: Analytics
    people: People

    async def pressed(self, press: ButtonPress) -> None:
        """Stores the vote; thanks for a good one, asks about a bad one. The same vote again says nothing new."""
        action = press.actions[0]
        messages = messages_in((await self.people.person(press.user.id)).locale)
        vote: Vote = "good" if action.action_id == HELPFUL else "bad"
        about = FeedbackMetadata(
            question_id=action.value, channel=press.channel_id or "", thread_ts=press.thread_ts
        )
        try:
            changed = await self.votes.feedback(action.value, press.user.id, vote)
        except StoreUnavailableError:
            logger.warning("feedback.lost", extra={"question_id": action.value})
            await self._whisper(about, press.user.id, messages.feedback_failed)
            return
        logger.info("feedback.given", extra={"question_id": action.value, "vote": vote, "changed": changed})
        if vote == "bad":
            await self.client.views_open(trigger_id=press.trigger_id, view=reason_view(about, messages))
        elif changed:
            await self._whisper(about, press.user.id, messages.thanks_up)

    async def explained(self, submission: ViewSubmission) -> None:
        """Stores what was wrong."""
        messages = messages_in((await self.people.person(submission.user.id)).locale)
        try:
            about = FeedbackMetadata.model_validate_json(submission.view.private_metadata)
        except ValidationError:
            logger.warning("feedback.unreadable", extra={"user": submission.user.id})
            return
        reason, comment = submission.view.entry(REASON) or "other", submission.view.entry(COMMENT)
        try:
            await self.votes.explain(about.question_id, submission.user.id, reason=reason, comment=comment)
        except StoreUnavailableError:
            logger.warning("feedback.lost", extra={"question_id": about.question_id})
            await self._whisper(about, submission.user.id, messages.feedback_failed)
            return
        await self._whisper(about, submission.user.id, messages.thanks_down)

    async def _whisper(self, about: FeedbackMetadata, user: str, text: str) -> None:
        """Posts an ephemeral message; where Slack does not take it, nothing is lost."""
        try:
            await self.client.chat_postEphemeral(
                channel=about.channel, user=user, text=text, thread_ts=about.thread_ts
            )
        except SLACK_FAILURES as error:
            logger.info("feedback.no_thanks", extra={"cause": type(error).__name__})


def reason_view(about: FeedbackMetadata, messages: Messages) -> dict[str, Any]:
    reasons = {
        "wrong": messages.reason_wrong,
        "outdated": messages.reason_outdated,
        "incomplete": messages.reason_incomplete,
        "other_question": messages.reason_other_question,
    }
    return modal(
        messages.feedback_title,
        [
            field(REASON, messages.feedback_reason, choice(reasons)),
            field(
                COMMENT,
                messages.feedback_comment,
                text_input(COMMENT_CHARACTERS),
                hint=messages.comment_read,
                optional=True,
            ),
        ],
        messages,
        callback=CALLBACK,
        metadata=about.model_dump_json(),
        submit=messages.send,
    )
