"""A passage that is cited, as sentences are held against it: its words and facts, and those of its units."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from kb.citations.fact_quantities import LABEL, Quantity
from kb.citations.facts import Facts, join_facts, read_facts
from kb.models import Chunk
from kb.text.language import detect
from kb.text.sentences import TextUnit, split_units
from kb.text.wording import content_stems, plain

_NUMBERED = re.compile(r"^(?:[^\S\n]|#)*+(\d{1,3})[.)]\s", re.MULTILINE)
"""The number of a list item or of a heading: "Principle 11" may stand for "11. Protect data"."""


class Passage:
    """A passage, read once and only as far as it is needed.

    What the model is told beside the text counts as part of it: title, place, headings, owner, version and dates.
    """

    def __init__(self, chunk: Chunk) -> None:
        page = chunk.page
        dates = page.dates
        beside = [
            page.place,
            page.owner,
            page.version,
            dates.edited,
            dates.reviewed,
            dates.review_due,
            dates.expires,
        ]
        self.chunk = chunk
        self.headings = (page.title, *chunk.section)
        self.context = "\n\n".join([*self.headings, chunk.text, *(str(note) for note in beside if note)])

    @cached_property
    def literal(self) -> str:
        return literal_words(self.context)

    @cached_property
    def units(self) -> list[TextUnit]:
        return [unit for unit in split_units(self.chunk.text) if unit.kind != "heading"]

    @cached_property
    def unit_stems(self) -> list[frozenset[str]]:
        return [frozenset(content_stems(plain(unit.text))) for unit in self.units]

    @cached_property
    def unit_facts(self) -> list[Facts]:
        return [read_facts(unit.text) for unit in self.units]

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(content_stems(plain(self.context)))

    @cached_property
    def heading_stems(self) -> frozenset[str]:
        return frozenset(content_stems(plain("\n\n".join(self.headings))))

    @cached_property
    def facts(self) -> Facts:
        counted = {float(number) for number in _NUMBERED.findall(self.context)}
        numbers = (Quantity(readings=frozenset({number}), unit=LABEL) for number in counted)
        return join_facts([read_facts(self.context), Facts(quantities=tuple(numbers))])

    @cached_property
    def language(self) -> str:
        return detect(plain(self.chunk.text), hint=self.chunk.page.language)

    def holds(self, text: str) -> bool:
        """Tells whether these words stand here to the letter, as whole words."""
        return re.search(rf"(?<!\w){re.escape(literal_words(text))}(?!\w)", self.literal) is not None


@lru_cache(maxsize=256)
def passage_of(chunk: Chunk) -> Passage:
    """Returns the passage, from memory where it was cited lately: reading its facts costs more than comparing them."""
    return Passage(chunk)


def literal_words(text: str) -> str:
    """Prepares a text for comparing to the letter: white space, quotation marks and emphasis may differ."""
    words = plain(text).translate(str.maketrans("“”„«»‘", '"""""\''))
    return " ".join(words.split()).strip(" .").casefold()


def passage_head(chunk: Chunk) -> str:
    """Words what is known of a passage: title, place and section, how old its page is, whose, and what replaced it."""
    page, dates = chunk.page, chunk.page.dates
    known = [
        f"reviewed {dates.reviewed}" if dates.reviewed else f"edited {dates.edited}" if dates.edited else "",
        f"expires {dates.expires}" if dates.expires else "",
        f"owner: {page.owner}" if page.owner else "",
        f"replaced by {page.successor_title}" if page.successor_title else "",
    ]
    notes = "; ".join(note for note in known if note)
    head = " › ".join((page.heading, *chunk.section))
    return f"{head} ({notes})" if notes else head
