"""What a document's properties say of it, above all who may read it: a notebook's metadata, `<meta>` of HTML, custom properties of Office."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ingest.errors import PageError
from ingest.front_matter.fields import Fields
from ingest.front_matter.front_matter import FrontMatter
from ingest.front_matter.limits import audience_of, is_for_everyone, names_a_limit
from ingest.front_matter.page_fields import with_fields
from ingest.front_matter.within import refuse_limits_within

Properties = Mapping[str, object]


def limited_by(
    properties: Properties, front: FrontMatter, *, called: str, twice: Iterable[str] = ()
) -> FrontMatter:
    """Returns `front` with the readers whom properties name; what its text says of readers counts before "everyone" here.

    `called`: what a person calls them ("metadata"). `twice`: names that are given more than once.

    Raises:
        PageError: they limit the page, to nobody that could be told; or it is a draft.
    """
    fields = Fields(properties)
    try:
        audience = audience_of(fields, twice)
        if audience is None and not is_for_everyone(fields):
            refuse_limits_within(fields, {}, "")
        front = with_fields(front, fields)
    except PageError as error:
        reason = error.reason.replace("its front matter has", f"its {called} has")
        reason = reason.replace("its front matter says", f"its {called} says")
        reason = reason.replace("in its front matter", f"in its {called}")
        raise PageError(reason, withdraw=True, left_out=error.left_out) from error
    if audience is not None and front.audience is None:
        return replace(front, audience=audience, for_everyone=False)
    return replace(
        front, for_everyone=front.audience is None and (front.for_everyone or is_for_everyone(fields))
    )


def twice_named(names: Iterable[str]) -> list[str]:
    """Returns the names of limits that are given more than once."""
    seen: set[str] = set()
    found = []
    for name in filter(names_a_limit, names):
        if name.casefold() in seen:
            found.append(name)
        seen.add(name.casefold())
    return found
