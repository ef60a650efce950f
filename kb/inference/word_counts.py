"""Counts tokens word by word, where a tokenizer never makes a token over white space."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

LONGEST = 200
"""Characters of a word that is remembered. An address is one word; so is a line of a language without spaces."""
REMEMBERED = 50_000
"""Words that are cached before the cache is emptied; some 8 MB."""

_ODD = re.compile(r"[\x0b\x0c\x1c-\x1f\x85\u2581]")
"""White space to Python, and to some tokenizer a mark that it drops: the words
around it are one. The last one is what pieces have in the place of a space.
"""


class WordTokenCounts:
    """Counts tokens word by word, where a tokenizer never makes a token over white space: a text's words are mostly
    known already. A tokenizer takes .3 ms for a passage that is then thrown away but for its length; a page is counted
    three times while it is cut.

    Any thread may call it. `counts`: tokens of each of some texts; of any text the sum of what they are of its words.
    """

    def __init__(self, counts: Callable[[Sequence[str]], Sequence[int]]) -> None:
        self._counts = counts
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        if _ODD.search(text):
            return self._counts([text])[0]
        words = text.split()
        try:
            return sum(map(self._known.__getitem__, words))
        except KeyError:
            return self._learned(words)

    def _learned(self, words: Sequence[str]) -> int:
        known = self._known
        unknown = [word for word in dict.fromkeys(words) if word not in known]
        learned = dict(zip(unknown, self._counts(unknown), strict=True))
        total = sum(learned[word] if word in learned else known[word] for word in words)
        short = {word: tokens for word, tokens in learned.items() if len(word) <= LONGEST}
        if len(known) >= REMEMBERED:
            self._known = short  # not cleared: another thread may be reading it
        else:
            known.update(short)
        return total
