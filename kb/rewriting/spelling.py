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
"""Letters. Below this almost every word is one typo from another."""
WRONG = 3
"""The cost of a wrong or an added letter, which is as often another word as a typo."""
MOST_UNKNOWN = 50
"""Unknown words of a text that are looked up. A text with more is a log or in another language, no hasty question."""
LONG = 6
"""Letters from which a content word may be corrected against the index without the thread's support."""


def correct(text: str, lexicon: Lexicon, *, thread: Iterable[str], vocabulary: Vocabulary | None) -> str:
    """Returns the text with unknown words replaced by the known word that they are one slip away from."""
    known = _KnownWords(lexicon, frozenset(thread), vocabulary)
    corrected, end, unknown = [], 0, 0
    for index, span in enumerate(spans_of(text)):
        word = span.group()
        if not known.is_unknown(word):
            continue
        named = index > 0 and word[0].isupper() and not lexicon.words.capital_nouns
        better = known.better(word, named=named, first=index == 0)
        corrected += [text[end : span.start()], better or word]
        end, unknown = span.end(), unknown + 1
        if unknown == MOST_UNKNOWN:
            break
    return "".join([*corrected, text[end:]])


class _KnownWords:
    """The words that the language file, the thread or the index knows."""

    def __init__(self, lexicon: Lexicon, thread: frozenset[str], vocabulary: Vocabulary | None) -> None:
        self._lexicon = lexicon
        self._thread = thread
        self._vocabulary = vocabulary

    @cached_property
    def _targets(self) -> Mapping[tuple[str, int], list[str]]:
        """Words of the thread that a slip may be corrected to, by first letter and length: both mostly stay."""
        targets: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        for word in self._thread:
            if len(word) >= LONG - 1:
                targets[word[0], len(word)].append(word)
        return targets

    def is_unknown(self, word: str) -> bool:
        lower = word.casefold()
        plain = len(lower) >= SHORTEST and lower.isalpha() and word[1:].lower() == word[1:]
        if not plain or not self._lexicon.words.function:
            return False
        if lower in self._lexicon.known_words or lower in self._thread:
            return False
        return self._vocabulary is None or self._vocabulary(lower) == 0

    def better(self, word: str, *, named: bool, first: bool) -> str | None:
        """Returns the known word that an unknown one is a slip of, or None.

        `named`: it is written like a name inside a sentence; only the thread can tell how a name is spelled.
        """
        lexicon, lower = self._lexicon, word.casefold()
        likely = lexicon.references | lexicon.words.question
        lengths = range(len(lower) - 1, len(lower) + 2)
        best = _nearest(
            lower,
            frozenset() if named else lexicon.spelling_by_letter.get(lower[0], frozenset()),
            [target for length in lengths for target in self._targets.get((lower[0], length), ())],
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
    """Returns the known word with the likeliest slip; of equals a reference or question word, as follow-ups have.

    A short word that lacks a letter is as often somebody's name ("Sam", "Ben", "Sven"): it becomes one of `sure` alone.
    """
    short = len(word) < LONG - 1
    best: tuple[int, int, bool, str] | None = None
    for rank, words in enumerate((language, thread)):
        for target in words:
            cost = slip(word, target)
            if cost is None or (cost == WRONG and len(word) < LONG):
                continue
            if rank == 1 and (len(target) < LONG - 1 or cost == WRONG or _inflects(word, target)):
                continue
            if short and target not in sure and len(target) > len(word):
                continue
            candidate = (cost, rank, target not in likely, target)
            best = candidate if best is None or candidate < best else best
    return best[-1] if best is not None else None


def slip(word: str, target: str) -> int | None:
    """Returns the cost of the slip from `target` to `word`: 1 cut off, swapped or doubled, 2 missed, 3 wrong or added.

    None: not one slip apart, or apart in the first letter, where people seldom slip.
    """
    if word[0] != target[0] or abs(len(word) - len(target)) > 1 or word == target:
        return None
    if len(target) > len(word):
        if target.startswith(word):
            return 1
        return 2 if _dropped(target, word) is not None else None
    if len(word) > len(target):
        if word.startswith(target) and word[-1] != target[-1]:
            return None  # "levels", "released": an ending
        index = _dropped(word, target)
        if index is None:
            return None
        return 1 if word[index] in word[max(index - 1, 0) : index] + word[index + 1 : index + 2] else WRONG
    differing = list(islice((index for index in range(len(word)) if word[index] != target[index]), 3))
    if len(differing) == 1:
        return WRONG
    first, last = differing[0], differing[-1]
    adjacent = len(differing) == 2 and last == first + 1
    return 1 if adjacent and word[first] == target[last] and word[last] == target[first] else None


def _dropped(longer: str, shorter: str) -> int | None:
    """Returns the index of the letter of `longer` that `shorter` lacks; of equal ones in a row the first."""
    index = next((index for index, letter in enumerate(shorter) if longer[index] != letter), len(shorter))
    if longer[index + 1 :] != shorter[index:]:
        return None
    while index and longer[index - 1] == longer[index]:
        index -= 1
    return index


def _inflects(word: str, target: str) -> bool:
    """Whether two words differ in their endings only: "ballet" and "ballets" are two right words."""
    stem = min(len(word), len(target)) - 1
    return word[:stem] == target[:stem]


def _most_frequent(word: str, vocabulary: Vocabulary) -> str | None:
    """Returns the word of the index that most pages use, one swapped, doubled or missed letter away."""
    letters = "abcdefghijklmnopqrstuvwxyz" + "".join(sorted({c for c in word if not c.isascii()}))
    splits = [(word[:index], word[index:]) for index in range(1, len(word) + 1)]
    edits = {
        *(left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1),
        *(left + right[1:] for left, right in splits if right and left[-1:] == right[0]),
        *(left + letter + right for left, right in splits if right for letter in letters),
    }
    counted = [(vocabulary(edit), edit) for edit in edits if not _inflects(word, edit)]
    frequency, best = max(counted, default=(0, ""))
    return best if frequency > 0 else None
