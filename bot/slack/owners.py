"""Matches a page's owner to a person in Slack, by the name that the page or its source gives.

A name is matched to a person by id, e-mail address (which needs the scope
`users:read.email`), handle, display name or full name. It is never guessed: a name that
two people might answer to is nobody's, and neither is a team's, a channel's or a guest's.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.background import Background
from bot.slack.errors import SLACK_FAILURES, cause_of, error_code
from bot.slack.people import People, Person, person_from_slack
from bot.slack.ttl_cache import TtlCache

logger = logging.getLogger(__name__)

KEEP = timedelta(hours=1)
"""How long a new colleague's name is unknown. Listing everybody is slow in Slack's eyes: 20 calls a minute."""
PAGE = 500
MOST_PAGES = 40
"""20,000 accounts. Where there are more, a name cannot be known to be
one person's: only ids and addresses are matched.
"""
PATIENCE_S = 2.0
"""An answer waits no longer than this for the list of people; the next one has it."""

_ID = re.compile(r"<?@?([UW][A-Z0-9]{5,})(?:\|[^>]*)?>?")
_EMAIL = re.compile(r"[^\s<>,;:()]+@[^\s<>,;:()]+\.[a-z]{2,}", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*[,;&/]\s*|\s+(?:and|en|und|et|y)\s+")

_INVERTED = re.compile(r"\s*([^\W\d_][\w'’-]*)\s*,\s*([^\W\d_][\w'’-]*)\s*")
"""Matches "Levi, Dana": one person, not two first names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Names:
    """What somebody is called, in lower case. `first`: how their full name begins."""

    person: Person
    called: frozenset[str]
    first: str


class Owners:
    """`contacts`: source -> whom to ask where a page names nobody in Slack, as the settings say."""

    def __init__(
        self,
        *,
        client: AsyncWebClient,
        people: People,
        background: Background,
        clock: Callable[[], datetime],
        contacts: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._client = client
        self._people = people
        self._contacts = contacts
        self._by_email: TtlCache[str, Person | None] = TtlCache(keep=KEEP, clock=clock)
        self._everybody: TtlCache[None, tuple[_Names, ...] | None] = TtlCache(keep=KEEP, clock=clock)
        self._background = background

    async def of(self, *, owner: str | None, page_id: str) -> tuple[Person, ...]:
        """Finds the people behind a page's owner, else behind its source's
        contact; () where there is none, or nobody knows.
        """
        contact = self._contacts().get(page_id.partition(":")[0])
        for names in filter(None, (owner, contact)):
            if found := await self._persons(names):
                return found
        return ()

    def contact(self, page_id: str) -> str | None:
        """Returns the contact that the settings name for a page's source."""
        return self._contacts().get(page_id.partition(":")[0])

    async def _persons(self, names: str) -> tuple[Person, ...]:
        if inverted := _INVERTED.fullmatch(names):
            names = f"{inverted[2]} {inverted[1]}"
        parts = [part for part in _BETWEEN.split(names) if part.strip()]
        if not (len(parts) > 1 and _EMAIL.search(names)):  # an address means one of several
            whole = await self._person(names)
            if whole is not None or len(parts) < 2:
                return () if whole is None else (whole,)
        found = [await self._person(part) for part in parts]
        return tuple({person.id: person for person in found if person is not None}.values())

    async def _person(self, name: str) -> Person | None:
        name = " ".join(name.split())
        if found := _ID.fullmatch(name):
            person = await self._people.person(found[1])
            return person if person.known and not person.outsider else None
        if address := _EMAIL.search(name):
            return await self._known_by_email(address[0].lower())
        return _only(name, await self._known_by_name())

    async def _known_by_email(self, address: str) -> Person | None:
        try:
            return await self._by_email.get(address, self._ask_for)
        except SLACK_FAILURES as error:
            cause = cause_of(error)
            logger.info("owner.not_looked_up", extra={"cause": cause})
            return None

    async def _ask_for(self, address: str) -> Person | None:
        try:
            response = await self._client.users_lookupByEmail(email=address)
        except SLACK_FAILURES as error:
            if error_code(error) in {"users_not_found", "missing_scope"}:
                return None
            raise
        payload: dict[str, Any] = response["user"]
        me = await self._people.me()
        return None if _is_nobody(payload) else _insider(person_from_slack(payload, str(payload["id"]), me))

    async def _known_by_name(self) -> Sequence[_Names]:
        """Lists everybody; () where Slack does not tell, or not soon enough."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._everybody.get(None, self._list) or ()
        except TimeoutError:
            logger.info("owner.list_late")
            self._background.start(self._learn(), name="owners")
        except SLACK_FAILURES as error:
            logger.warning("owner.list_failed", extra={"cause": cause_of(error)})
        return ()

    async def _learn(self) -> None:
        """Fills the cache for the next answer."""
        try:
            await self._everybody.get(None, self._list)
        except SLACK_FAILURES as error:
            logger.warning("owner.list_failed", extra={"cause": cause_of(error)})

    async def _list(self, _all: None) -> tuple[_Names, ...] | None:
        me = await self._people.me()
        found: dict[str, _Names] = {}
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await self._client.users_list(limit=PAGE, cursor=cursor)
            for payload in page.get("members") or []:
                if not _is_nobody(payload):
                    person = person_from_slack(payload, str(payload["id"]), me)
                    found[person.id] = _names(payload, person)
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                return tuple(found.values())
        logger.warning("owner.too_many_people", extra={"people": len(found)})
        return None


def _only(name: str, everybody: Sequence[_Names]) -> Person | None:
    """Finds the one person of that name. Guests count among those who might be meant, and are never the one."""
    wanted = name.removeprefix("@").casefold()
    if not wanted:
        return None
    called = [names.person for names in everybody if wanted in names.called]
    namesakes = [] if name.startswith("@") else [names.person for names in everybody if names.first == wanted]
    if len(called) != 1 or any(person.id != called[0].id for person in namesakes):
        return None
    return _insider(called[0])


def _names(payload: dict[str, Any], person: Person) -> _Names:
    profile = payload.get("profile") or {}
    full = " ".join(str(profile.get("real_name") or payload.get("real_name") or "").split()).casefold()
    names = {
        full,
        *(
            " ".join(str(name or "").split()).casefold()
            for name in (profile.get("display_name"), payload.get("name"))
        ),
    }
    return _Names(person=person, called=frozenset(names - {""}), first=full.split(" ")[0])


def _is_nobody(payload: dict[str, Any]) -> bool:
    return bool(payload.get("deleted") or payload.get("is_bot") or payload.get("id") == "USLACKBOT")


def _insider(person: Person) -> Person | None:
    return None if person.outsider else person
