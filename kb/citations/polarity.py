"""Whether a sentence and a passage say yes and no to the same things.

What counts is what a negation denies, not that there is a "not": "25 days, not counting bank holidays" supports "25
days". For every word that both speak of, each says yes or no: a negation turns the word that it governs, "stop" turns
"continue", "unpaid" turns "paid". Who turns one thing contradicts; who turns two says the same the other way round:
"no ticket for software from the portal", "other software needs a ticket". English, Dutch, German, Spanish, French.
Irony is beyond it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kb.citations.fact_words import NUMBER_WORDS
from kb.citations.limits import Limit, read_limits
from kb.citations.polarity_words import (
    CLAUSE,
    CONDITION,
    EXCEPT,
    HARMLESS,
    LIGHT,
    LIST_COMMA,
    LISTED,
    MODAL,
    MODAL_ALONE,
    NEGATORS,
    NO_ONE,
    NONE,
    NOR,
    ONLY,
    OPPOSITES,
    RATHER_THAN,
    TO,
    WITHOUT,
)
from kb.citations.synonyms import same_word
from kb.citations.tongue import tongue
from kb.text.wording import content_stems, plain, stem, tokens

REACH = 4
"""Meaning words after a Dutch or German negation among which is the one that it governs."""
BACK_REACH = 3
"""Meaning words before it, where none follow: "das gilt nicht"."""
SHARED = 0.6
"""Share of the words in a negation's reach that the other must speak of before the two are compared."""
SHORT_CLAUSE = 3
"""Meaning words up to which a clause says too little alone: then the whole sentence is taken."""

NOTHING_COMMON = 0.01
"""What an opposition of small words alone counts: "that is possible", "that is impossible"."""

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NON = re.compile(r"\bnon-(?=\w)", re.IGNORECASE)
_NEXT_VERB = re.compile(r"(?<=\w)\s+(?:is|are|was|were|ist|sind|wird|wurden?|wordt)\b", re.IGNORECASE)
_LESS = re.compile(r"(?!unless|nevertheless|regardless|wireless)\w{4,}less")
_VERB_LAST = frozenset({"nl", "de"})
_OR = {"en": "or", "nl": "of", "de": "oder", "es": "o", "fr": "ou"}
_OPPOSING = re.compile(
    r"(?:un|non|on(?=\w{4})|(?:in|im|ir|il)(?=\w+(?:ible|able|ent|ant|ive|ect|ete|ate|al|ar|lich|isch)$))(?=\w{4})"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Negation:
    """`scope`: stems that it may govern; one of them, where the word order tells which.

    `reach`: all that stand on that side of it. `listed`: whether each of the scope is denied by itself. `subject`: whether it denies what stands before it. `excepts`: "unless".
    """

    scope: frozenset[str]
    reach: frozenset[str] = frozenset()
    listed: bool = False
    subject: bool = False
    excepts: bool = False
    without: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Clause:
    """`words`: stems and figures; `around`: those of the whole sentence where the clause says too little alone.

    `signs`: word, the concept that it belongs to, and whether that is so here: 1 or -1. `bases`: opposite -> word.
    """

    words: frozenset[str]
    around: frozenset[str]
    negations: tuple[Negation, ...]
    signs: frozenset[tuple[str, str, int]] = frozenset()
    bases: dict[str, str] = field(default_factory=dict)
    limits: frozenset[Limit] = frozenset()
    conditional: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Polarity:
    """`excepted`: what a negation does not hold for. `only`: whether it restricts, which is half a negation."""

    words: frozenset[str]
    clauses: tuple[Clause, ...]
    excepted: frozenset[str] = frozenset()
    only: bool = False

    @property
    def negations(self) -> tuple[Negation, ...]:
        return tuple(negation for clause in self.clauses for negation in clause.negations)


def read_polarity(text: str) -> Polarity:
    words = RATHER_THAN.sub("not", _NON.sub("not ", NO_ONE.sub("nobody", plain(text))))
    language = tongue(words) if tongue(words) in _OR else "en"
    words = LIST_COMMA[language].sub(f" {_OR[language]} ", words)
    everything = _stems(HARMLESS.sub(" ", words))
    clauses: list[Clause] = []
    excepted: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()
    denies = False
    for text_of, exception in _clauses(words):
        conditional = CONDITION.search(words[: words.find(text_of)][-8:]) is not None
        limits = read_limits(text_of)
        text_of = HARMLESS.sub(" ", text_of)
        stems = _stems(text_of)
        scopes = list(_scopes(text_of, exceptions=not denies, language=language))
        if exception and denies and not scopes:
            excepted |= stems
            continue
        elsewhere |= stems
        denies = denies or bool(scopes)
        read = _clause(text_of, stems, scopes, everything)
        clauses.append(replace(read, limits=limits, conditional=conditional))
    return Polarity(
        words=everything,
        clauses=tuple(_settled(clauses)),
        excepted=excepted - elsewhere,
        only=any(token.casefold() in ONLY for token in tokens(words)),
    )


def _settled(clauses: list[Clause]) -> list[Clause]:
    """ "Without a ticket, you cannot enter" says: with one you can."""
    denials = [negation for clause in clauses for negation in clause.negations]
    if len(denials) == 2 and any(one.without for one in denials):
        return [replace(clause, negations=()) for clause in clauses]
    return clauses


def contradicted(sentence: Polarity, units: Sequence[Polarity]) -> bool:
    """Whether the part of the passage that speaks most of the same things says the opposite.

    A sentence with several clauses is as good as each of them.
    """
    return any(_contradicted(clause, sentence, units) for clause in sentence.clauses)


def contradicted_across(sentence: Polarity, units: Sequence[Polarity]) -> bool:
    """The same across languages: whether the one clause that shares the most names and figures says no where this says yes.

    Where no clause stands out, nothing is said. What restricts ("only") is no and yes at once.
    """
    clauses = [(unit, clause) for unit in units for clause in unit.clauses]
    common = [len(sentence.words & clause.around) for _, clause in clauses]
    most = max(common, default=0)
    if most == 0 or common.count(most) > 1:
        return False
    unit, nearest = clauses[common.index(most)]
    return not (sentence.only or unit.only) and bool(sentence.negations) != bool(nearest.negations)


def _contradicted(clause: Clause, sentence: Polarity, units: Sequence[Polarity]) -> bool:
    best, worst = 0.0, 0.0
    for unit in units:
        compared = _Comparison(clause, sentence, unit)
        if compared.opposed and compared.tells:
            worst = max(worst, compared.common, NOTHING_COMMON)
        else:
            best = max(best, compared.common)
    return worst > best


class _Comparison:
    """A clause of the sentence against a sentence of the page: who turns what the other states."""

    def __init__(self, clause: Clause, sentence: Polarity, unit: Polarity) -> None:
        self._clause, self._sentence, self._unit = clause, sentence, unit
        self._unit_words = unit.words.union(*(one.bases.values() for one in unit.clauses))
        self._said = sentence.words.union(*(one.bases.values() for one in sentence.clauses))
        met = sum(_met(word, unit.words) is not None for word in clause.around)
        self.common = met + met / (1 + len(unit.words | clause.around))
        about = sum(_met(word, self._unit_words) is not None for word in clause.around)
        self.tells = about > 1 or about >= SHARED * len(clause.around)

    @property
    def opposed(self) -> bool:
        """Whether an odd number of things is turned."""
        turned = self._turned_here() + self._turned_by_a_word()
        restricted = self._sentence.only and not self._unit.only
        excused = bool(self._sentence.words & self._unit.excepted)
        allowed = self._unit.only and (bool(self._sentence.excepted) or self._speaks_of_another)
        if not (restricted or excused):
            turned += self._turned_there()
        return not allowed and turned % 2 == 1

    @property
    def _speaks_of_another(self) -> bool:
        """Whether the sentence denies to others what the page allows to some only."""
        others = {word for word in self._clause.words if _met(word, self._unit.words) is None}
        return self._sentence.only and bool(self._clause.negations) and bool(others)

    def _turned_here(self) -> int:
        """Denials of the sentence of what the page states."""
        return sum(
            self._reaches(negation, self._unit_words)
            and not any(self._denied_there(word) for word in negation.scope)
            and not self._denied_in_other_words(negation)
            and not self._denied_in_short
            and not (negation.excepts and self._unit.only)
            for negation in self._clause.negations
        )

    def _turned_there(self) -> int:
        """Denials on the page of what the sentence states."""
        denied = frozenset().union(*(negation.scope for negation in self._sentence.negations))
        bases = _own_bases(self._sentence, self._unit.words)
        own = self._clause.negations
        stated = {word for word in self._clause.words if not any(word in one.scope for one in own)}
        turned = 0
        for clause in self._unit.clauses:
            for negation in clause.negations:
                here = {word for word in stated if _met(word, negation.scope)}
                if not here or not self._reaches(negation, self._said):
                    continue
                if own and negation.subject and len(clause.words) < SHORT_CLAUSE:
                    continue  # both deny something of it
                if any(_met(word, denied | bases) for word in negation.scope):
                    continue
                turned += not (self._denies_else(clause) or self._stated_instead(here, clause))
        return turned

    def _turned_by_a_word(self) -> int:
        """Words whose opposite the page has, and not themselves: "stop" for "continue", "unused" for "used"."""
        there = {(concept, sign) for clause in self._unit.clauses for _, concept, sign in clause.signs}
        turned = sum(
            (concept, -sign) in there and (concept, sign) not in there
            for word, concept, sign in self._clause.signs
            if _met(word, self._unit.words) is None
        )
        limits = frozenset().union(*(clause.limits for clause in self._unit.clauses))
        turned += sum(limit.turned in limits and limit not in limits for limit in self._clause.limits)
        for clause in self._unit.clauses:
            turned += _unmatched(self._clause, clause, self._sentence.words, self._unit.words)
            turned += _unmatched(clause, self._clause, self._unit.words, self._sentence.words)
        return turned

    @staticmethod
    def _reaches(negation: Negation, words: frozenset[str]) -> bool:
        met = sum(_met(word, words) is not None for word in negation.scope)
        return met > 0 and (negation.listed or met >= SHARED * len(negation.scope))

    def _denied_there(self, word: str) -> bool:
        bases = _own_bases(self._unit, self._sentence.words)
        return any(_met(word, negation.scope) for negation in self._unit.negations) or bool(_met(word, bases))

    def _denied_in_other_words(self, denial: Negation) -> bool:
        """Whether the page denies something of this that the sentence has no word for: "not accepted", "not allowed"."""
        return any(
            (clause.conditional and self._clause.conditional)
            or any(_met(word, clause.words if denial.subject else negation.reach) for word in denial.scope)
            for clause in self._unit.clauses
            for negation in clause.negations
            if not self._reaches(negation, self._said)
        )

    @property
    def _denied_in_short(self) -> bool:
        """Whether the page denies it with the subject alone: "tips are paid back, wine is not"."""
        return any(
            negation.subject
            and len(clause.words) < SHORT_CLAUSE
            and self._reaches(negation, self._clause.words)
            for clause in self._unit.clauses
            for negation in clause.negations
        )

    def _denies_else(self, clause: Clause) -> bool:
        """Whether the sentence denies, in words that the page has not, something of this clause."""
        return any(
            not self._reaches(negation, self._unit_words)
            and any(_met(word, clause.words) for word in self._clause.words)
            for negation in self._clause.negations
        )

    def _stated_instead(self, here: set[str], denied: Clause) -> bool:
        """Whether another clause of the same sentence states all this and more of what the sentence says."""
        common = sum(_met(word, denied.words) is not None for word in self._clause.words)
        others = (
            {word for word in self._clause.words if _met(word, clause.words)}
            for clause in self._unit.clauses
            if clause is not denied and not clause.negations
        )
        return any(here < shared and len(shared) > common for shared in others)


def _own_bases(one: Polarity, others: frozenset[str]) -> frozenset[str]:
    """What `one` denies by an opposite that the other has not."""
    return frozenset(
        base for clause in one.clauses for opposite, base in clause.bases.items() if opposite not in others
    )


def _unmatched(one: Clause, other: Clause, own: frozenset[str], others: frozenset[str]) -> int:
    """Opposites in `one` of words in `other`, where neither side has both."""
    return sum(
        base in other.words
        and base not in own
        and opposite not in others
        and not any(base in negation.scope for negation in (*other.negations, *one.negations))
        for opposite, base in one.bases.items()
    )


def _met(word: str, words: frozenset[str]) -> str | None:
    """The word among `words` that means the same as `word`."""
    if word in words:
        return word
    return next((other for other in words if same_word(word, other)), None)


def _clause(text: str, stems: frozenset[str], scopes: list[Negation], everything: frozenset[str]) -> Clause:
    denied = frozenset().union(*(one.scope for one in scopes))
    signs = {
        (word, OPPOSITES[word][0], -OPPOSITES[word][1] if word in denied else OPPOSITES[word][1])
        for word in stems & OPPOSITES.keys()
    }
    return Clause(
        words=stems,
        around=stems if len(stems) > SHORT_CLAUSE else everything,
        negations=tuple(scopes),
        signs=frozenset(signs),
        bases=dict(_bases(text)),
    )


def _bases(text: str) -> Iterator[tuple[str, str]]:
    for found in _WORD.finditer(text):
        word = found.group().casefold()
        base = _OPPOSING.sub("", word, count=1) if _OPPOSING.match(word) else ""
        if _LESS.fullmatch(word):
            base = word.removesuffix("less")
        if base:
            yield stem(word), stem(base)


def _clauses(words: str) -> Iterator[tuple[str, bool]]:
    """The clauses, and whether one begins with "unless" or the like."""
    for piece in CLAUSE.split(words):
        start = 0
        for match in _WORD.finditer(piece):
            if match.group().casefold() in EXCEPT:
                if piece[start : match.start()].strip():
                    yield piece[start : match.start()], start > 0
                start = match.start()
        if piece[start:].strip():
            first = _WORD.search(piece[start:])
            yield piece[start:], first is not None and first.group().casefold() in EXCEPT


def _scopes(clause: str, *, exceptions: bool, language: str) -> Iterator[Negation]:
    """What each negation of a clause governs. "Nothing ... without" says: with."""
    found = [
        match
        for match in _WORD.finditer(clause)
        if _negates(match.group().casefold(), exceptions=exceptions)
        and not (language == "de" and match.group().casefold() == "noch")
    ]
    if len(found) == 2 and found[1].group().casefold() in WITHOUT:
        return
    second = [match for match in found[1:] if match.group().casefold() in NOR]
    for match in (one for one in found if one not in second):
        word = match.group().casefold()
        rest = _up_to_the_next_verb(clause[match.end() :])
        before, after = _governed(clause[: match.start()]), _governed(rest)
        if not after:
            after = _governed(clause[match.end() :])
        excepts = word in EXCEPT
        if not after or (before and _denies_its_subject(rest)):
            if before:
                scope = frozenset(before[-BACK_REACH:])
                yield Negation(scope=scope, reach=frozenset(before), subject=True, excepts=excepts)
        elif language in _VERB_LAST and word not in WITHOUT:
            listed = sum(bool(_governed(part)) for part in LISTED[language].split(rest)) > 1
            yield Negation(
                scope=frozenset(after[:REACH]), reach=frozenset(after), listed=listed, excepts=excepts
            )
        else:
            near = 2 if word in NONE and (language == "en" or word not in WITHOUT | {"no"}) else 1
            parts = (_governed(part) for part in LISTED[language].split(rest))
            items = frozenset(item for part in parts for item in part[:near])
            without = word in WITHOUT
            yield Negation(scope=items, reach=frozenset(after), listed=True, excepts=excepts, without=without)


def _up_to_the_next_verb(after: str) -> str:
    """What a denial inside a subject governs: "leave not taken | is paid"."""
    verb = _NEXT_VERB.search(after)
    return after[: verb.start()] if verb else after


def _denies_its_subject(after: str) -> bool:
    """Whether a bare "allowed" follows: "is not allowed for", not "is not allowed to"."""
    words = [found.group().casefold() for found in _WORD.finditer(after)][:2]
    return bool(words) and words[0] in MODAL_ALONE and not (len(words) > 1 and words[1] in TO)


def _governed(text: str) -> list[str]:
    """The stems that a negation can deny, in order; adverbs ("automatically") only where nothing else is there."""
    ordered = [word for word in _ordered_stems(text) if word not in MODAL]
    telling = [word for word in ordered if word not in LIGHT and not word.endswith("lly")]
    return telling or ordered


def _negates(word: str, *, exceptions: bool) -> bool:
    return word in NEGATORS or word.endswith("n't") or (exceptions and word in EXCEPT)


def _stems(text: str) -> frozenset[str]:
    found = _ordered_stems(text)
    return frozenset(word for word in found if word not in MODAL) or frozenset(found)


def _ordered_stems(text: str) -> list[str]:
    """Stems of meaning words, and figures; the words of negation are none of them."""
    found: list[str] = []
    for token in tokens(text):
        number = NUMBER_WORDS.get(token.casefold())
        if number is not None:
            found.append(f"{number:g}")
        elif not _negates(token.casefold(), exceptions=True):
            found += content_stems(token) or ([token] if token[:1].isdigit() else [])
    return found
