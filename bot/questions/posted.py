"""Finds our earlier replies to a question among the messages of its thread. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.listening.threads import order
from bot.queue.queued_question import QueuedQuestion
from bot.slack.events import AnswerMetadata, Message, answer_metadata
from bot.slack.people import Me


@dataclass(frozen=True, kw_only=True, slots=True)
class Posted:
    """A message of ours in the thread."""

    ts: str
    metadata: AnswerMetadata
    text: str

    def answers(self, question: QueuedQuestion) -> bool:
        """Tells whether it is the answer to this very version of the message, and not a placeholder or an apology."""
        return self.metadata.state == "answered" and self.metadata.question_id == question.id


def posted_replies(question: QueuedQuestion, messages: Sequence[Message], me: Me) -> list[Posted]:
    """Finds our replies to one message of a thread: those that carry its metadata, else a stream that was cut."""
    ours = [message for message in messages if me.wrote(message)]
    marked = [
        Posted(ts=message.ts, metadata=metadata, text=message.text)
        for message in ours
        if (metadata := answer_metadata(message.metadata)) is not None and metadata.question_ts == question.ts
    ]
    cut = cut_stream(question, ours)
    return marked or ([cut] if cut else [])


def cut_stream(question: QueuedQuestion, ours: Sequence[Message]) -> Posted | None:
    """Finds the reply that an attempt was streaming when it was killed: a stream has no mark until it is stopped.

    Nothing else of ours in a thread is without one. A thread's questions are answered one after the other, so of two
    cut streams the later is this question's; the earlier was left by a question that was deleted or given up.
    """
    unmarked = [
        message
        for message in ours
        if order(message.ts) > order(question.ts)
        and message.metadata is None
        and not message.has_buttons  # an answer whose mark Slack does not show us
    ]
    streams = [message for message in unmarked if message.streaming_state is not None] or unmarked
    if not streams:
        return None
    metadata = AnswerMetadata(question_id=question.id, question_ts=question.ts, state="searching")
    return Posted(ts=streams[-1].ts, metadata=metadata, text=streams[-1].text)
