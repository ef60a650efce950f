"""Words put in the place of the page's own: "Students who are called out" where the page has "Engineers".

A sentence that is nearly a copy of one on the page, but for a word or two that the page has not, either says the same
in other words or something else. Which of the two, a model of meaning can tell: with the page's words put back,
a synonym hardly changes what the sentence means. A noun is hardly ever put in for the sake of style.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from kb.citations.strangers import content_words, nouns_among, strangers
from kb.text.wording import content_stems, plain, stem, tokens

CLOSE_COPY = 0.75
"""Share of the sentence's meaning words that stand in the page's sentence in the same order."""
LOOSE_COPY = 0.6
"""Share from which a noun that the page's sentence has no word for is looked at."""
FEW_REPLACED = 2
"""Words of the sentence in one replaced place: more is a rewording."""
FEW_REPLACED_NOUNS = 4
FEW_PUT_BACK = 4
"""Words of the page that are put back, those next to what agrees."""
NEARLY_WHOLE = 0.8
"""Share from which a word of another sentence of the page counts as put in as well: "the plaintiff" for the defendant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Replaced:
    """`said` is the sentence, `back` the same with the page's own words in one place. `noun`: whether one went."""

    said: str
    back: str
    noun: bool


class NearestCopy:
    """The sentence beside the one of the page that it is nearest to being a copy of.

    `page`: words of the whole passage, `headings`: of its headings. Share 0 where there is no sentence to copy.
    """

    def __init__(
        self,
        sentence: str,
        units: Sequence[str],
        *,
        page: Sequence[str],
        headings: Sequence[str],
        language: str | None,
    ) -> None:
        said = tokens(plain(sentence))
        copies = [_Alignment(said, tokens(plain(unit))) for unit in units]
        self._copy = max(copies, key=lambda copy: copy.share, default=_Alignment(said, []))
        self._sentence, self._page, self._headings, self._language = sentence, page, headings, language

    @property
    def share(self) -> float:
        return self._copy.share

    @cached_property
    def new_nouns(self) -> list[str]:
        """Nouns of the sentence that the whole page has no word for."""
        return self._nouns(strangers(self._sentence, self._page, self._language))

    def replaced(self) -> Iterator[Replaced]:
        """The places where a close copy has words of its own."""
        copy = self._copy
        if copy.share < LOOSE_COPY or copy.agreeing < 2:
            return
        known = (
            copy.page
            if copy.share >= NEARLY_WHOLE or (copy.missing == 1 and copy.agreeing > 2)
            else self._page
        )
        for start, end, words in copy.replacements():
            segment = " ".join(copy.said[start:end])
            own = strangers(segment, known, self._language)
            nouns = self._nouns(own)
            if not own or (not nouns and (copy.share < CLOSE_COPY or end - start > FEW_REPLACED)):
                continue
            back = " ".join([*copy.said[:start], *words, *copy.said[end:]])
            yield Replaced(said=" ".join(copy.said), back=back, noun=bool(nouns))

    def _nouns(self, words: Sequence[str]) -> list[str]:
        return nouns_among(words, self._sentence, self._language)


class _Alignment:
    def __init__(self, said: list[str], page: list[str]) -> None:
        self.said, self.page = said, page
        self._page_stems = [stem(word) for word in page]
        matcher = SequenceMatcher(None, [stem(word) for word in said], self._page_stems, False)
        self._steps = matcher.get_opcodes()
        self._telling = [bool(content_stems(word)) or word[:1].isdigit() for word in said]
        self.agreeing = self._agreeing(matcher)
        self.missing = sum(self._telling) - self.agreeing
        self.share = self.agreeing / max(1, sum(self._telling))

    def _agreeing(self, matcher: SequenceMatcher[str]) -> int:
        blocks = matcher.get_matching_blocks()
        return sum(sum(self._telling[block.a : block.a + block.size]) for block in blocks)

    def replacements(self) -> Iterator[tuple[int, int, list[str]]]:
        """Where the sentence has a few words for others of the page: start, end, the page's words."""
        for kind, start, end, page_start, page_end in self._steps:
            words = self.page[page_start:page_end][:FEW_PUT_BACK]
            if kind == "replace" and end - start <= FEW_REPLACED_NOUNS and content_words(" ".join(words)):
                yield start, end, words
