"""Words put in the place of the page's own: "Students who are called out" where the page has "Engineers".

A sentence that is nearly a copy of one on the page, but for a word or two that the page has not, either says the same
in other words or something else. Which of the two, a model of meaning can tell: with the page's words put back,
a synonym hardly changes what the sentence means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from kb.text.wording import content_stems, plain, stem, tokens

CLOSE_COPY = 0.75
"""Share of the sentence's meaning words that stand in the page's sentence in the same order."""
FEW_REPLACED = 2
"""Words of the sentence in one replaced place: more is a rewording."""
FEW_PUT_BACK = 4
"""Words of the page that are put back, those next to what agrees."""
NEARLY_WHOLE = 0.8
"""Share from which a word of another sentence of the page counts as put in as well: "the plaintiff" for the defendant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Replaced:
    """`said` is the sentence, `back` the same with the page's own words in one place."""

    said: str
    back: str


def find_replaced(sentence: str, units: Sequence[str], known: frozenset[str]) -> list[Replaced]:
    """The places where a close copy of one of the `units` has words of its own. `known`: stems of the whole page."""
    said = tokens(plain(sentence))
    copies = [_Alignment(said, tokens(plain(unit))) for unit in units]
    closest = max(copies, key=lambda copy: copy.share, default=None)
    if closest is None or closest.share < CLOSE_COPY:
        return []
    return list(closest.replaced(known if closest.share < NEARLY_WHOLE else closest.stems))


class _Alignment:
    def __init__(self, said: list[str], page: list[str]) -> None:
        self._said, self._page = said, page
        matcher = SequenceMatcher(None, [stem(word) for word in said], [stem(word) for word in page], False)
        self._steps = matcher.get_opcodes()
        self.stems = frozenset(content_stems(" ".join(page)))
        telling = [bool(content_stems(word)) or word[:1].isdigit() for word in said]
        agreeing = sum(
            telling[at]
            for kind, start, end, _, _ in self._steps
            if kind == "equal"
            for at in range(start, end)
        )
        self.share = agreeing / max(1, sum(telling))

    def replaced(self, known: frozenset[str]) -> Iterator[Replaced]:
        for kind, start, end, page_start, page_end in self._steps:
            words = self._page[page_start:page_end][:FEW_PUT_BACK]
            own = content_stems(" ".join(self._said[start:end]))
            if kind != "replace" or end - start > FEW_REPLACED or not content_stems(" ".join(words)):
                continue
            if any(word not in known for word in own):
                yield Replaced(
                    said=" ".join(self._said), back=" ".join([*self._said[:start], *words, *self._said[end:]])
                )
