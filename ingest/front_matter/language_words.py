"""Words of the language files, as front matter is compared: lower case, without accents."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from kb.text.language_files import sections


def folded(text: str) -> str:
    """Writes a text in lower case without accents: "1º Août" -> "1o aout"."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in plain if not unicodedata.combining(character))


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def listed(section: str, name: str) -> frozenset[str]:
    """Returns the words of one list, of all languages."""
    return frozenset(word for texts in sections(section) for word in folded(texts.get(name, "")).split())


def field_names(name: str) -> tuple[str, ...]:
    """Returns names of fields from `front_matter`, as authors write them, of all languages."""
    return tuple(word for texts in sections("front_matter") for word in texts.get(name, "").split())


def numbered(section: str, name: str) -> Iterator[tuple[str, int]]:
    """Yields the words of a list with their numbers, from 1: "/" stands between forms of one entry, and "-" for none."""
    for texts in sections(section):
        for number, forms in enumerate(folded(texts.get(name, "")).split(), 1):
            yield from ((form, number) for form in forms.split("/") if form != "-")


def by_name(section: str, name: str) -> dict[str, str]:
    """Returns words that stand under a name -> that name, of all languages."""
    tables = [texts.get(name, {}) for texts in sections(section)]
    return {word: key for table in tables for key, text in table.items() for word in folded(text).split()}
