"""Who wrote, and who is spoken of: by name, or as Person 1, Person 2 within a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"(?<![\w.])\+\d[\d ()/-]{6,}\d\b")
_ADDRESS = re.compile(r"\[([^\]\n]*)\]\((https?://[^)\s]+)\)|(https?://[^\s)>\]]*[\w/])")
_SHORTEST_NAME = 2
"""Words. One word alone (May, Rose, Will) is too often no name, unless it is a handle or called by an @."""
_HANDLE = re.compile(r"\w+[._-]\w[\w.-]*|[A-Za-z]+\d+")


class Directory:
    """The members of an export."""

    def __init__(self, users: Iterable[Mapping[str, Any]]) -> None:
        self.names: dict[str, str] = {}
        self._spellings: dict[str, str] = {}
        for user in users:
            user_id, profile = str(user.get("id", "")), user.get("profile") or {}
            written = [
                profile.get("real_name"),
                user.get("real_name"),
                profile.get("display_name"),
                user.get("name"),
                profile.get("real_name_normalized"),
                profile.get("display_name_normalized"),
            ]
            names = [" ".join(str(name).split()) for name in written if name]
            self.names[user_id] = names[0] if names else user_id
            for name in names:
                self._spellings.setdefault(f"@{name}".casefold(), user_id)
                if len(name.split()) >= _SHORTEST_NAME or _HANDLE.fullmatch(name):
                    self._spellings.setdefault(name.casefold(), user_id)
        alternatives = sorted(map(re.escape, self._spellings), key=len, reverse=True)
        self._pattern = re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE)

    def replaced(self, text: str, person: Callable[[str], str]) -> str:
        """Puts what `person` calls a member in the place of each full name and handle."""
        if not self._spellings:
            return text
        return self._pattern.sub(lambda found: person(self._spellings.get(found[0].casefold(), "")), text)


class Names:
    """Real names."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def person(self, user_id: str) -> str:
        return self._directory.names.get(user_id, "somebody")

    def cleaned(self, text: str) -> str:
        return text


class Pseudonyms:
    """Numbers people by their appearance on one page, and takes addresses, full names and handles out of its text.

    A first name in running text stays: it cannot be told from a word.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._numbers: dict[str, int] = {}

    def person(self, user_id: str) -> str:
        return f"Person {self._numbers.setdefault(user_id, len(self._numbers) + 1)}"

    def cleaned(self, text: str) -> str:
        text = _PHONE.sub("(phone number)", _EMAIL.sub("(e-mail address)", text))
        return self._directory.replaced(_ADDRESS.sub(self._address, text), self.person)

    def _address(self, found: re.Match[str]) -> str:
        """Takes out an address with somebody's name in it; the words of the link stay."""
        address = found[2] or found[3]
        if self._directory.replaced(address, self.person) == address:
            return found[0]
        return found[1] or "(address)"
