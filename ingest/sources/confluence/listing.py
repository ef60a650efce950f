"""What both editions' APIs list, and who may read it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Protocol

from pydantic import ConfigDict, Field

from ingest.sources.api_responses import ApiError, Response, Shape
from ingest.sources.json_api import JsonApi, Parameters


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """A read restriction at one level: the groups that it names. Users that it names have no channel here."""

    groups: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedPage:
    """`limits`: of the page and of every page above it; a reader must pass them all.
    None: not known yet. `blog`: whether it is a blog post, which has no page above it.
    `parents`: titles of the pages above it, outermost first, as far as they are known.
    """

    id: str
    space: str
    title: str
    version: int
    edited: date | None
    url: str
    labels: frozenset[str] = frozenset()
    limits: tuple[Limit, ...] | None = None
    blog: bool = False
    parents: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return f"{self.space}/{BLOG}/{self.id}" if self.blog else f"{self.space}/{self.id}"


class Space(Shape):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str
    key: str


class Version(Shape):
    """`when`: empty where v1 of the API does not tell it."""

    number: int
    when: str = ""


BLOG = "post"
"""Where blog posts are in a space, by their paths."""
REFUSED = (400, 403, 404)
"""Status codes that another attempt does not change."""


async def every_result(api: JsonApi, path: str, parameters: Parameters) -> AsyncIterator[dict[str, Any]]:
    """Yields every result of a list, along the cursors. Raises `ApiError`."""
    async for page in api.pages(path, parameters, following=_next_page):
        for result in page.get("results", []):
            yield result


def _next_page(response: Response) -> str | None:
    return (response.payload.get("_links") or {}).get("next")


def text_of(body: Mapping[str, Any]) -> str:
    """Returns the storage format in a page's `body`. A missing one does not mean an empty page.

    Raises:
        ApiError: it is left out.
    """
    value = (body.get("storage") or {}).get("value")
    if not isinstance(value, str):
        raise ApiError("Confluence did not give the text of the page")
    return value


async def name_of_user(api: JsonApi, parameter: str, user_id: str) -> str:
    """Asks what somebody is called; `parameter` says what kind of id it is. Empty where they have left, or want not to
    be named.
    """
    try:
        found = await api.get("/rest/api/user", {parameter: user_id})
    except ApiError as error:
        if error.status in REFUSED:
            return ""
        raise
    return str(found.get("displayName") or found.get("publicName") or "")


class ConfluenceApi(Protocol):
    """One edition's API. Every method raises `ApiError`."""

    async def spaces(self, keys: tuple[str, ...]) -> list[Space]:
        """Returns the named spaces that the account sees, or every global one."""

    async def pages(self, space: Space, *, archived: bool, blog: bool) -> list[ListedPage]:
        """Returns every page of a space, with its limits; and its blog posts."""

    async def page(self, space: str, page_id: str, *, blog: bool) -> tuple[ListedPage, str]:
        """Returns a page as it is now, with its limits and its text in storage format."""


class Restrictions(Shape):
    """`restrictions` of v1: who may read. With nobody named, everybody who sees the space may. A part that the API did
    not expand is missing: then it is unknown who is named.
    """

    class Read(Shape):
        class Subjects(Shape):
            class Named(Shape):
                results: list[dict[str, Any]]

            user: Named | None = None
            group: Named | None = None

        restrictions: Subjects = Subjects()

    read: Read = Read()

    @property
    def limits(self) -> tuple[Limit, ...] | None:
        """At most one limit; None where the API does not tell."""
        users, groups = self.read.restrictions.user, self.read.restrictions.group
        if users is None or groups is None:
            return None
        if not users.results and not groups.results:
            return ()
        return (Limit(groups=frozenset(str(group["name"]) for group in groups.results if "name" in group)),)


class Ancestor(Shape):
    id: str
    title: str = ""
    restrictions: Restrictions | None = None


class Content(Shape):
    """A page as v1 of the API shows it, with what `EXPAND` asks for."""

    id: str
    title: str = ""
    ancestors: list[Ancestor] | None = None
    restrictions: Restrictions | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    version: dict[str, Any] = Field(default_factory=dict)
    links: dict[str, Any] = Field(default_factory=dict, alias="_links")

    @property
    def limits(self) -> tuple[Limit, ...] | None:
        """None where the API left a part out: then nothing is known, and nothing is assumed."""
        if self.restrictions is None or self.ancestors is None:
            return None
        levels = [self.restrictions, *(ancestor.restrictions for ancestor in self.ancestors)]
        return limits_of(None if level is None else level.limits for level in levels)

    @property
    def parents(self) -> tuple[str, ...]:
        return tuple(ancestor.title for ancestor in self.ancestors or () if ancestor.title)

    @property
    def labels(self) -> frozenset[str]:
        results = (self.metadata.get("labels") or {}).get("results", [])
        return frozenset(str(label["name"]) for label in results)


def limits_of(levels: Iterable[tuple[Limit, ...] | None]) -> tuple[Limit, ...] | None:
    """Joins the limits of all levels; None where one of them is not known."""
    joined: list[Limit] = []
    for limits in levels:
        if limits is None:
            return None
        joined += limits
    return tuple(joined)


READERS = (
    "restrictions.read.restrictions.user,restrictions.read.restrictions.group,"
    "ancestors.restrictions.read.restrictions.user,ancestors.restrictions.read.restrictions.group"
)
EXPAND = f"version,metadata.labels,{READERS}"


def day_of(written: object) -> date | None:
    """Reads the day of a time; None if it is not one."""
    try:
        return datetime.fromisoformat(str(written)).date()
    except ValueError:
        return None


def channels_of(limits: tuple[Limit, ...], groups: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    """Returns the channels that pass every limit; none where nobody here may read it, None where there is no limit."""
    allowed: set[str] | None = None
    for limit in limits:
        channels = {channel for group in limit.groups for channel in groups.get(group, ())}
        allowed = channels if allowed is None else allowed & channels
    return None if allowed is None else tuple(sorted(allowed))
