"""Replaces names of people and channels by numbers, consistently within a file: person-1, channel-1.

What Slack marks is sure (a mention, a channel, an id), what people type is read by its form: addresses
and phone numbers. A name that somebody wrote without a mark is a word like any other, and stays.
"""

from __future__ import annotations

import re
from typing import Final

_EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE: Final = re.compile(r"(?<![\w.,/-])(?:\+|00|0|\(0)[\d ()/.-]{7,}\d(?![\w/-])")
_FEWEST_DIGITS = 9
"""Fewest digits of a phone number: a date has eight."""
_PERSON: Final = re.compile(
    r"(?<![\w.+-])@(?!(?:here|channel|everyone)\b)"
    r"(\w(?:[\w.'-]*\w)?(?:(?: (?:de|den|der|la|le|van|von|du|dos|da|bin|el))* [A-ZÀ-Þ][\w'-]+){0,2})"
    r"|\b([UW][A-Z0-9]{8,})\b"
)
_CHANNEL: Final = re.compile(r"(?<![\w&/#])#(?=[\w-]*[^\W\d_])([\w-]+)|\b([CG][A-Z0-9]{8,})\b")


class Pseudonyms:
    """The pseudonyms of one file: whoever is named twice has one number."""

    def __init__(self) -> None:
        self._people: dict[str, int] = {}
        self._channels: dict[str, int] = {}

    def text(self, text: str) -> str:
        """Returns the text without names, addresses and phone numbers."""
        text = _EMAIL.sub(lambda found: f"{self.person(found[0])}@example.com", text)
        text = _PHONE.sub(_number, text)
        text = _PERSON.sub(lambda found: self.person(found[1] or found[2]), text)
        return _CHANNEL.sub(lambda found: self.channel(found[1] or found[2]), text)

    def person(self, name: str) -> str:
        return f"person-{self._people.setdefault(name.casefold(), len(self._people) + 1)}"

    def channel(self, name: str) -> str:
        return f"channel-{self._channels.setdefault(name.casefold(), len(self._channels) + 1)}"


def names_nobody(text: str) -> bool:
    """Returns whether the text has nothing to replace."""
    return Pseudonyms().text(text) == text


def _number(found: re.Match[str]) -> str:
    digits = sum(character.isdigit() for character in found[0])
    return "000 000 000" if digits >= _FEWEST_DIGITS else found[0]
