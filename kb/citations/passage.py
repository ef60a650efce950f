"""A passage that is cited, as its claims are held against it: its words, facts, yes and no, sentence by sentence."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from kb.citations.denials import Polarity, read_polarity
from kb.citations.facts import Facts, read_facts
from kb.citations.marks import one_line
from kb.citations.strangers import content_words
from kb.models import Chunk
from kb.text.sentences import TextUnit, split_units
from kb.text.wording import content_stems, language_of, plain


class Passage:
    """A passage, read once and only as far as it is needed: quotes to the letter need none of it."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.context = "\n\n".join([chunk.page.title, *chunk.section, chunk.text])

    @cached_property
    def literal(self) -> str:
        return literal_words(self.chunk.text)

    @cached_property
    def units(self) -> list[TextUnit]:
        return [unit for unit in split_units(self.chunk.text) if unit.kind != "heading"]

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(content_stems(plain(self.context)))

    @cached_property
    def facts(self) -> Facts:
        return read_facts(self.context)

    @cached_property
    def unit_stems(self) -> list[frozenset[str]]:
        return [frozenset(content_stems(plain(unit.text))) for unit in self.units]

    @cached_property
    def heading_stems(self) -> frozenset[str]:
        return frozenset(content_stems(plain("\n\n".join(self.headings))))

    @property
    def headings(self) -> list[str]:
        return [self.chunk.page.title, *self.chunk.section]

    @cached_property
    def words(self) -> list[str]:
        """The meaning words as they are spelled, each once."""
        return list(dict.fromkeys(content_words(self.context)))

    @cached_property
    def unit_facts(self) -> list[Facts]:
        return [read_facts(unit.text) for unit in self.units]

    def stems_of(self, unit: TextUnit) -> frozenset[str]:
        return self.unit_stems[self.units.index(unit)]

    @cached_property
    def polarities(self) -> list[Polarity]:
        return [read_polarity(one_line(unit)) for unit in self.units]

    @cached_property
    def language(self) -> str | None:
        return language_of(plain(self.chunk.text)) or self.chunk.page.language

    @cached_property
    def unit_literals(self) -> frozenset[str]:
        return frozenset(literal_words(unit.text) for unit in self.units)

    def holds(self, text: str) -> bool:
        """Whether these words are on the page to the letter, as whole words."""
        return re.search(rf"(?<!\w){re.escape(literal_words(text))}(?!\w)", self.literal) is not None


@lru_cache(maxsize=256)
def passage_of(chunk: Chunk) -> Passage:
    """The passage, from memory where it was cited lately: reading the facts of a page costs more than comparing them."""
    return Passage(chunk)


def literal_words(text: str) -> str:
    """For comparing to the letter: white space, quotation marks and emphasis may differ."""
    words = plain(text).translate(str.maketrans("“”„«»‘", '"""""\''))
    return " ".join(words.split()).strip(" .").casefold()
