"""Which points of the embedded engine are meant: conditions and filters."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import qdrant_edge as engine

from kb.index.fields import AUDIENCE, NAMES, PAGE_ID, POSITION, REPLACED_NAMES, SERIES, SOURCE
from kb.index.port import PagesWanted
from kb.models import Audience


def is_readable(audience: Audience) -> list[engine.FieldCondition]:
    """Returns conditions of which all must hold."""
    readable = [engine.FieldCondition(AUDIENCE, match=engine.MatchAny(audience.principals))]
    if audience.sources:
        readable.append(engine.FieldCondition(SOURCE, match=engine.MatchAny(sorted(audience.sources))))
    return readable


def readable(audience: Audience, *must: engine.FieldCondition) -> engine.Filter:
    """Returns a filter with all of `must` as well, for what reads every point: a condition for each principal takes a
    quarter of the time of one for any of them.
    """
    principals = [
        engine.FieldCondition(AUDIENCE, match=engine.MatchValue(principal))
        for principal in audience.principals
    ]
    _, *sources = is_readable(audience)
    return engine.Filter(must=[*sources, *must], should=[*principals])


def is_page(page_ids: Sequence[str]) -> engine.FieldCondition:
    return engine.FieldCondition(PAGE_ID, match=engine.MatchAny(list(page_ids)))


def is_spot(page_id: str, positions: Collection[int]) -> engine.Filter:
    at_position = engine.FieldCondition(POSITION, match=engine.MatchAny(sorted(positions)))
    return engine.Filter(must=[is_page([page_id]), at_position])


def is_wanted(wanted: PagesWanted) -> list[engine.FieldCondition]:
    """Returns conditions of which any may hold."""
    asked = ((NAMES, wanted.named), (REPLACED_NAMES, wanted.replacing), (SERIES, wanted.series))
    return [
        engine.FieldCondition(field, match=engine.MatchAny(list(names))) for field, names in asked if names
    ]
