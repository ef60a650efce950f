"""Defines a queued question: a message that Footnote will answer, or a deletion that removes its answer."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import datetime
from typing import Literal

from pydantic import Field

from bot.frozen_model import FrozenModel
from bot.slack.slack_text import without_marks
from kb.models import ThreadKey

LINES = "direct"
"""In the place of a thread's timestamp: the lines at the bottom of a direct message, one after the other."""


class QuestionOrigin(FrozenModel):
    """Where a question comes from that stands in no message: a button of App Home, a shortcut, the slash command.

    `alone`: only the asker sees the answer, by `response_url` while that lives. What else there is:
    `bot.questions.submission`.
    """

    how: Literal["home", "shortcut", "command"]
    alone: bool = False
    response_url: str = Field(default="", repr=False)


class QueuedQuestion(FrozenModel):
    """`id` is `<team>-<channel>-<ts>`, with an ending for an edited version and for the deletion of the message.

    Every field that came later has a default: what an older version put on the queue is answered as well.
    """

    team: str
    channel: str
    channel_type: str
    ts: str
    thread_ts: str
    """The thread's root: the message's own `ts` when it starts one."""
    user: str
    """Empty for a form, which no particular person sends."""
    text: str = Field(repr=False)
    added: str = Field(default="", repr=False)
    """The text of what was forwarded with it or attached to it."""
    shown: str = Field(default="", repr=False)
    """What Slack shows below a link in it: the words of another message."""
    unread: tuple[str, ...] = ()
    """The names of attached files that cannot be read."""
    mentioned: bool
    received_at: datetime
    action_token: str | None = Field(default=None, repr=False)
    """Lets the bot search Slack for this user, for a short while."""
    edited_ts: str | None = None
    """When the message was edited, for one that is to be answered anew: such a version is a question of its own."""
    reason: str = "mentioned"
    """Why Footnote speaks (`bot.listening.reply_policy.Reason`): logged, and told in "Why this answer?"."""
    unasked: bool = False
    """Nobody spoke to Footnote and others are in the thread: nothing is
    shown before there is an answer, and what is not found is silence."""
    elsewhere: QuestionOrigin | None = None
    """None: the question is a message."""
    however_late: bool = False
    """Whoever runs Footnote wants it answered, however long ago it was asked."""
    deleted: bool = False
    """The message is gone: nothing is to be answered, and what was is taken away."""

    @property
    def id(self) -> str:
        return f"{self.message_id}-deleted" if self.deleted else _version(self.message_id, self.edited_ts)

    @property
    def message_id(self) -> str:
        """Returns one id for all versions of a message."""
        return question_id(self.team, self.channel, self.ts)

    @property
    def thread(self) -> str:
        """Names where questions are answered one after the other: a thread, or all of a direct
        message, whose lines go on from each other and start threads of their own."""
        place = f"{self.team}:{self.channel}"
        return place if self.channel_type == "im" and not self.is_ephemeral else f"{place}:{self.thread_ts}"

    @property
    def conversations(self) -> tuple[ThreadKey, ...]:
        """Returns the keys of the conversations that keep its turn; the first is the one that it goes on from.

        A line of a direct message goes on from the lines before it, and starts a thread that people may reply in.
        """
        thread = ThreadKey(team=self.team, channel=self.channel, thread=self.thread_ts)
        return (replace(thread, thread=LINES), thread) if self.is_line_of_dm else (thread,)

    @property
    def is_ephemeral(self) -> bool:
        """Tells whether only the asker sees the answer."""
        return self.elsewhere is not None and self.elsewhere.alone

    @property
    def has_no_message(self) -> bool:
        """Tells whether it was asked from App Home, where no message of Slack's holds it."""
        return self.elsewhere is not None and self.elsewhere.how == "home"

    @property
    def is_line_of_dm(self) -> bool:
        """Tells whether it stands at the bottom of a direct message, which goes on without threads."""
        return self.channel_type == "im" and self.thread_ts == self.ts and self.elsewhere is None

    @property
    def digest(self) -> str:
        """Hashes the words, so that a revision that says nothing new is known.

        The ending is for `bot/queue/queue_operations.lua`: after words that were not meant for us, equal words with a
        mention are new.
        """
        said = [without_marks(self.text), without_marks(self.added), self.unread]
        words = json.dumps(said, ensure_ascii=False)
        return hashlib.sha256(words.encode()).hexdigest() + (":unasked" if self.unasked else "")


def question_id(team: str, channel: str, ts: str, edited_ts: str | None = None) -> str:
    """Builds the identity of a message, or of an edited version of it.

    A mention and its `message` twin share it; their event ids differ.
    """
    return _version(f"{team}-{channel}-{ts}", edited_ts)


def _version(message_id: str, edited_ts: str | None) -> str:
    return message_id if edited_ts is None else f"{message_id}-edited-{edited_ts}"
