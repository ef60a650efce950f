"""Whether a sentence and a passage say yes and no to the same things.

A negation and the few meaning words in its reach are compared, not the mere presence of a "not": "25 days, not
counting bank holidays" supports "25 days". English, Dutch and German. Antonyms and irony are beyond it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kb.text.wording import content_stems, plain, word_set

REACH = 4
"""Meaning words after a negation that it governs."""
BACK_REACH = 3
"""Meaning words before it, where none follow: "das gilt nicht"."""
SHARED = 0.6
"""Share of the negated words that the sentence must speak of before its silence about the "not" counts."""

_NEGATORS = word_set(
    "not cannot no never none neither nor nobody nothing nowhere without unable except unless excluding excluded "
    "forbidden prohibited "
    "niet geen nooit niemand niets nergens zonder noch behalve tenzij verboden uitgezonderd uitgesloten "
    "nicht kein keine keinen keiner keinem keines nie niemals niemand nichts nirgends ohne weder außer untersagt "
    "ausgeschlossen unzulässig"
)
_HARMLESS = re.compile(
    r"\b(?:not|niet|nicht) (?:only|just|alleen|nur)\b"
    r"|\b(?:no|not) (?:later|earlier|sooner|more|less|fewer|higher|lower) than\b|\bno matter\b"
    r"|\bniet (?:later|eerder|meer|minder|hoger|lager) dan\b|\bnicht (?:später|früher|mehr|weniger|höher) als\b"
    r"|^\W*(?:yes|no|ja|nee|nein)\b[,.:]",
    re.IGNORECASE,
)
"""A limit ("no later than") or an answer word ("No, ..."): no negation of what follows."""
_CLAUSE = re.compile(r"[,;:.!?()\n|]+|\b(?:but|however|maar|aber|sondern|jedoch|echter)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_OPPOSING = ("un", "non", "in", "im", "on")


@dataclass(frozen=True, kw_only=True, slots=True)
class Polarity:
    """`words`: stems of everything it speaks of; `negated`: for each negation, the stems in its reach."""

    words: frozenset[str]
    negated: tuple[frozenset[str], ...]

    @property
    def denied(self) -> frozenset[str]:
        return frozenset().union(*self.negated)


def read_polarity(text: str) -> Polarity:
    words = _HARMLESS.sub(" ", plain(text))
    return Polarity(words=frozenset(content_stems(words)), negated=tuple(_negations(words)))


def agree(sentence: Polarity, unit: Polarity) -> bool:
    """Whether neither denies what the other states, as far as both speak of it."""
    denied_here = all(any(scope & other for other in unit.negated) for scope in sentence.negated if scope)
    denied_there = all(
        any(scope & own for own in sentence.negated)
        for scope in unit.negated
        if scope and len(scope & sentence.words) >= SHARED * len(scope)
    )
    return denied_here and denied_there and not _opposed(sentence, unit)


def contradicted(sentence: Polarity, units: Sequence[Polarity]) -> bool:
    """Whether the part of the passage that speaks most of the same things says the opposite."""
    agreeing = [_overlap(sentence, unit) for unit in units if agree(sentence, unit)]
    opposing = [_overlap(sentence, unit) for unit in units if not agree(sentence, unit)]
    best = max(agreeing, default=0.0)
    if best == 0.0 and (any(sentence.negated) or any(_opposed(sentence, unit) for unit in units)):
        return True
    return max(opposing, default=0.0) > best


def _overlap(sentence: Polarity, unit: Polarity) -> float:
    return len(sentence.words & unit.words) / max(1, len(sentence.words))


def _negations(words: str) -> Iterator[frozenset[str]]:
    for clause in _CLAUSE.split(words):
        found = list(_WORD.finditer(clause))
        for match in found:
            word = match.group().casefold()
            if word.startswith("non-"):
                yield frozenset(content_stems(word.removeprefix("non-")))
            elif word in _NEGATORS or word.endswith("n't"):
                after = content_stems(clause[match.end() :])[:REACH]
                yield frozenset(after or content_stems(clause[: match.start()])[-BACK_REACH:])


def _opposed(one: Polarity, other: Polarity) -> bool:
    """paid and unpaid, mogelijk and onmogelijk: a word of one side alone, whose opposite is on the other side alone."""
    here, there = one.words - other.words, other.words - one.words
    said_here, said_there = here - one.denied, there - other.denied  # "not comfortable" is uncomfortable
    return _opposite(said_here, said_there) or _opposite(said_there, said_here)


def _opposite(positive: frozenset[str], negative: frozenset[str]) -> bool:
    return any(
        word.removeprefix(prefix) in positive
        for word in negative
        for prefix in _OPPOSING
        if word.startswith(prefix) and len(word) - len(prefix) > 3
    )
