"""The pieces that Block Kit's rules are made of.

A `Check` yields what is wrong with a value, worded as Slack words it, each problem with its JSON pointer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Check = Callable[[Any, str], Iterator[str]]


def problem(words: str, pointer: str) -> str:
    return f"[ERROR] {words} [json-pointer:{pointer}]"


def anything(_value: Any, _pointer: str) -> Iterator[str]:
    return iter(())


def string(most: int, *, least: int = 1) -> Check:
    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield _mistyped(value, "a string", pointer)
        elif len(value) < least:
            yield problem(f"must be more than {least - 1} characters", pointer)
        elif len(value) > most:
            yield problem(f"must be less than {most + 1} characters", pointer)

    return check


def number(least: int, most: int) -> Check:
    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, int) or not least <= value <= most:
            yield problem(f"must be between {least} and {most}", pointer)

    return check


def choice(*allowed: str | int) -> Check:
    def check(value: Any, pointer: str) -> Iterator[str]:
        if value not in allowed:
            yield problem(f"must be one of: {', '.join(map(str, allowed))}", pointer)

    return check


def items(each: Check, *, most: int, least: int = 1, distinct: str = "") -> Check:
    """Checks a list. `distinct`: the field in which its objects must differ."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield _mistyped(value, "an array", pointer)
            return
        if len(value) > most:
            yield problem(f"no more than {most} items allowed", pointer)
            return
        if len(value) < least:
            yield problem(f"must have at least {least} items", pointer)
        seen: set[str] = set()
        for index, item in enumerate(value):
            yield from each(item, f"{pointer}/{index}")
            name = item.get(distinct) if isinstance(item, dict) else None
            if name is not None and str(name) in seen:
                yield problem(f"`{distinct}` {name!r} already exists", f"{pointer}/{index}/{distinct}")
            seen.add(str(name))

    return check


def record(
    required: Mapping[str, Check],
    optional: Mapping[str, Check] | None = None,
    *also: Check,
    closed: bool = True,
) -> Check:
    """Checks an object. `also`: rules about several of its fields; `closed`: it has no other fields than these."""
    left_out = optional or {}

    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield _mistyped(value, "an object", pointer)
            return
        for name in sorted(value.keys() - required.keys() - left_out.keys()) if closed else ():
            yield problem(f"invalid additional property: {name}", pointer)
        for name, rule in required.items():
            yield from rule(value.get(name), f"{pointer}/{name}")
        for name, rule in left_out.items():
            if value.get(name) is not None:
                yield from rule(value[name], f"{pointer}/{name}")
        for rule in also:
            yield from rule(value, pointer)

    return check


def by_type(rules: Mapping[str, Check]) -> Check:
    """Checks an object of one of these types, each with its own rule."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield problem("must be an object", pointer)
        elif (kind := str(value.get("type"))) not in rules:
            yield problem(f"unsupported type: {kind}", f"{pointer}/type")
        else:
            yield from rules[kind](value, pointer)

    return check


def text(most: int, *kinds: str) -> Check:
    """Checks a text object; without `kinds` either plain or mrkdwn."""
    allowed = kinds or ("mrkdwn", "plain_text")
    body = {"type": choice(*allowed), "text": string(most)}
    rules = {
        "mrkdwn": record(body, {"verbatim": anything}),
        "plain_text": record(body, {"emoji": anything}),
    }
    wrong_kind = record({"type": choice(*allowed)}, closed=False)

    def check(value: Any, pointer: str) -> Iterator[str]:
        kind = value.get("type") if isinstance(value, dict) else None
        yield from (rules[kind] if kind in allowed else wrong_kind)(value, pointer)

    return check


def plain(most: int) -> Check:
    return text(most, "plain_text")


def _mistyped(value: Any, wanted: str, pointer: str) -> str:
    return problem("missing required field" if value is None else f"must be {wanted}", pointer)
