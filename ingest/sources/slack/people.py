"""Who wrote, and who is spoken of: by name, or as Person 1, Person 2 within a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"(?<![\w.])\+\d[\d ()/-]{6,}\d\b")
_SHORTEST_NAME = 2
"""Words. One word alone (May, Rose, Will) is too often no name."""


class Directory:
    """The members of an export."""

    def __init__(self, users: Iterable[Mapping[str, Any]]) -> None:
        self.names: dict[str, str] = {}
        self.spellings: dict[str, str] = {}
        for user in users:
            user_id, profile = str(user.get("id", "")), user.get("profile") or {}
            written = [
                profile.get("real_name"),
                user.get("real_name"),
                profile.get("display_name"),
                user.get("name"),
            ]
            known = [" ".join(str(name).split()) for name in written if name]
            self.names[user_id] = known[0] if known else user_id
            self.spellings |= {name: user_id for name in known if len(name.split()) >= _SHORTEST_NAME}
        alternatives = sorted(map(re.escape, self.spellings), key=len, reverse=True)
        self.pattern = re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)") if alternatives else None


class Names:
    """Real names."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def person(self, user_id: str) -> str:
        return self._directory.names.get(user_id, "somebody")

    def cleaned(self, text: str) -> str:
        return text


class Pseudonyms:
    """Numbers people by their appearance on one page, and takes addresses and full names out of its text.

    A first name in running text stays: it cannot be told from a word.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._numbers: dict[str, int] = {}

    def person(self, user_id: str) -> str:
        return f"Person {self._numbers.setdefault(user_id, len(self._numbers) + 1)}"

    def cleaned(self, text: str) -> str:
        text = _PHONE.sub("(phone number)", _EMAIL.sub("(e-mail address)", text))
        if self._directory.pattern is None:
            return text
        return self._directory.pattern.sub(
            lambda found: self.person(self._directory.spellings[found[0]]), text
        )
