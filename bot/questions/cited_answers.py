"""Keeps for 30 days what answers in threads quoted, so that a thread can be told when its page no longer says it.

{NAMESPACE}:cited:pages           sorted set: page id, by when it was cited last
{NAMESPACE}:cited:page:PAGE       hash: question id -> the page's revision in which the quoted words still stood
{NAMESPACE}:cited:answer:QUESTION the answer as JSON; gone once its thread was told, or its question was deleted

What was quoted stays with the answer alone; of what stood beside it only fingerprints are kept.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from pydantic import Field, ValidationError
from redis.asyncio import Redis

from bot.frozen_model import FrozenModel
from bot.queue.queued_question import QueuedQuestion
from kb.answer import Answer, Citation
from kb.models import Chunk, Page
from kb.pages.quoted_words import PageSection, fingerprint, gone_from, statements_of, words_of
from kb.store.redis import milliseconds, store_failures, text_of

logger = logging.getLogger(__name__)

KEEP = timedelta(days=30)
"""Nobody goes back to an older thread."""
LOOKED_AT = 4
"""Questions of a quoted page, at each answer: a page that is quoted every day would keep those
of all years. As one comes and four are looked at, a quarter of them are outdated at most."""
FEW = 2
"""Statements of a passage that stand for what a model wrote of it, where it did not point at any."""
_UNAVAILABLE = "what answers quoted cannot be told"

_DROP_OUTDATED = """
for index = 2, #ARGV do
    local page = KEYS[1] .. ':page:' .. ARGV[index]
    for _, question in ipairs(redis.call('HRANDFIELD', page, tonumber(ARGV[1]))) do
        if redis.call('EXISTS', KEYS[1] .. ':answer:' .. question) == 0 then redis.call('HDEL', page, question) end
    end
end
"""
"""KEYS[1]: the root of all keys. ARGV[1]: how many questions of a page are looked at. The rest: page ids."""


class QuotedPassage(FrozenModel):
    """`statements`: what was quoted, as it stood on the page. `beside`:
    fingerprints of all that stood in the passage.
    """

    section: tuple[str, ...] = ()
    statements: tuple[str, ...] = Field(repr=False)
    beside: frozenset[str] = frozenset()


class QuotedPage(FrozenModel):
    """`url`: as the answer linked it. `expired`, `replaced`: the answer itself has said so."""

    page_id: str
    revision: str
    url: str
    expired: bool = False
    replaced: bool = False
    passages: tuple[QuotedPassage, ...] = ()


class CitedAnswer(FrozenModel):
    """`version`: which version of the question it answers; an edited one is answered anew."""

    question_id: str
    version: str
    channel: str
    thread_ts: str
    question_ts: str
    user: str
    answered_at: datetime
    language: str
    pages: tuple[QuotedPage, ...]


class CitedAnswers:
    """Every method raises `StoreUnavailableError` when Redis does not answer."""

    def __init__(self, redis: Redis, *, namespace: str) -> None:
        self._redis = redis
        self._root = f"{{{namespace}}}:cited"
        self._drop_outdated = redis.register_script(_DROP_OUTDATED)

    async def remember(self, cited: CitedAnswer) -> None:
        """Stores an answer in place of the one to an earlier version of its question, unless it quotes nothing."""
        await self.forget(cited.question_id)
        if not cited.pages:
            return
        at = cited.answered_at.timestamp()
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.set(self._answer(cited.question_id), cited.model_dump_json(), px=KEEP)
                pipe.zadd(self._pages, {page.page_id: at for page in cited.pages})
                pipe.zremrangebyscore(self._pages, "-inf", at - KEEP.total_seconds())
                pipe.pexpire(self._pages, milliseconds(KEEP))
                for page in cited.pages:
                    pipe.hset(self._page(page.page_id), cited.question_id, page.revision)
                    pipe.pexpire(self._page(page.page_id), milliseconds(KEEP))
                await pipe.execute()
            await self._drop_outdated(
                keys=[self._root], args=[LOOKED_AT, *(page.page_id for page in cited.pages)]
            )

    async def get(self, question_id: str) -> CitedAnswer | None:
        with store_failures(_UNAVAILABLE):
            stored = await self._redis.get(self._answer(question_id))
        try:
            return None if stored is None else CitedAnswer.model_validate_json(stored)
        except ValidationError as error:  # stored by another version; its text would be in the message
            logger.warning(
                "cited.unreadable", extra={"question_id": question_id, "problems": error.error_count()}
            )
            return None

    async def by_page(self) -> dict[str, dict[str, str]]:
        """Returns, by page id, the questions whose answers quote it, each with the revision that was last found
        right.
        """
        with store_failures(_UNAVAILABLE):
            listed: list[Any] = await self._redis.zrange(self._pages, 0, -1)
            pages = [text_of(page) for page in listed]
            async with self._redis.pipeline(transaction=False) as pipe:
                for page in pages:
                    pipe.hgetall(self._page(page))
                found = await pipe.execute() if pages else []
        return {
            page: {text_of(question): text_of(revision) for question, revision in questions.items()}
            for page, questions in zip(pages, found, strict=True)
        }

    async def still_right(self, question_id: str, page_id: str, revision: str) -> None:
        """Notes that the page has changed, and what was quoted of it has not."""
        with store_failures(_UNAVAILABLE):
            await self._redis.hset(self._page(page_id), question_id, revision)

    async def forget(self, question_id: str, *, pages: Sequence[str] = ()) -> None:
        """Deletes an answer: its thread was told, its question deleted or asked anew, or it is
        too old. `pages`: further pages that may list it.
        """
        answer = await self.get(question_id)
        listing = {*pages, *(page.page_id for page in (answer.pages if answer else ()))}
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.delete(self._answer(question_id))
                for page in listing:
                    pipe.hdel(self._page(page), question_id)
                await pipe.execute()

    async def wait_s(self, *, most: int) -> float:
        """Returns the seconds to wait before one more note; 0 while all bots together posted fewer than `most` of
        late.
        """
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.get(self._pace)
                pipe.pttl(self._pace)
                notes, left = await pipe.execute()
        return 0.0 if int(notes or 0) < most else max(0.05, left / 1000)

    async def count_note(self, *, within: timedelta) -> None:
        """Counts a note that is about to be posted, for `wait_s`."""
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.set(self._pace, 0, nx=True, px=within)
                pipe.incr(self._pace)
                await pipe.execute()

    @property
    def _pace(self) -> str:
        return f"{self._root}:pace"

    @property
    def _pages(self) -> str:
        return f"{self._root}:pages"

    def _page(self, page_id: str) -> str:
        return f"{self._root}:page:{page_id}"

    def _answer(self, question_id: str) -> str:
        return f"{self._root}:answer:{question_id}"


def cited_answer(question: QueuedQuestion, answer: Answer, *, at: datetime) -> CitedAnswer:
    """Builds what is kept of an answer."""
    return CitedAnswer(
        question_id=question.message_id,
        version=question.id,
        channel=question.channel,
        thread_ts=question.thread_ts,
        question_ts=question.ts,
        user=question.user,
        answered_at=at,
        language=answer.language,
        pages=quoted_pages(answer, at.date()),
    )


def quoted_pages(answer: Answer, today: date) -> tuple[QuotedPage, ...]:
    """Returns the pages that an answer rests on, with what it quotes of each; empty where it quotes nothing."""
    passages: dict[str, list[QuotedPassage]] = {}
    pages: dict[str, Citation] = {}
    for citation, quoted in _quoted(answer):
        passage = _passage(citation.chunk, quoted)
        if passage is not None:
            pages.setdefault(citation.chunk.page.id, citation)
            passages.setdefault(citation.chunk.page.id, []).append(passage)
    return tuple(
        QuotedPage(
            page_id=page_id,
            revision=citation.chunk.page.revision,
            url=citation.chunk.page.url,
            expired=has_expired(citation.chunk.page, today),
            replaced=citation.freshness == "superseded",
            passages=tuple(passages[page_id]),
        )
        for page_id, citation in pages.items()
    )


def has_expired(page: Page, today: date) -> bool:
    return page.dates.expires is not None and page.dates.expires < today


def _quoted(answer: Answer) -> Sequence[tuple[Citation, str]]:
    """Pairs each source with the words of its page that the answer rests on, what was asked for first."""
    if answer.quotes:
        return [(quote.citation, "\n\n".join([quote.best, *quote.blocks])) for quote in answer.quotes]
    written = _text_by_citation(answer)
    return [
        (citation, citation.quote or _nearest(citation.chunk, written.get(citation.n, "")))
        for citation in answer.citations
    ]


def _text_by_citation(answer: Answer) -> Mapping[int, str]:
    texts: dict[int, list[str]] = defaultdict(list)
    for sentence in answer.sentences:
        for number in sentence.citations:
            texts[number].append(sentence.text)
    return {number: " ".join(sentences) for number, sentences in texts.items()}


def _nearest(chunk: Chunk, text: str) -> str:
    """Returns the statements of a passage that share most words with the model's sentence."""
    wanted = set(words_of(text).split())
    ranked = sorted(
        statements_of(chunk.text),
        key=lambda statement: len(wanted & set(words_of(statement).split())),
        reverse=True,
    )
    return "\n\n".join(ranked[:FEW])


def _passage(chunk: Chunk, quoted: str) -> QuotedPassage | None:
    """Drops what an excerpt has added or left out: only what stood on the page can be gone from it."""
    stood = [PageSection(headings=chunk.section, text=chunk.text)]
    statements = statements_of(quoted)
    gone = set(gone_from(stood, statements))
    kept = tuple(dict.fromkeys(statement for statement in statements if statement not in gone))
    if not kept:
        return None
    beside = frozenset(fingerprint(statement) for statement in statements_of(chunk.text))
    return QuotedPassage(section=chunk.section, statements=kept, beside=beside)
