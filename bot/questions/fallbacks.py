"""Chooses what is offered where the pages do not answer: the owner of the nearest page, and whether they can be asked
there.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from bot.frozen_model import FrozenModel
from bot.rendering.fallback_actions import FallbackActions, lacks_an_answer
from bot.slack.channels import Channel, ChannelDirectory
from bot.slack.memberships import Memberships
from bot.slack.owners import Owners
from bot.slack.people import Person
from kb.answer import Answer

VALUE_CHARACTERS = 2000
"""Slack's limit of a button's value."""


class OwnerRequest(FrozenModel):
    """What the button "Ask the owner" carries. `by` may press it; `owners` are Slack people."""

    question_id: str
    by: str
    owners: tuple[str, ...] = Field(min_length=1)
    page_id: str
    title: str
    url: str
    language: str = "en"

    @property
    def name(self) -> str:
        return f"owner-of-{self.question_id}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fallbacks:
    """Chooses what is offered below an answer."""

    owners: Owners
    channels: ChannelDirectory
    memberships: Memberships

    async def of(
        self, answer: Answer, *, question_id: str, channel: str, user: str
    ) -> FallbackActions | None:
        """Returns None where nothing is missing. Never raises: what Slack does not tell is not offered."""
        if not lacks_an_answer(answer):
            return None
        page = answer.closest_page
        if page is None:
            return FallbackActions()
        persons = await self.owners.of(owner=page.owner, page_id=page.page_id)
        name = page.owner or self.owners.contact(page.page_id) or ""
        shown = ", ".join(person.name for person in persons) if persons and _is_address(name) else name
        place = await self.channels.describe(channel)
        if place.kind == "im":  # nobody is reached there: whoever asked can write to them
            return FallbackActions(
                owner=shown, write_to=tuple(person.id for person in persons if person.id != user)
            )
        reached = [
            person
            for person in persons
            if user and person.id != user and await self._reads_along(person, place)
        ]
        if not reached:
            return FallbackActions(owner=shown)
        request = OwnerRequest(
            question_id=question_id,
            by=user,
            owners=tuple(person.id for person in reached),
            page_id=page.page_id,
            title=page.title[:150],
            url=page.url,
            language=answer.language,
        )
        return FallbackActions(owner=shown, request=_value(request))

    async def _reads_along(self, person: Person, place: Channel) -> bool:
        """Tells whether a person sees a mention in a channel: in a closed one only its members do."""
        if place.kind == "channel" and not place.shared:
            return True
        return place.id in (await self.memberships.of(person.id)).channels


def _value(request: OwnerRequest) -> str:
    value = request.model_dump_json()
    return (
        value if len(value) <= VALUE_CHARACTERS else request.model_copy(update={"url": ""}).model_dump_json()
    )


def _is_address(name: str) -> bool:
    """Tells an address or an id from what people call somebody."""
    return "@" in name.lstrip("@") or name.startswith(("<@", "U0", "W0"))
