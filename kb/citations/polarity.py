"""Whether a sentence and a passage say yes and no to the same things.

A negation and the few meaning words in its reach are compared, not the mere presence of a "not": "25 days, not
counting bank holidays" supports "25 days". "Not paid" is "unpaid", "nothing without approval" needs an approval, and
"not returnable unless damaged" lets damaged things be returned. English, Dutch and German. Antonyms without a prefix
(late, early) and irony are beyond it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kb.text.wording import content_stems, plain, tokens, word_set

REACH = 4
"""Meaning words after a negation that it governs."""
BACK_REACH = 3
"""Meaning words before it, where none follow: "das gilt nicht"."""
SHARED = 0.6
"""Share of the negated words that the sentence must speak of before its silence about the "not" counts."""
SAME_CLAUSE = 0.5
"""Share of the shorter of two negated clauses that must be in the other to be the same denial in other words."""
SHORT_CLAUSE = 3
"""Meaning words up to which a clause says too little alone: then the whole sentence is taken."""

_NEGATORS = word_set(
    "avoid not cannot no never none neither nor nobody nothing nowhere without unable excluding excluded "
    "forbidden prohibited "
    "vermijd vermijden niet geen nooit niemand niets nergens zonder noch verboden uitgezonderd uitgesloten "
    "vermeiden nicht kein keine keinen keiner keinem keines nie niemals niemand nichts nirgends ohne weder untersagt "
    "ausgeschlossen unzulässig"
)
_EXCEPT = word_set("except unless behalve tenzij außer")
"""After a "not" they allow, after a statement they forbid."""
_WITHOUT = word_set("without zonder ohne")
_ONLY = word_set(
    "only just alone solely alleen slechts enkel uitsluitend nur lediglich ausschließlich allein except unless"
)
"""What they allow they deny of everything else."""
_HARMLESS = re.compile(
    r"\b(?:not|niet|nicht) (?:only|just|alleen|nur)\b"
    r"|\b(?:no|not) (?:later|earlier|sooner|more|less|fewer|higher|lower) than\b|\bno matter\b"
    r"|\bniet (?:later|eerder|meer|minder|hoger|lager) dan\b|\bnicht (?:später|früher|mehr|weniger|höher) als\b"
    r"|\bwhether or not\b|\bal dan niet\b|\bto avoid\b|\bte vermijden\b|\bzu vermeiden\b"
    r"|^\W*(?:yes|no|ja|nee|nein)\b[,.:]",
    re.IGNORECASE,
)
"""A limit ("no later than") or an answer word ("No, ..."): no negation of what follows."""
_CLAUSE = re.compile(
    r"[,;:.!?()\n|]+|\b(?:but|however|because|since|while|although|even though|if|when|once|so|maar|echter|omdat|want"
    r"|terwijl|hoewel|als|aber|sondern|jedoch|weil|denn|während|obwohl|wenn|solange)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_OPPOSING = ("un", "non", "in", "im", "on")


@dataclass(frozen=True, kw_only=True, slots=True)
class Negation:
    """`scope`: stems in its reach. `clause`: stems of all that it stands among."""

    scope: frozenset[str]
    clause: frozenset[str]

    def denies_as(self, other: Negation, stated: Sequence[frozenset[str]]) -> bool:
        """Whether `other` denies the same, in the same words or others; `stated` stands beside `other`."""
        if self.scope & other.scope:
            return True
        if any(self.scope <= clause for clause in stated):
            return False
        common = len(self.clause & other.clause)
        return common > 0 and common >= SAME_CLAUSE * min(len(self.clause), len(other.clause))


@dataclass(frozen=True, kw_only=True, slots=True)
class Polarity:
    """`words`: stems and figures of everything it speaks of; `stated`: those of each clause without a negation.

    `excepted`: what a negation does not hold for. `only`: whether it restricts, which is half a negation.
    `clauses`: the same for each clause by itself, empty where there is but one; `beside`: what it stands among.
    """

    words: frozenset[str]
    negations: tuple[Negation, ...]
    stated: tuple[frozenset[str], ...] = ()
    excepted: frozenset[str] = frozenset()
    only: bool = False
    beside: frozenset[str] = frozenset()
    clauses: tuple[Polarity, ...] = ()


def read_polarity(text: str) -> Polarity:
    words = _HARMLESS.sub(" ", plain(text))
    everything = _stems(words)
    only = any(token.casefold() in _ONLY for token in tokens(words))
    clauses: list[Polarity] = []
    excepted: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()
    denies = False
    for clause, exception in _clauses(words):
        stems = _stems(clause)
        around = stems if len(stems) > SHORT_CLAUSE else everything
        scopes = [scope for scope in _scopes(clause, exceptions=not denies) if scope]
        if exception and denies and not scopes:
            excepted |= stems
            continue
        elsewhere |= stems
        denies = denies or bool(scopes)
        clauses.append(
            Polarity(
                words=everything if scopes and len(stems) < SHORT_CLAUSE else stems,
                negations=tuple(Negation(scope=scope, clause=around) for scope in scopes),
                only=only,
                beside=everything,
            )
        )
    stated = tuple(one.words for one in clauses if not one.negations)
    return Polarity(
        words=everything,
        negations=tuple(negation for one in clauses for negation in one.negations),
        stated=stated,
        excepted=excepted - elsewhere,
        only=only,
        clauses=tuple(clauses) if len(clauses) > 1 and denies else (),
    )


def agree(sentence: Polarity, unit: Polarity) -> bool:
    """Whether neither denies what the other states, as far as both speak of it."""
    sentence, unit = _spelled_out(sentence, unit), _spelled_out(unit, sentence)
    denied_here = all(
        any(own.denies_as(other, unit.stated) for other in unit.negations) for own in sentence.negations
    )
    excused = bool((sentence.words | sentence.beside) & unit.excepted) or (sentence.only and not unit.only)
    denied_there = excused or all(
        any(own.denies_as(other, unit.stated) for own in sentence.negations)
        for other in unit.negations
        if _concerns(other, sentence, unit)
    )
    return denied_here and denied_there


def contradicted(sentence: Polarity, units: Sequence[Polarity]) -> bool:
    """Whether the part of the passage that speaks most of the same things says the opposite.

    A sentence with several clauses is as good as each of them.
    """
    return any(_contradicted(clause, units) for clause in sentence.clauses or (sentence,))


def contradicted_across(sentence: Polarity, units: Sequence[Polarity]) -> bool:
    """The same across languages: whether the one clause that shares the most names and figures says no where this says yes.

    Where no clause stands out, nothing is said. What restricts ("only") is no and yes at once.
    """
    clauses = [clause for unit in units for clause in unit.clauses or (unit,)]
    common = [len(sentence.words & clause.words) for clause in clauses]
    most = max(common, default=0)
    if most == 0 or common.count(most) > 1:
        return False
    nearest = clauses[common.index(most)]
    return not (sentence.only or nearest.only) and bool(sentence.negations) != bool(nearest.negations)


def _contradicted(sentence: Polarity, units: Sequence[Polarity]) -> bool:
    best, worst = 0, 0
    for unit in units:
        common = len(sentence.words & _spelled_out(unit, sentence).words)
        if agree(sentence, unit):
            best = max(best, common)
        else:
            worst = max(worst, common)
    return worst > best or (best == 0 and bool(sentence.negations))


def _concerns(negation: Negation, sentence: Polarity, unit: Polarity) -> bool:
    """Whether the sentence speaks of what is denied, and of nothing in the same unit that is stated instead."""
    shared = negation.scope & sentence.words
    if len(shared) < SHARED * len(negation.scope):
        return False
    return not any(shared < stated & sentence.words for stated in unit.stated)


def _clauses(words: str) -> Iterator[tuple[str, bool]]:
    """The clauses, and whether one begins with "unless" or the like."""
    for piece in _CLAUSE.split(words):
        start = 0
        for match in _WORD.finditer(piece):
            if match.group().casefold() in _EXCEPT:
                if piece[start : match.start()].strip():
                    yield piece[start : match.start()], start > 0
                start = match.start()
        if piece[start:].strip():
            first = _WORD.search(piece[start:])
            yield piece[start:], first is not None and first.group().casefold() in _EXCEPT


def _scopes(clause: str, *, exceptions: bool) -> Iterator[frozenset[str]]:
    """What each negation of a clause governs. "Nothing ... without" says: with."""
    found = [
        match for match in _WORD.finditer(clause) if _negates(match.group().casefold(), exceptions=exceptions)
    ]
    if len(found) == 2 and found[1].group().casefold() in _WITHOUT:
        return
    for match in found:
        word = match.group().casefold()
        if word.startswith("non-"):
            yield frozenset(content_stems(word.removeprefix("non-")))
        else:
            after = _ordered_stems(clause[match.end() :])[:REACH]
            yield frozenset(after or _ordered_stems(clause[: match.start()])[-BACK_REACH:])


def _negates(word: str, *, exceptions: bool) -> bool:
    negator = word in _NEGATORS or word.endswith("n't") or word.startswith("non-")
    return negator or (exceptions and word in _EXCEPT)


def _stems(text: str) -> frozenset[str]:
    return frozenset(_ordered_stems(text))


def _ordered_stems(text: str) -> list[str]:
    """Stems of meaning words, and figures; the words of negation are none of them."""
    kept = [token for token in tokens(text) if not _negates(token.casefold(), exceptions=True)]
    return content_stems(" ".join(kept)) + [token for token in kept if token[:1].isdigit()]


def _spelled_out(one: Polarity, other: Polarity) -> Polarity:
    """With a negation for every word whose opposite the other has: unpaid for paid, onmogelijk for mogelijk."""
    opposed = frozenset(
        word.removeprefix(prefix)
        for word in one.words - other.words
        for prefix in _OPPOSING
        if word.startswith(prefix) and len(word) - len(prefix) > 3
        if (base := word.removeprefix(prefix)) in other.words and base not in one.words
    )
    if not opposed:
        return one
    words = one.words | opposed
    return replace(one, words=words, negations=(*one.negations, Negation(scope=opposed, clause=words)))
