"""The pieces that Block Kit's rules are made of. Problems are worded as
Slack words them, each with its JSON pointer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

MAX_BLOCK_ID = 255
MAX_ACTION_ID = 255
SECTION_TEXT = 3000
BUTTON_TEXT = 75
BUTTON_VALUE = 2000
MAX_URL = 3000


class Problems:
    """Collects what is wrong with a payload. `used`: action ids that this block has already."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, problem: str, pointer: str) -> None:
        self.found.append(f"[ERROR] {problem} [json-pointer:{pointer}]")

    def string(self, value: Any, pointer: str, *, most: int, least: int = 1, required: bool = True) -> None:
        if value is None and not required:
            return
        if not isinstance(value, str):
            self.add("missing required field" if value is None else "must be a string", pointer)
        elif len(value) < least:
            self.add(f"must be more than {least - 1} characters", pointer)
        elif len(value) > most:
            self.add(f"must be less than {most + 1} characters", pointer)

    def text(
        self,
        value: Any,
        pointer: str,
        *,
        most: int,
        kinds: tuple[str, ...] = ("mrkdwn", "plain_text"),
        required: bool = True,
    ) -> None:
        """A text object."""
        if value is None and not required:
            return
        if not isinstance(value, dict):
            self.add("missing required field" if value is None else "must be an object", pointer)
            return
        kind = value.get("type")
        if kind not in kinds:
            self.add(f"must be one of: {', '.join(kinds)}", f"{pointer}/type")
            return
        self.keys(value, pointer, {"type", "text", "verbatim" if kind == "mrkdwn" else "emoji"})
        self.string(value.get("text"), f"{pointer}/text", most=most)

    def plain(self, value: Any, pointer: str, *, most: int, required: bool = True) -> None:
        self.text(value, pointer, most=most, kinds=("plain_text",), required=required)

    def items(self, value: Any, pointer: str, *, most: int, least: int = 1) -> list[Any]:
        """The items of a list; none when it is not one, or is too long."""
        if not isinstance(value, list):
            self.add("missing required field" if value is None else "must be an array", pointer)
            return []
        if len(value) > most:
            self.add(f"no more than {most} items allowed", pointer)
            return []
        if len(value) < least:
            self.add(f"must have at least {least} items", pointer)
        return value

    def keys(self, value: dict[str, Any], pointer: str, known: Iterable[str]) -> None:
        for name in sorted(set(value) - set(known)):
            self.add(f"invalid additional property: {name}", pointer)

    def choice(self, value: Any, pointer: str, allowed: Iterable[str | int]) -> None:
        if value is not None and value not in allowed:
            self.add(f"must be one of: {', '.join(map(str, allowed))}", pointer)
