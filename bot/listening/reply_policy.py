"""Decides when Footnote speaks, and why; no other module does. Pure; `docs/speaking.md` tells the rules for people.

    mentioned, written to directly -> always
    a message in a thread where Footnote is, without a mention:
        to another person or a group                     -> silent
        people are talking with each other               -> silent; after three of their messages until it is mentioned
        one person and Footnote                          -> speaks, where the words ask or answer something
        the person whom it answered last goes on         -> speaks, where the words ask a knowledge base, or answer
                                                            its question
        somebody else                                    -> silent, unless they answer its question (or `follow_ups`
                                                            is "everyone")

A wrong word in a conversation of others costs more than a silence, which a mention ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from kb.config.slack_settings import FollowUps
from kb.rewriting.replies import ReplySignals, hands_on, read_reply

Place = Literal["channel", "group", "dm"]
Reason = Literal[
    "mentioned",
    "direct",
    "shortcut",
    "unasked",
    "one_person",
    "goes_on",
    "answers_us",
    "everyone",
    "no_thread",
    "not_our_thread",
    "mention_only",
    "to_others",
    "asleep",
    "among_people",
    "somebody_else",
    "to_a_person",
    "says_nothing",
    "unread",
]
"""The first eight speak, the others are silence. "unread": the thread could not be read in time."""

SLEEPS_AFTER = 3
"""Messages of people since Footnote last spoke, after which it stays silent."""
ASKS_BACK = frozenset({"unclear", "declined"})
"""Outcomes that ask for other words: "Do you mean A or B?", "Try naming the product, team or rule you mean."."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadMessage:
    """A message of a thread. `user` is None for Footnote's own; then
    `outcome` is its answer's, and `to` whom it answered.

    `name` is what people call the user. `text` may hold Slack's marks, but no mention of Footnote.
    """

    user: str | None
    text: str
    mentions_us: bool = False
    addresses_others: bool = False
    outcome: str | None = None
    to: str | None = None
    name: str = ""

    @property
    def asks(self) -> bool:
        """Tells whether the words by themselves ask something."""
        return _parsed(self.text).asks


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """`with_others`: nobody spoke to Footnote and other people are in the
    thread, so that what is not found is silence.
    """

    speaks: bool
    reason: Reason
    with_others: bool = False


@lru_cache(maxsize=64)
def _parsed(text: str) -> ReplySignals:
    """Reads what the words alone do. Cached: it takes milliseconds, and is asked twice of each message."""
    return read_reply(text)


def decide_by_text(new: ThreadMessage) -> Decision | None:
    """Decides by a message's text alone, without its thread; None: the thread must be read."""
    reply = _parsed(new.text)
    if reply.to_group or reply.to_named:
        return _silence("to_others")
    return None if reply.says else _silence("says_nothing")


def decide(
    messages: Sequence[ThreadMessage], *, place: Place, follow_ups: FollowUps = "auto", unasked: bool = False
) -> Decision:
    """Tells whether Footnote answers the last of `messages`, oldest first.

    Args:
        unasked: questions that start a thread are answered without a mention, where they ask a knowledge base.
    """
    new = messages[-1]
    if place == "dm":
        return Decision(speaks=True, reason="direct")
    if new.mentions_us:
        return Decision(speaks=True, reason="mentioned")
    if new.addresses_others:
        return _silence("to_others")
    if len(messages) == 1:
        return _unasked(new) if unasked else _silence("no_thread")
    thread = _Thread.read(messages[:-1])
    if not thread.ours:
        return _silence("not_our_thread")
    if follow_ups == "mention":
        return _silence("mention_only")
    return _in_thread(new, thread, follow_ups)


def _unasked(new: ThreadMessage) -> Decision:
    """Decides about a message that starts a thread: "Does anyone know how ...?" is how people ask a channel."""
    reply = read_reply(new.text)
    if reply.to_named or reply.to_person or (reply.to_group and not reply.wonders):
        return _silence("to_others")
    if not reply.asks_knowledge or reply.small:
        return _silence("says_nothing")
    return Decision(speaks=True, reason="unasked", with_others=True)


def _in_thread(new: ThreadMessage, thread: _Thread, follow_ups: FollowUps) -> Decision:
    others = thread.others_than(new)
    names = [person.name for person in thread.people.values() if person.user != new.user and person.name]
    reply = read_reply(new.text, before=thread.last_words, offered=thread.asked_back, names=names)
    if reply.to_group or reply.to_named:
        return _silence("to_others")
    if not reply.says:
        return _silence("says_nothing")
    if not others:
        wants = reply.asks or reply.corrects or (bool(thread.asked_back) and (reply.chooses or reply.answers))
        return (
            Decision(speaks=True, reason=thread.because("one_person", reply))
            if wants
            else _silence("says_nothing")
        )
    return _among_others(new, thread, reply, follow_ups)


def _among_others(
    new: ThreadMessage, thread: _Thread, reply: ReplySignals, follow_ups: FollowUps
) -> Decision:
    since = thread.since
    if len(since) >= SLEEPS_AFTER:
        return _silence("asleep")
    goes_on = new.user in thread.answered
    if reply.to_person:
        return _silence("to_a_person")
    if thread.asked_back and goes_on and reply.chooses:
        return Decision(speaks=True, reason="answers_us", with_others=True)
    if _are_talking(new, thread):
        return _silence("among_people")
    if thread.asked_back and (reply.answers if goes_on else reply.chooses and not reply.asks):
        return Decision(speaks=True, reason="answers_us", with_others=True)
    if not goes_on and follow_ups != "everyone":
        return _silence("somebody_else")
    if not (reply.asks_knowledge or reply.corrects):
        return _silence("says_nothing")
    between = [read_reply(message.text) for message in since if message.user != new.user]
    if between and (reply.small or not (reply.leans or all(remark.remarks for remark in between))):
        return _silence("among_people")
    return Decision(speaks=True, reason="goes_on" if goes_on else "everyone", with_others=True)


def _are_talking(new: ThreadMessage, thread: _Thread) -> bool:
    """Tells whether people have been speaking to each other since Footnote last spoke.

    They are where somebody was addressed or asked, or where one has answered the other: a lone remark is neither.
    """
    replied = False
    for index, message in enumerate(thread.since):
        own = message.user == new.user
        reply = read_reply(message.text, before=thread.last_words)
        if message.addresses_others or reply.to_named or reply.to_person or reply.to_group:
            return True
        if not own and reply.asks:
            return True
        before = [earlier.user for earlier in thread.since[:index]]
        if replied and not own:
            return True
        replied = replied or (
            own and reply.says and not reply.remarks and any(user != new.user for user in before)
        )
    return replied


@dataclass(kw_only=True, slots=True)
class _Thread:
    """What a thread has come to. `since`: people's messages after
    Footnote last spoke or was spoken to, without thanks to it.

    `answered`: whose question it answered last, or is answering. `asked_back`: its last words, where they ask
    something.
    """

    ours: bool = False
    people: dict[str, ThreadMessage] = field(default_factory=dict)
    addressed: bool = False
    answered: frozenset[str] = frozenset()
    since: list[ThreadMessage] = field(default_factory=list)
    asked_back: str = ""
    question: str = ""
    last_words: str = ""

    @classmethod
    def read(cls, messages: Sequence[ThreadMessage]) -> _Thread:
        thread, waiting = cls(), False
        for index, message in enumerate(messages):
            if message.user is None:
                thread._we_spoke(message, waiting=waiting)
                waiting = False
                continue
            thread.people[message.user] = message
            thread.addressed = thread.addressed or message.addresses_others
            if message.mentions_us:
                thread._we_were_asked(message, messages[index - 1] if index else None)
                waiting = True
            else:
                thread.since.append(message)
        while thread.since and thread._is_thanks(thread.since[0]):
            del thread.since[0]
        return thread

    def others_than(self, new: ThreadMessage) -> bool:
        """Tells whether anybody else is in the thread, by word or because somebody turned to them."""
        return self.addressed or any(user != new.user for user in self.people)

    def because(self, reason: Reason, reply: ReplySignals) -> Reason:
        return "answers_us" if self.asked_back and not reply.asks else reason

    def _we_spoke(self, ours: ThreadMessage, *, waiting: bool) -> None:
        if ours.to is not None:
            self.answered = self.answered if ours.to in self.answered else frozenset({ours.to})
        elif not waiting and self.since:
            asker = next(
                (message for message in reversed(self.since) if message.user in self.answered), self.since[-1]
            )
            self.answered = frozenset({asker.user or ""})
        if not waiting and self.since:
            self.question = self.since[-1].text
        self.ours, self.since = True, []
        self.asked_back = ours.text if ours.outcome in ASKS_BACK else ""
        self.last_words = f"{self.question}\n{ours.text}"

    def _we_were_asked(self, mention: ThreadMessage, above: ThreadMessage | None) -> None:
        """Notes a mention. One without a matter of its own asks for somebody else: "<question>", "@footnote do you
        know?".
        """
        asker = mention.user or ""
        self.answered = frozenset({asker})
        if above is not None and above.user is not None and hands_on(mention.text):
            self.answered |= {above.user}
        self.ours, self.since, self.asked_back = True, [], ""
        self.question = self.last_words = mention.text

    def _is_thanks(self, message: ThreadMessage) -> bool:
        return message.user in self.answered and not read_reply(message.text).says


def _silence(reason: Reason) -> Decision:
    return Decision(speaks=False, reason=reason)
