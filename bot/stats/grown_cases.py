"""Grows cases for `eval answers` from what people asked: answers that were voted up, and gaps that the pages have
closed since.

A case is written only of what stands on its page today, and names nobody. What was asked privately, and what only some
may read, is left out unless it is asked for.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from bot.listening.threads import message_of, order
from bot.questions.answer_record import AskedQuestion
from bot.questions.cited_answers import CitedAnswers, QuotedPage, quoted_pages
from bot.stats.analytics import Analytics
from bot.stats.gap import Gap, shown_question
from bot.stats.gaps import Gaps
from bot.stats.pseudonyms import Pseudonyms, names_nobody
from kb.conversation.conversations import RedisConversations
from kb.conversation.history import readable_turns
from kb.conversation.messages import ChatMessage
from kb.evaluation.answer_sets import AnswerCase
from kb.index.port import VectorIndex
from kb.models import EVERYONE, Audience, Page, Question, ThreadKey, Turn
from kb.pages.quoted_words import PageSection, gone_from, words_of
from kb.pipeline import Pipeline
from kb.retrieval.golden import GoldenQuestion
from kb.text.wording import plain

LeftOut = Literal[
    "asked privately", "limited page", "page gone", "no longer says it", "not answered", "asked twice"
]

LATEST = 3000
"""Questions that are looked at."""
FACTS = 3
TELLING = 7
"""Letters of a word that counts as a fact, where a sentence has no figure."""
EARLIER = 4
"""Turns of the thread before that are included."""

_FIGURE = re.compile(r"(?:[€$£¥] ?)?\d+(?:[.,:/-]\d+)*(?: ?[%€$£¥])?")
_NEXT_WORD = re.compile(r" [^\W\d_]{3,}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Grown:
    """`golden`: the same questions for a reindex, those of a thread as they were understood there."""

    cases: tuple[AnswerCase, ...]
    golden: tuple[GoldenQuestion, ...]
    left_out: Mapping[LeftOut, int]


@dataclass(kw_only=True, slots=True)
class _Growing:
    """The cases and counts so far."""

    private: bool
    pages: Mapping[str, Page]
    names: Pseudonyms = field(default_factory=Pseudonyms)
    cases: dict[str, AnswerCase] = field(default_factory=dict)
    golden: dict[str, GoldenQuestion] = field(default_factory=dict)
    left_out: Counter[LeftOut] = field(default_factory=Counter)

    def may_tell(self, asked: AskedQuestion) -> bool:
        return self.private or asked.record.asked_in.place != "private"


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseGrower:
    """Every method raises `UnavailableError` when the store, the index or a model does not answer."""

    records: Analytics
    gaps: Gaps
    cited: CitedAnswers
    conversations: RedisConversations
    index: VectorIndex
    answerer: Pipeline
    today: date

    async def grow(self, *, private: bool) -> Grown:
        """Grows the cases. `private`: also of what was asked privately, and of limited pages."""
        growing = _Growing(private=private, pages={page.id: page for page in await self.index.every_page()})
        for asked in sorted(await self.records.asked(LATEST), key=lambda asked: asked.question_id):
            if asked.record.outcome == "answered" and is_voted_up(asked):
                await self._voted_up(asked, growing)
        for gap in await self.gaps.closed():
            await self._closed(gap, growing)
        return Grown(
            cases=tuple(growing.cases.values()),
            golden=tuple(growing.golden.values()),
            left_out=dict(growing.left_out),
        )

    async def _voted_up(self, asked: AskedQuestion, growing: _Growing) -> None:
        if not growing.may_tell(asked):
            growing.left_out["asked privately"] += 1
            return
        kept = await self.cited.get(asked.question_id)
        quoted = {page.page_id: page for page in (kept.pages if kept else ())}
        pages = [(citation.page_id, quoted.get(citation.page_id)) for citation in asked.record.cited]
        history = await self._before(asked, private=growing.private)
        alone = asked.record.understood if asked.record.is_follow_up else asked.record.question
        await self._add(
            growing, "voted-up", asked.question_id, asked.record.question, history, pages, alone=alone
        )

    async def _closed(self, gap: Gap, growing: _Growing) -> None:
        asked = next(filter(growing.may_tell, gap.asked), None)
        if asked is None:
            growing.left_out["asked privately"] += 1
            return
        question = shown_question(asked)
        where = asked.record.asked_in.channel
        audience = Audience(channels=frozenset({where} if growing.private and where else ()))
        answer = await self.answerer.answer(Question(id=asked.question_id, text=question, audience=audience))
        if answer.outcome != "answered":
            growing.left_out["not answered"] += 1
            return
        pages = [(page.page_id, page) for page in quoted_pages(answer, self.today)]
        await self._add(growing, "gap-closed", asked.question_id, question, (), pages, alone=question)

    async def _add(
        self,
        growing: _Growing,
        kind: Literal["voted-up", "gap-closed"],
        question_id: str,
        question: str,
        history: Sequence[ChatMessage],
        pages: Sequence[tuple[str, QuotedPage | None]],
        *,
        alone: str | None,
    ) -> None:
        there = [(growing.pages[page], quoted) for page, quoted in pages if page in growing.pages]
        parts = [(page, quoted) for page, quoted in there if growing.private or EVERYONE in page.audience]
        if not parts:
            growing.left_out["limited page" if there else "page gone"] += 1
            return
        page, quoted = parts[0]
        statements = await self._statements(page, quoted)
        if quoted is not None and quoted.passages and not statements:
            growing.left_out["no longer says it"] += 1
            return
        channel = None if EVERYONE in page.audience else next(iter(page.audience), None)
        tell = growing.names.text
        case = AnswerCase(
            id=f"{kind}-{hashlib.blake2b(question_id.encode(), digest_size=4).hexdigest()}",
            question=tell(question),
            chat_history=tuple(
                message.model_copy(update={"content": tell(message.content)}) for message in history
            ),
            keywords=facts_of(statements, question),
            page=page.path,
            category=kind,
            channel=channel,
        )
        key = "\n".join([*(message.content for message in case.chat_history), case.question]).casefold()
        if key in growing.cases:
            growing.left_out["asked twice"] += 1
            return
        growing.cases[key] = case
        if alone:
            golden = GoldenQuestion(question=tell(alone), page=page.id, channel=channel)
            growing.golden.setdefault(golden.question.casefold(), golden)

    async def _statements(self, page: Page, quoted: QuotedPage | None) -> list[str]:
        """Returns the quoted statements that the page still holds."""
        if quoted is None:
            return []
        sections: dict[int, PageSection] = {}
        batches = self.index.passages(
            audience=Audience(channels=frozenset(page.audience)), of_pages=[page.id]
        )
        async for batch in batches:
            for chunk in batch:
                sections[chunk.position] = PageSection(headings=chunk.section, text=chunk.text)
        parts = [statement for passage in quoted.passages for statement in passage.statements]
        gone = set(gone_from([sections[position] for position in sorted(sections)], parts))
        return [statement for statement in parts if statement not in gone]

    async def _before(self, asked: AskedQuestion, *, private: bool) -> tuple[ChatMessage, ...]:
        """Returns the thread's turns before a question, without answers from pages that may not be told any more."""
        where = asked.record.asked_in
        if not where.thread_ts or where.thread_ts == where.ts:
            return ()
        key = ThreadKey(team=where.team, channel=where.channel, thread=where.thread_ts)
        turns = [
            turn
            for turn in await self.conversations.load(key)
            if turn.question_ts is not None and _order(turn.question_ts) < _order(where.ts)
        ]
        principals = {where.channel, f"#{where.channel_name}"} if private else set()
        audience = Audience(channels=frozenset(principals))
        readable = await readable_turns(turns[-EARLIER:], self.index, audience=audience)
        return tuple(message for turn in readable for message in _messages(turn))


def _order(ts: str) -> tuple[int, ...]:
    return order(message_of(ts))


def _messages(turn: Turn) -> list[ChatMessage]:
    parts = [ChatMessage(role="user", content=turn.question)]
    return [*parts, ChatMessage(role="assistant", content=turn.answer)] if turn.answer else parts


def is_voted_up(asked: AskedQuestion) -> bool:
    votes = Counter(asked.votes.values())
    return votes["good"] > votes["bad"]


def facts_of(statements: Sequence[str], question: str) -> tuple[tuple[str, ...], ...]:
    """Picks the facts that an answer must show; none of them names anybody.

    They are the figures of the first statement that has any, else one of the telling words of the first.
    """
    statements = list(filter(names_nobody, statements))
    figures: dict[str, tuple[str, ...]] = {}
    for statement in statements:
        text = " ".join(plain(statement).split())
        for found in _FIGURE.finditer(text):
            following = _NEXT_WORD.match(text, found.end())
            fact = found[0].strip() + (following[0] if following else "")
            if following or len(found[0]) > 1:
                figures.setdefault(found[0], (fact, found[0]) if len(found[0]) > 1 and following else (fact,))
        if figures:
            return tuple(figures.values())[:FACTS]
    asked = set(words_of(question).split())
    telling = [
        word
        for statement in statements[:1]
        for word in words_of(statement).split()
        if len(word) >= TELLING and word not in asked and word.isalpha()
    ]
    ways = tuple(dict.fromkeys(sorted(telling, key=len, reverse=True)))[:FACTS]
    return (ways,) if ways else ()
