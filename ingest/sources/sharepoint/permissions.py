"""Who may read an item, and which channels these are by the table `readers` of the settings.

A grant counts for the groups that it names; people have no channel here. Whoever is not in the table
adds nothing, and an item that is shared with nobody in it is closed. What Graph tells is the whole
list, inherited grants and all (https://learn.microsoft.com/en-us/graph/api/driveitem-list-permissions).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import Field, TypeAdapter

from ingest.sources.api_responses import Shape, parsed
from ingest.sources.port import readers_among

ORGANIZATION, ANYONE = "organization", "anyone"
"""What stands in `readers` for everybody in the tenant, and for a link that opens to the world."""
PEOPLE = "people by name"
"""Who has no channel. No name of a person is kept."""
_WORDS = frozenset({ORGANIZATION, ANYONE, PEOPLE})
"""No group is taken by one of these names, whatever it calls itself."""
_READING = frozenset({"read", "write", "owner", "sp.owner", "sp.member", "sp.full control"})
_ALL_OF_THE_TENANT = ("spo-grid-all-users", "c:0(.s|true")
"""In a login name: "Everyone except external users", and "Everyone"."""
_OWNERS_ONLY = "_o"
"""Ends the login name of the owners of a Microsoft 365 group, who share its id and its address with the members."""
_LINKS: Mapping[str, str] = {"organization": ORGANIZATION, "anonymous": ANYONE}

Readers = tuple[tuple[str, ...], ...]
"""Each a group by all the names that it has, as written, the one to show first."""
Audience = tuple[str, ...] | None
"""None: no limit. Empty: nobody here may read it."""


class _Identity(Shape):
    id: str | None = None
    display_name: str | None = None
    email: str | None = None
    login_name: str | None = None


class _Granted(Shape):
    user: _Identity | None = None
    group: _Identity | None = None
    site_user: _Identity | None = None
    site_group: _Identity | None = None

    def readers(self) -> Iterable[tuple[str, ...]]:
        """Yields each reader by its names. A group is listed as itself and, for the site, as a user of it; a site's own
        group has an id within the site alone.
        """
        login = (self.site_user and self.site_user.login_name) or ""
        if any(mark in login for mark in _ALL_OF_THE_TENANT):
            yield (ORGANIZATION,)
        elif self.site_group is not None:
            yield _names(self.site_group.display_name, self.site_group.login_name)
        elif self.group is not None and login.endswith(_OWNERS_ONLY):
            yield _names(self.group.display_name)
        elif self.group is not None:
            yield _names(self.group.display_name, self.group.email, self.group.id)
        elif self.user is not None or self.site_user is not None:
            yield (PEOPLE,)


class _Link(Shape):
    scope: str | None = None


class _Permission(Shape):
    roles: list[str] = Field(default_factory=list)
    granted: _Granted | None = Field(default=None, alias="grantedToV2")
    granted_to_many: list[_Granted] = Field(default_factory=list, alias="grantedToIdentitiesV2")
    link: _Link | None = None
    has_password: bool = False
    until: datetime | None = Field(default=None, alias="expirationDateTime")

    def readers(self, now: datetime) -> Iterable[tuple[str, ...]]:
        expired = self.until is not None and self.until.year > 1 and _aware(self.until) <= now
        if expired or not _READING & {role.lower() for role in self.roles}:
            return
        if self.link is not None and self.link.scope in _LINKS and not self.has_password:
            yield (_LINKS[str(self.link.scope)],)
        for granted in (self.granted, *self.granted_to_many):
            if granted is not None:
                yield from granted.readers()


_PERMISSIONS = TypeAdapter(list[_Permission])


def readers_of(permissions: Iterable[Mapping[str, Any]], now: datetime) -> Readers:
    """Returns those whom an item's permissions let read it, in a fixed order.

    Raises:
        ApiError: they are told in a form that is not known.
    """
    unknown = "it tells the permissions in a form that Footnote does not know"
    grants = parsed(_PERMISSIONS, list(permissions), unknown=unknown)
    return tuple(sorted({names for grant in grants for names in grant.readers(now) if names}))


def audience_of(readers: Readers, table: Mapping[str, tuple[str, ...]]) -> Audience:
    """Returns the channels of all groups in the table, by any of their names."""
    known = {name.casefold(): channels for name, channels in table.items() if name.casefold() != PEOPLE}
    channels: set[str] = set()
    for names in readers:
        for name in names:
            channels.update(known.get(name.casefold(), ()))
    return readers_among(channels)


def why_closed(readers: Readers) -> str:
    """Gives the reason to an admin, with the groups that could be put into the table. No name of a person is told."""
    shown = ", ".join(names[0] for names in readers) or "nobody that Graph names"
    return (
        f"nobody here may read it: it is shared with {shown}, and `readers` has channels for none of "
        f"these; name the channels "
        "of those who may read it there"
    )


def _names(*names: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name and name.casefold() not in _WORDS))


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)
