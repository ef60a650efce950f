"""Suggests questions: those that others asked and got answered, else one for a page's title.

A question is offered only to who may read every page that its answer rests on, as these are limited now; only
where at least two people asked it, so that nobody's own words are shown; and only as it was asked in a
channel that everybody may read: the text of other places goes nowhere else. Titles come from pages that this
person may read.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from bot.messages.catalog import Messages
from bot.questions.answer_record import AskedQuestion, AskedReader
from bot.slack.audiences import Audiences
from bot.slack.channels import ChannelDirectory
from bot.slack.page_names import IndexedPages
from bot.slack.ttl_cache import TtlCache
from kb.errors import UnavailableError
from kb.index.port import PageAddress
from kb.models import Audience

logger = logging.getLogger(__name__)

LOOKED_AT = 1000
"""Questions, the latest."""
ASKERS = 2
"""People who must have asked a question before it is shown to others."""
SHORTEST, LONGEST = 8, 150
TITLES_TRIED = 40
TITLE_CHARACTERS = 60
KEEP = timedelta(minutes=5)
"""How long the index's titles are cached; whether a page may be read is asked each time."""

_WORDS = re.compile(r"\w+")
_NO_TOPIC = frozenset({"readme", "index", "home", "overview", "untitled", "sidebar", "summary"})


@dataclass(frozen=True, kw_only=True, slots=True)
class _Group:
    """One question and who asked it."""

    wording: str
    language: str
    askers: int
    channels: frozenset[str]
    pages: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Suggestions:
    questions: AskedReader
    pages: IndexedPages
    audiences: Audiences
    channels: ChannelDirectory
    clock: Callable[[], datetime]

    @cached_property
    def _titles(self) -> TtlCache[None, Sequence[PageAddress]]:
        return TtlCache(keep=KEEP, clock=self.clock)

    async def for_person(self, user: str, messages: Messages, *, language: str, most: int = 4) -> list[str]:
        """Returns questions, best first; fewer or none where nothing fits, or where it cannot be told what may be
        read.
        """
        try:
            audience = await self.audiences.for_person(user)
            asked = await self._asked(audience, language, most)
            return asked or await self._from_titles(audience, messages, most)
        except UnavailableError as error:
            logger.warning("suggestions.none", extra={"cause": str(error)})
            return []

    async def _asked(self, audience: Audience, language: str, most: int) -> list[str]:
        asked = [question for question in await self.questions.asked(LOOKED_AT) if _may_be_shown(question)]
        places = {channel for group in often_asked(asked) for channel in group.channels}
        public = {channel for channel in places if await self._is_public(channel)}
        groups = often_asked([question for question in asked if question.record.asked_in.channel in public])
        pages = {page for group in groups for page in group.pages}
        readable = await self.pages.readable(pages, audience=audience) if pages else frozenset()
        fitting = [group for group in groups if group.pages <= readable]
        ordered = sorted(fitting, key=lambda group: (group.language != language, -group.askers))
        return [group.wording for group in ordered[:most]]

    async def _is_public(self, channel: str) -> bool:
        """Asks anew: it may have been made private, or shared with another organisation, since something was asked
        there.
        """
        place = await self.channels.describe(channel)
        return place.kind == "channel" and not place.shared

    async def _from_titles(self, audience: Audience, messages: Messages, most: int) -> list[str]:
        """Draws titles: others each day, the same ones all day."""
        day = f"{self.clock():%Y-%m-%d}"
        pages = {
            page.title.strip(): page
            for page in await self._titles.get(None, lambda _: self.pages.addresses())
            if 3 <= len(page.title.strip()) <= TITLE_CHARACTERS
            and page.title.strip().lower() not in _NO_TOPIC
        }
        ordered = sorted(pages.items(), key=lambda item: hashlib.sha256(f"{day}{item[0]}".encode()).digest())
        found: list[str] = []
        for index in range(0, len(ordered), TITLES_TRIED):
            batch = ordered[index : index + TITLES_TRIED]
            ids = [page.page_id for _, page in batch]
            readable = await self.pages.readable(ids, audience=audience)
            found += [title for title, page in batch if page.page_id in readable]
            if len(found) >= most:
                break
        return [messages.ask_title.format(title=title) for title in found[:most]]


def often_asked(asked: Sequence[AskedQuestion]) -> list[_Group]:
    """Groups the questions that several people asked, with the newest wording of each. Pure."""
    alike: dict[str, list[AskedQuestion]] = defaultdict(list)
    for question in asked:
        alike[_key(question.record.question)].append(question)
    groups = []
    for same in alike.values():
        askers = {question.record.asked_in.user for question in same}
        votes = [vote for question in same for vote in question.votes.values()]
        if len(askers) < ASKERS or votes.count("bad") > votes.count("good"):
            continue
        groups.append(
            _Group(
                wording=same[0].record.question.strip(),
                language=same[0].record.language,
                askers=len(askers),
                channels=frozenset(question.record.asked_in.channel for question in same),
                pages=frozenset(page.page_id for question in same for page in question.record.cited),
            )
        )
    return groups


def _may_be_shown(asked: AskedQuestion) -> bool:
    record, place = asked.record, asked.record.asked_in
    return (
        record.outcome == "answered"
        and bool(record.cited)
        and not record.is_follow_up
        and bool(place.user)
        and not place.unasked
        and place.place == "public"
        and SHORTEST <= len(record.question.strip()) <= LONGEST
        and "@" not in record.question
        and "\n" not in record.question.strip()
    )


def _key(question: str) -> str:
    return " ".join(_WORDS.findall(question.casefold()))
