"""Whether two words mean the same: by their stems in any language, by WordNet's senses in English.

`wordnet.txt.gz` holds WordNet 3.0's common single words: a line is the word, whether it is a noun ("n" mostly, "m" sometimes,
"-" never), the numbers of its senses, and behind "|" those of up to three steps of wider senses; or an irregular form and "="
its word. `kb.citations.wordnet_file` makes it.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal

_ENDINGS = ("s", "es", "d", "ed", "ing", "t", "en")
_AGENTS = ("ist", "or", "ant", "eur")
"""Who does it is another thing: reception, receptionist."""
_INFLECTED = (
    *(("ies", "y"), ("es", ""), ("es", "e"), ("s", ""), ("ied", "y"), ("ed", "e"), ("ed", ""), ("ing", "e")),
    *(("ing", ""), ("er", "e"), ("er", ""), ("est", ""), ("ly", "")),
)
Noun = Literal["mostly", "sometimes", "never"]
_NOUN: dict[str, Noun] = {"n": "mostly", "m": "sometimes", "-": "never"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """`senses`: WordNet's synsets by number. `wider`: those that hold one of them: vehicle for car."""

    noun: Noun
    senses: frozenset[str]
    wider: frozenset[str]


@lru_cache(maxsize=100_000)
def same_word(one: str, other: str) -> bool:
    """Of stems: a compound holds its parts (Urlaub, Urlaubstage), a noun its verb (enrol, enrolment)."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= 3 and any(shorter + ending == longer for ending in _ENDINGS):
        return True
    if len(one) == len(other) >= 4 and one[:-1] == other[:-1] and {one[-1], other[-1]} == {"y", "i"}:
        return True  # copy, copied
    if longer.removeprefix(shorter) in _AGENTS:
        return False
    return len(shorter) >= 4 and (
        longer.startswith(shorter) or (len(shorter) >= 5 and longer.endswith(shorter))
    )


def says(word: str, page_word: str) -> bool:
    """Whether an English word says what the page's word says, or less: "vehicle" for "car", not the other way."""
    mine, its = _entry(word), _entry(page_word)
    return mine is not None and its is not None and not mine.senses.isdisjoint(its.senses | its.wider)


def is_noun(word: str) -> Noun:
    """What an English word mostly is; one that WordNet has not is a noun: most names and terms are."""
    entry = _entry(word)
    return "mostly" if entry is None else entry.noun


@lru_cache(maxsize=20_000)
def _entry(word: str) -> Entry | None:
    """Of the word or of what it is a form of."""
    entries, irregular = _wordnet()
    folded = word.casefold().removesuffix("'s")
    for form in (irregular.get(folded, folded), *_uninflected(folded)):
        if form in entries:
            return _read(entries[form])
    return None


def _uninflected(word: str) -> Iterator[str]:
    for ending, instead in _INFLECTED:
        if word.endswith(ending):
            base = word.removesuffix(ending)
            yield base + instead
            if len(base) > 3 and base[-1] == base[-2]:
                yield base[:-1]


@lru_cache(maxsize=1)
def _wordnet() -> tuple[dict[str, str], dict[str, str]]:
    entries: dict[str, str] = {}
    irregular: dict[str, str] = {}
    packed = (files("kb.citations") / "wordnet.txt.gz").read_bytes()
    for line in gzip.decompress(packed).decode().splitlines():
        word, _, rest = line.partition(" ")
        if rest.startswith("="):
            irregular[word] = rest[1:]
        elif word != "#":
            entries[word] = rest
    return entries, irregular


def _read(line: str) -> Entry:
    senses, _, wider = line[1:].partition("|")
    return Entry(noun=_NOUN[line[0]], senses=frozenset(senses.split()), wider=frozenset(wider.split()))
