"""Corrects typos before a question is read: "tel me mroe about teh ADM".

Only words that nobody knows are touched: not in the language file, not in the thread, not in the index. The nearest
word of the language file or of the thread wins; words of the index come last, because there are most of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import islice

from kb.text.lexicon import Lexicon, spans_of

Vocabulary = Callable[[str], int]
"""Document frequency of a lower-case word in the index; 0 for an unknown one."""

SHORTEST = 3
"""Letters. Below this almost every word is one slip from another."""
WRONG = 3
"""The cost of a wrong or an added letter: as often another word as a slip."""
MOST_UNKNOWN = 50
"""Words of a text that are looked up. A text with more of them is no
hasty question, but a log or in another language.
"""
LONG = 6
"""Letters from which a content word may be corrected against the index without the thread's support."""


def correct(text: str, lexicon: Lexicon, *, thread: Iterable[str], vocabulary: Vocabulary | None) -> str:
    """The text with unknown words replaced by the known word that they are one slip away from."""
    known = _Known(lexicon, frozenset(thread), vocabulary)
    corrected, end, unknown = [], 0, 0
    for at, span in enumerate(spans_of(text)):
        word = span.group()
        if not known.is_unknown(word):
            continue
        named = at > 0 and word[0].isupper() and not lexicon.words.capital_nouns
        better = known.better(word, named=named, first=at == 0)
        corrected += [text[end : span.start()], better or word]
        end, unknown = span.end(), unknown + 1
        if unknown == MOST_UNKNOWN:
            break
    return "".join([*corrected, text[end:]])


class _Known:
    """The words that somebody knows, by which a word is judged."""

    def __init__(self, lexicon: Lexicon, thread: frozenset[str], vocabulary: Vocabulary | None) -> None:
        self._lexicon = lexicon
        self._thread = thread
        self._vocabulary = vocabulary

    @cached_property
    def _targets(self) -> Mapping[tuple[str, int], list[str]]:
        """Words of the thread that a slip may be corrected to, by first
        letter and length: a slip changes little of either.
        """
        found: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        for word in self._thread:
            if len(word) >= LONG - 1:
                found[word[0], len(word)].append(word)
        return found

    def is_unknown(self, word: str) -> bool:
        lower = word.casefold()
        if (
            len(lower) < SHORTEST
            or not lower.isalpha()
            or word[1:].lower() != word[1:]
            or not self._lexicon.words.function
        ):
            return False
        is_known = self._vocabulary is not None and self._vocabulary(lower) > 0
        return not (lower in self._lexicon.known_words or lower in self._thread or is_known)

    def better(self, word: str, *, named: bool, first: bool) -> str | None:
        """For an unknown word. `named`: written like a name inside a
        sentence. Only the thread can tell how somebody is spelled.
        """
        lexicon, lower = self._lexicon, word.casefold()
        likely = lexicon.references | lexicon.words.question
        lengths = range(len(lower) - 1, len(lower) + 2)
        best = _nearest(
            lower,
            frozenset() if named else lexicon.spelling_by_letter.get(lower[0], frozenset()),
            [known for length in lengths for known in self._targets.get((lower[0], length), ())],
            likely=likely,
            sure=lexicon.spelling_targets if first else likely | lexicon.words.prepositions,
        )
        if best is None and self._vocabulary is not None and len(lower) >= LONG and word.islower():
            best = _most_frequent(lower, self._vocabulary)
        if best is None:
            return None
        return best.capitalize() if word[0].isupper() else best


def _nearest(
    word: str,
    language: Iterable[str],
    thread: Iterable[str],
    *,
    likely: frozenset[str],
    sure: frozenset[str],
) -> str | None:
    """The known word with the likeliest slip; of equals a reference or question word, which follow-ups are full of.

    A short word that lacks a letter is as often somebody's name ("Sam", "Ben", "Sven"): it becomes one of `sure` alone.
    """
    short = len(word) < LONG - 1
    best: tuple[int, int, bool, str] | None = None
    for rank, words in enumerate((language, thread)):
        for known in words:
            cost = slip(word, known)
            if cost is None or (cost == WRONG and len(word) < LONG):
                continue
            if rank == 1 and (len(known) < LONG - 1 or cost == WRONG or _inflects(word, known)):
                continue
            if short and known not in sure and len(known) > len(word):
                continue
            candidate = (cost, rank, known not in likely, known)
            best = candidate if best is None or candidate < best else best
    return best[-1] if best is not None else None


def slip(word: str, known: str) -> int | None:
    """How unlikely the one slip from `known` to `word` is: 1 cut off, swapped or doubled, 2 missed, 3 wrong or added.

    None: not one slip apart, or apart in the first letter, where people seldom slip.
    """
    if word[0] != known[0] or abs(len(word) - len(known)) > 1 or word == known:
        return None
    if len(known) > len(word):
        if known.startswith(word):
            return 1
        return 2 if _dropped(known, word) is not None else None
    if len(word) > len(known):
        if word.startswith(known) and word[-1] != known[-1]:
            return None  # "levels", "released": an ending
        at = _dropped(word, known)
        if at is None:
            return None
        return 1 if word[at] in word[max(at - 1, 0) : at] + word[at + 1 : at + 2] else WRONG
    differing = list(islice((at for at in range(len(word)) if word[at] != known[at]), 3))
    if len(differing) == 1:
        return WRONG
    first, last = differing[0], differing[-1]
    adjacent = len(differing) == 2 and last == first + 1
    return 1 if adjacent and word[first] == known[last] and word[last] == known[first] else None


def _dropped(longer: str, shorter: str) -> int | None:
    """Which letter of `longer` is missing in `shorter`; of equal ones in a row the first."""
    at = next((at for at, letter in enumerate(shorter) if longer[at] != letter), len(shorter))
    if longer[at + 1 :] != shorter[at:]:
        return None
    while at and longer[at - 1] == longer[at]:
        at -= 1
    return at


def _inflects(word: str, known: str) -> bool:
    """Apart in their endings only: "ballet" and "ballets" are two right words."""
    stem = min(len(word), len(known)) - 1
    return word[:stem] == known[:stem]


def _most_frequent(word: str, vocabulary: Vocabulary) -> str | None:
    """The word of the index that most pages use, one swapped, doubled or missed letter away."""
    letters = "abcdefghijklmnopqrstuvwxyz" + "".join(sorted({c for c in word if not c.isascii()}))
    splits = [(word[:at], word[at:]) for at in range(1, len(word) + 1)]
    edits = {
        *(left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1),
        *(left + right[1:] for left, right in splits if right and left[-1:] == right[0]),
        *(left + letter + right for left, right in splits if right for letter in letters),
    }
    counted = [(vocabulary(edit), edit) for edit in edits if not _inflects(word, edit)]
    frequency, best = max(counted, default=(0, ""))
    return best if frequency > 0 else None
