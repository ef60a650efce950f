"""Whether a sentence and a passage say yes and no to the same things.

What counts is what a negation denies, not that there is a "not": "25 days, not counting bank holidays" supports "25
days". For every word that both speak of, each says yes or no: a negation turns the word that it governs, "stop" turns
"continue", "unpaid" turns "paid". Who turns one thing contradicts; who turns two says the same the other way round:
"software from the portal needs no ticket", "what is not from the portal needs one". English, Dutch, German, Spanish, French.
Irony is beyond it.
"""

from __future__ import annotations

from collections.abc import Sequence

from kb.citations.denials import SHORT_CLAUSE, Clause, Negation, Polarity
from kb.citations.synonyms import same_word

SHARED = 0.6
"""Share of the words in a negation's reach that the other must speak of before the two are compared."""
NOTHING_COMMON = 0.01
"""What an opposition of small words alone counts: "that is possible", "that is impossible"."""


def contradicted(sentence: Polarity, units: Sequence[Polarity]) -> bool:
    """Whether the part of the passage that speaks most of the same things says the opposite.

    A sentence with several clauses is as good as each of them.
    """
    return any(_contradicted(clause, sentence, units) for clause in sentence.clauses)


def _contradicted(clause: Clause, sentence: Polarity, units: Sequence[Polarity]) -> bool:
    """A sentence of the page that has no word for what is denied counts only if the page denies it somewhere."""
    best, worst = 0.0, 0.0
    compared = [_Comparison(clause, sentence, unit) for unit in units]
    denied = any(one.denies_the_same for one in compared)
    for one in compared:
        if one.opposed and one.tells:
            worst = max(worst, one.common, NOTHING_COMMON)
        elif denied or one.speaks_of_the_denied:
            best = max(best, one.common)
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
    def denies_the_same(self) -> bool:
        """Whether the page's sentence denies a word that this denies."""
        return any(self._denied_there(word) for one in self._clause.negations for word in one.scope)

    @property
    def speaks_of_the_denied(self) -> bool:
        """Whether the page's sentence has a word that this denies, or denies something itself."""
        return (
            not self._clause.negations
            or bool(self._unit.negations)
            or any(_met(word, self._unit_words) for one in self._clause.negations for word in one.scope)
        )

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
        for clause in self._unit.clauses:
            turned += _unmatched(self._clause, clause, self._sentence.words, self._unit.words)
            turned += _unmatched(clause, self._clause, self._unit.words, self._sentence.words)
        limits = frozenset().union(*(clause.limits for clause in self._unit.clauses))
        turned += sum(limit.turned in limits and limit not in limits for limit in self._clause.limits)
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
    """Opposites in `one` of words in `other`, where neither side has both: "unpaid" for "paid"."""
    return sum(
        base in other.words
        and base not in own
        and opposite not in others
        and not any(
            base in (negation.reach if negation.without else negation.scope)
            for negation in (*other.negations, *one.negations)
        )
        for opposite, base in one.bases.items()
    )


def _met(word: str, words: frozenset[str]) -> str | None:
    """The word among `words` that means the same as `word`."""
    if word in words:
        return word
    return next((other for other in words if same_word(word, other)), None)
