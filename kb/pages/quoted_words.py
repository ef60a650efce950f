"""Finds out whether a page still says what was quoted, and what it says instead. Pure; markup does not count.

A rebuild may cut, bullet and bold a page anew without a word of it being another. So a quote is kept as its sentences,
rows and items, each as its words alone, and each of them is looked for anywhere on the page.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from kb.text.sentences import TextUnit, split_units

NEAR = 0.6
"""Share of their words that two sentences have in common, in order, before one may be the new wording of the other."""
AHEAD = 0.1
"""Least lead of the nearest over the next; with less it is unclear which of them is meant."""
FEWEST_CHARACTERS = 6
"""Fewest characters of a statement to look for: a shorter one stands on a page, or is gone from it, by chance."""
FEW_WORDS = 3
"""Spaces below which statements are compared letter by letter; so are those of scripts that put none between words."""

_TARGET = re.compile(r"\]\([^)\s]*(?:\s+\"[^\"]*\")?\)|<(?:https?://|/?[a-zA-Z])[^>]*>|&[a-z]+;|&#\d+;")
_MARKER = re.compile(r"^\s*(?:>\s*)*(?:[-*+•]|\d{1,9}[.)])?\s*(?:\[[ xX]\]\s)?", re.MULTILINE)
_WORD = re.compile(r"[€$£¥]|(?:(?<!\S)[-−](?=\d))?[^\W_]+(?:[._:/@'’-][^\W_]+)*%?")


@dataclass(frozen=True, kw_only=True, slots=True)
class PageSection:
    """A passage as it is now: its heading path without the page's title, and its text (Markdown)."""

    headings: tuple[str, ...]
    text: str


def words_of(markdown: str) -> str:
    """Returns the words without markup, in lower case, separated by single spaces."""
    plain = _MARKER.sub("", _TARGET.sub(" ", markdown))
    return " ".join(_WORD.findall(plain.casefold()))


def statements_of(markdown: str) -> list[str]:
    """Returns the sentences, rows and items of a text, without headings and table rules."""
    return [unit.text for unit in split_units(markdown) if _says_something(unit)]


def fingerprint(statement: str) -> str:
    """Returns a hash by which a statement is recognised without being stored."""
    return hashlib.blake2b(words_of(statement).encode(), digest_size=6).hexdigest()


def gone_from(page: Iterable[PageSection], statements: Sequence[str]) -> list[str]:
    """Returns the statements whose words are no longer on the page, in their order."""
    on_page = f" {words_of(chr(10).join(section.text for section in page))} "
    return [statement for statement in statements if f" {words_of(statement)} " not in on_page]


def new_wording(
    statement: str, headings: Sequence[str], page: Iterable[PageSection], *, before: Collection[str]
) -> str | None:
    """Returns the new wording, in the same section, of a statement that is gone; None where none clearly is.

    `before`: fingerprints of what stood beside it then, which is no new wording of anything.
    """
    section_words = _folded(headings)
    candidates = {
        words_of(candidate): candidate
        for section in page
        if _folded(section.headings) == section_words
        for candidate in statements_of(section.text)
        if fingerprint(candidate) not in before
    }
    near = sorted(
        ((_nearness(statement, candidate), candidate) for candidate in candidates.values()), reverse=True
    )
    if not near or near[0][0] < NEAR:
        return None
    return near[0][1] if len(near) == 1 or near[0][0] - near[1][0] >= AHEAD else None


def _says_something(unit: TextUnit) -> bool:
    return unit.kind != "heading" and len(words_of(unit.text)) >= FEWEST_CHARACTERS


def _nearness(old: str, new: str) -> float:
    """Returns the similarity (0..1) of two statements; 0 for table rows with different first cells."""
    if _first_cell(old) != _first_cell(new):
        return 0.0
    old_words, new_words = words_of(old), words_of(new)
    if min(old_words.count(" "), new_words.count(" ")) < FEW_WORDS:
        return SequenceMatcher(None, old_words, new_words, autojunk=False).ratio()
    return SequenceMatcher(None, old_words.split(), new_words.split(), autojunk=False).ratio()


def _first_cell(statement: str) -> str:
    row = statement.strip()
    return words_of(row.strip("|").split("|")[0]) if row.startswith("|") else ""


def _folded(headings: Sequence[str]) -> tuple[str, ...]:
    return tuple(words_of(heading) for heading in headings)
