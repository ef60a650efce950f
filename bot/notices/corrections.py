"""Tells a thread once that a page which its answer quoted has changed, expired or been replaced.

    a sync has ended, or a day has begun -> answers whose pages changed
    -> what may still be read there, and what it says now -> the claim on the note (`bot.listening.exactly_once`)
    -> is the answer still in its thread? -> the note

A page that the thread may not read any more, or that is gone, is not spoken of at all. Everything is looked up anew
right before a note is posted, since notes wait for one another: only a few are said a minute, by all bots together.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from slack_sdk.errors import SlackApiError

from bot.listening.channel_settings import ChannelSettingsStore
from bot.listening.exactly_once import ExactlyOnce, Notice, Notices
from bot.listening.threads import Threads
from bot.messages.catalog import messages_in
from bot.notices.correction_notes import Finding, note_blocks, note_text
from bot.questions.cited_answers import KEEP, CitedAnswer, CitedAnswers, QuotedPage, has_expired
from bot.questions.reply import UNCERTAIN
from bot.slack.audiences import Audiences
from bot.slack.errors import SLACK_FAILURES, cause_of
from bot.slack.events import answer_metadata
from bot.slack.people import People
from kb.citations.prompt_injection import strip_injections
from kb.errors import UnavailableError
from kb.index.port import PagesWanted, VectorIndex
from kb.models import Audience, Chunk, Page, Successor
from kb.pages.quoted_words import PageSection, gone_from, new_wording
from kb.pages.versions import as_name, names_of, series_of
from kb.retrieval.supersession import find_successors

logger = logging.getLogger(__name__)

LOOK_S = 15.0
"""Between two looks whether a sync has ended."""
MOST = 20
"""Notes after one sync, the latest answers first. More means that the pages were written anew, not that each answer's
thread waits for news."""
MOST_A_MINUTE = 3
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class Corrections:
    """`syncs` tells which syncs have ended: something else after each. `pause` waits so many seconds."""

    cited: CitedAnswers
    index: VectorIndex
    audiences: Audiences
    settings: ChannelSettingsStore
    threads: Threads
    people: People
    exactly_once: ExactlyOnce
    notices: Notices
    syncs: Callable[[], Awaitable[object]]
    clock: Callable[[], datetime]
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def run(self) -> None:
        """Runs until cancelled. The first look finds what happened while no bot ran."""
        seen: object = None
        while True:
            try:
                now = (await self.syncs(), self.clock().date())
                if now != seen and await self.look():
                    seen = now
            except (UnavailableError, *SLACK_FAILURES) as error:
                logger.warning("corrections.later", extra={"cause": cause_of(error)})
            except Exception:  # the process edge of this work: the next look tries again
                logger.exception("corrections.broke")
            await self.pause(LOOK_S)

    async def look(self) -> bool:
        """Says what is due. False: something is left for the next look.

        Raises:
            UnavailableError: the index or the store does not answer.
        """
        pages = await self._pages()
        due: list[CitedAnswer] = []
        done = True
        for question_id, of_pages in (await self._suspects(pages)).items():
            answer = await self.cited.get(question_id)
            if answer is None or self.clock() - answer.answered_at > KEEP:
                await self.cited.forget(question_id, pages=of_pages)
                continue
            try:
                if await self._findings(answer, pages):
                    due.append(answer)
            except UnavailableError as error:
                logger.warning("correction.later", extra={"question_id": question_id, "cause": str(error)})
                done = False
        due.sort(key=lambda answer: answer.answered_at, reverse=True)
        if len(due) > MOST:
            logger.warning("corrections.capped", extra={"due": len(due), "said": MOST})
        for answer in due[MOST:]:
            await self.cited.forget(answer.question_id)
        for answer in due[:MOST]:
            done = await self._say(answer) and done
        return done

    async def _pages(self) -> dict[str, Page]:
        return {page.id: page for page in await self.index.every_page()}

    async def _suspects(self, pages: Mapping[str, Page]) -> Mapping[str, list[str]]:
        """Finds the questions whose answers may need a note, each with the pages that make it so."""
        today = self.clock().date()
        cited = {page: questions for page, questions in (await self.cited.by_page()).items() if page in pages}
        finder = _PagesAtHand(pages, whoever_asks=True)
        replaced = await find_successors([pages[page] for page in cited], finder=finder, audience=Audience())
        suspects: dict[str, list[str]] = defaultdict(list)
        for page_id, questions in cited.items():
            page = pages[page_id]
            certain = has_expired(page, today) or page.superseded_by or page_id in replaced
            for question_id, revision in questions.items():
                if certain or revision != page.revision:
                    suspects[question_id].append(page_id)
        return suspects

    async def _findings(self, answer: CitedAnswer, pages: Mapping[str, Page]) -> list[Finding]:
        """Returns what there is to tell of an answer's pages, as far as its thread may read them now;
        nothing where the channel wants no notes.

        Raises:
            UnavailableError: it cannot be told what may be read there, or what the pages say.
        """
        if (await self.settings.of(answer.channel)).corrections == "off":
            await self.cited.forget(answer.question_id)
            return []
        audience = await self.audiences.of(answer.channel, answer.user)
        chunks: dict[str, list[Chunk]] = defaultdict(list)
        wanted = [quoted.page_id for quoted in answer.pages]
        async for batch in self.index.passages(audience=audience, of_pages=wanted):
            for chunk in batch:
                chunks[chunk.page.id].append(chunk)
        current = [of_page[0].page for of_page in chunks.values()]
        successors = await find_successors(current, finder=_PagesAtHand(pages), audience=audience)
        found = []
        for quoted in answer.pages:
            passages = sorted(chunks.get(quoted.page_id, ()), key=lambda chunk: chunk.position)
            if not passages:
                continue
            finding = self._finding(answer, quoted, passages, successors.get(quoted.page_id))
            if finding is not None:
                found.append(finding)
            elif passages[0].page.revision != quoted.revision:
                await self.cited.still_right(answer.question_id, quoted.page_id, passages[0].page.revision)
        return found

    def _finding(
        self, answer: CitedAnswer, quoted: QuotedPage, passages: Sequence[Chunk], successor: Successor | None
    ) -> Finding | None:
        page = replace(passages[0].page, successor=successor)
        if (successor or page.superseded_by) and not quoted.replaced:
            return Finding(what="replaced", page=page, url=quoted.url)
        if has_expired(page, self.clock().date()) and not quoted.expired:
            return Finding(what="expired", page=page, url=quoted.url)
        if page.revision == quoted.revision:
            return None
        return _changed(
            answer,
            quoted,
            page,
            [PageSection(headings=passage.section, text=passage.text) for passage in passages],
        )

    async def _say(self, answer: CitedAnswer) -> bool:
        """Posts the note of one answer. True: it is settled, posted now or before, or not to be posted any more."""
        while wait_s := await self.cited.wait_s(most=MOST_A_MINUTE):
            await self.pause(wait_s)
        name = f"correction-{answer.version}"
        claim = await self.exactly_once.begin(name)
        if claim != "mine":
            if claim == "said":
                await self.cited.forget(answer.question_id)
            return claim == "said"
        try:
            await self._post(name, answer)
        except UnavailableError as error:
            logger.warning("correction.later", extra={"question_id": answer.question_id, "cause": str(error)})
            return False
        except (*SLACK_FAILURES, OSError) as error:
            code = cause_of(error)
            logger.warning("correction.not_said", extra={"question_id": answer.question_id, "cause": code})
            if not isinstance(error, SlackApiError) or code in UNCERTAIN:
                return False  # it may stand there: whoever comes next looks
        await self.exactly_once.complete(name)
        await self.cited.forget(answer.question_id)
        return True

    async def _post(self, name: str, answer: CitedAnswer) -> None:
        """Posts a note, unless the question was deleted, the answer taken away or the page limited while it waited."""
        if await self.cited.get(answer.question_id) is None or not await self._stands(answer):
            return
        findings = await self._findings(answer, await self._pages())
        if not findings:
            return
        await self.cited.count_note(within=MINUTE)
        messages = messages_in(answer.language)
        await self.notices.post(
            Notice(
                name=name,
                channel=answer.channel,
                thread_ts=answer.thread_ts,
                text=note_text(findings, messages),
                blocks=note_blocks(findings, messages),
            )
        )
        logger.info(
            "correction.said",
            extra={"question_id": answer.question_id, "why": [finding.what for finding in findings]},
        )

    async def _stands(self, answer: CitedAnswer) -> bool:
        me = await self.people.me()
        found = [
            answer_metadata(message.metadata)
            for message in await self.threads.messages(answer.channel, answer.thread_ts)
            if me.wrote(message)
        ]
        return any(
            metadata is not None and metadata.state == "answered" and metadata.question_id == answer.version
            for metadata in found
        )


@dataclass(frozen=True, slots=True)
class _PagesAtHand:
    """Finds pages among those at hand, as the index would. A `kb.retrieval.supersession.PageFinder`."""

    at_hand: Mapping[str, Page]
    whoever_asks: bool = False
    """Finds what the audience may not read, too: to know where to look closer, never to tell."""

    async def pages(self, wanted: PagesWanted, *, audience: Audience) -> Sequence[Page]:
        return [
            page
            for page in self.at_hand.values()
            if _fits(page, wanted) and (self.whoever_asks or _may_read(page, audience))
        ]


def _fits(page: Page, wanted: PagesWanted) -> bool:
    return (
        not set(wanted.named).isdisjoint(names_of(page))
        or not set(wanted.replacing).isdisjoint(as_name(name) for name in page.replaces)
        or (series_of(page) or "") in wanted.series
    )


def _may_read(page: Page, audience: Audience) -> bool:
    return audience.may_read(page.audience) and (not audience.sources or page.source in audience.sources)


def _changed(
    answer: CitedAnswer, quoted: QuotedPage, page: Page, sections: Sequence[PageSection]
) -> Finding | None:
    gone = [
        (statement, passage)
        for passage in quoted.passages
        for statement in gone_from(sections, passage.statements)
    ]
    if not gone:
        return None
    wordings = (
        new_wording(statement, passage.section, sections, before=passage.beside)
        for statement, passage in gone
    )
    wording = next((wording for wording in wordings if wording and strip_injections(wording).strip()), "")
    return Finding(
        what="changed",
        page=page,
        url=quoted.url,
        wording=wording,
        since=_since(page, answer.answered_at.date()),
    )


def _since(page: Page, answered: date) -> date | None:
    """Returns the day of the page's last edit; None where that is a day on which the answer was still right."""
    days = [day for day in (page.dates.edited, page.dates.reviewed) if day is not None and day >= answered]
    return min(days, default=None)
