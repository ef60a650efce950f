"""Tells who may administer Footnote: the workspace's admins and owners, and people or user groups that the settings
name.

What Slack does not tell opens nothing: whoever cannot be judged is refused, and told that it is for now.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from bot.slack.memberships import Memberships
from bot.slack.people import Person

AdminStatus = Literal["admin", "not admin", "unknown"]
"""unknown: Slack does not say."""


class Admins:
    """`listed`: ids of people (U0123), ids of user groups (S0123) or their handles (@kb-admins)."""

    def __init__(self, memberships: Memberships, listed: Iterable[str] = ()) -> None:
        self._memberships = memberships
        self._listed = frozenset(listed)
        self._groups = user_groups(self._listed)

    async def status_of(self, person: Person) -> AdminStatus:
        if person.is_admin or person.id in self._listed:
            return "admin"
        if self._groups:
            theirs = await self._memberships.groups_of(person.id)
            if theirs is None:
                return "unknown"
            if not self._groups.isdisjoint(theirs):
                return "admin"
        return "not admin" if person.known else "unknown"


def user_groups(listed: Iterable[str]) -> frozenset[str]:
    """Filters the names of user groups: ids, and handles in lower case."""
    return frozenset(
        name.lower() if name.startswith("@") else name for name in listed if name[:1] in {"S", "@"}
    )
