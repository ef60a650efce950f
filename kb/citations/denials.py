"""What a sentence denies: its negations with the words that they govern, its limits, its words that are opposites.

English, Dutch, German, Spanish and French; word order and small words, no grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kb.citations.fact_words import NUMBER_WORDS
from kb.citations.limits import Limit, read_limits
from kb.citations.polarity_words import (
    CLAUSE,
    CONDITION,
    DENIED_LIMIT,
    EXCEPT,
    FORBIDDEN,
    FROM,
    HARMLESS,
    LIGHT,
    LIST_COMMA,
    LISTED,
    MODAL,
    MODAL_ALONE,
    NEGATORS,
    NO_BEFORE,
    NO_ONE,
    NONE,
    NOR,
    NOTHING_BUT,
    ONLY,
    OPPOSITES,
    OR,
    RATHER_THAN,
    TO,
    WITHOUT,
)
from kb.citations.tongue import tongue
from kb.text.wording import content_stems, plain, stem, tokens

REACH = 4
"""Meaning words after a Dutch or German negation among which is the one that it governs."""
BACK_REACH = 3
"""Meaning words before it, where none follow: "das gilt nicht"."""
INFINITIVE_REACH = 4
"""Words among which the infinitive's "to" stands: "not allowed by law to advise"."""
SHORT_CLAUSE = 3
"""Meaning words up to which a clause says too little alone: then the whole sentence is taken."""

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NON = re.compile(r"\bnon[- ](?=\w)", re.IGNORECASE)
_NEXT_VERB = re.compile(r"(?<=\w)\s+(?:is|are|was|were|ist|sind|wird|wurden?|wordt)\b", re.IGNORECASE)
_LESS = re.compile(r"(?!unless|nevertheless|regardless|wireless)\w{4,}less")
_VERB_LAST = frozenset({"nl", "de"})
_OPPOSING = re.compile(
    r"(?:un|non|on(?=\w{4})|(?:in|im|ir|il)(?=\w+(?:ible|able|ent|ant|ive|ect|ete|ate|al|ar|lich|isch)$))(?=\w{4})"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Negation:
    """`scope`: stems that it may govern; one of them, where the word order tells which.

    `reach`: all that stand on that side of it. `listed`: whether each of the scope is denied by itself. `subject`:
    whether it denies what stands before it. `excepts`: "unless". `without`: "without".
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
    words = NOTHING_BUT.sub("only", NO_ONE.sub("nobody", plain(text)))
    words = RATHER_THAN.sub("not", _NON.sub("non", words))
    words = DENIED_LIMIT.sub(_limit_denied, words)
    language = tongue(words) if tongue(words) in OR else "en"
    words = LIST_COMMA[language].sub(lambda comma: _joined(comma, OR[language]), words)
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


def _joined(comma: re.Match[str], word: str) -> str:
    """A comma within a list as its "or"; the one behind a condition stays: it parts clauses."""
    before = re.split(r"[.;:!?\n]", comma.string[: comma.start()])[-1]
    first = before.count(",") == 0 and CONDITION.match(before.lstrip())
    return comma.group() if first else f" {word} "


def _limit_denied(match: re.Match[str]) -> str:
    than = match["than"]
    return f"{match['between']} {NO_BEFORE[than.casefold()]} {match['side']} {than}"


def _settled(clauses: list[Clause]) -> list[Clause]:
    """ "Without a ticket, you cannot enter" says: with one you can."""
    denials = [negation for clause in clauses for negation in clause.negations]
    if len(denials) == 2 and any(one.without for one in denials):
        return [replace(clause, negations=()) for clause in clauses]
    return clauses


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
        word = found.group()
        if word[:1].isupper():
            continue  # a name, or a noun: "Unfähigkeit" stands for a sentence of its own
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
        governed = _negation(
            clause[: match.start()], match.group().casefold(), clause[match.end() :], language=language
        )
        if governed.scope:
            yield governed


def _negation(before_it: str, word: str, after_it: str, *, language: str) -> Negation:
    rest = _up_to_the_next_verb(_denied_deed(word, after_it))
    rest = rest if _governed(rest) else after_it
    before, after = _governed(before_it), _governed(rest)
    excepts, without = word in EXCEPT, word in WITHOUT
    if not after or (before and _denies_its_subject(rest)):
        scope = frozenset(before[-BACK_REACH:])
        return Negation(scope=scope, reach=frozenset(before), subject=True, excepts=excepts)
    items = [items for part in LISTED[language].split(rest) if (items := _governed(part))]
    if language in _VERB_LAST and not without:
        scope, listed = frozenset(after[:REACH]), len(items) > 1
    else:
        near = 2 if word in NONE and (language == "en" or not (without or word == "no")) else 1
        scope, listed = frozenset(item for part in items for item in part[:near]), True
    return Negation(scope=scope, reach=frozenset(after), listed=listed, excepts=excepts, without=without)


def _denied_deed(word: str, after: str) -> str:
    """ "Prohibited by law from giving", "not allowed by law to give": what is denied is the giving."""
    found = list(_WORD.finditer(after))[: INFINITIVE_REACH + 1]
    spelled = [one.group().casefold() for one in found]
    link: frozenset[str] = frozenset()
    if word in FORBIDDEN:
        link = FROM
    elif spelled and spelled[0] in MODAL_ALONE:
        link = TO
    ends = (one.end() for one, spelling in zip(found, spelled, strict=True) if spelling in link)
    return after[next(ends, 0) :]


def _up_to_the_next_verb(after: str) -> str:
    """What a denial inside a subject governs: "leave not taken | is paid"."""
    verb = _NEXT_VERB.search(after)
    return after[: verb.start()] if verb else after


def _denies_its_subject(after: str) -> bool:
    """Whether a bare "allowed" follows: "is not allowed for", not "is not allowed to"."""
    words = [found.group().casefold() for found in _WORD.finditer(after)][:INFINITIVE_REACH]
    return bool(words) and words[0] in MODAL_ALONE and TO.isdisjoint(words[1:])


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
