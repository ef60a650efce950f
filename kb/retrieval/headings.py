"""The knowledge base's own headings, as questions whose answers are known: their sections.

A passage is embedded with its heading path in front, so that a heading finds its section by
its own words. `unheaded` is the passage as it would be under a section without a heading.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from kb.index.port import StoredPassage
from kb.models import Chunk
from kb.retrieval.lexical import UNSPACED

_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Heading:
    """A heading and the passages of its section that are in the sample, by their place there."""

    text: str
    page: str
    section: tuple[str, ...]
    language: str
    own: tuple[int, ...]

    def holds(self, chunk: Chunk) -> bool:
        return (chunk.page.id, chunk.section) == (self.page, self.section)


def headings_of(sample: Sequence[StoredPassage], limit: int) -> list[Heading]:
    """Returns at most `limit`, spread over the pages: the first of each page, then the second of each, and so on.

    A page without sections goes by its title. Headings that several pages have ("Overview") say nothing of what stands
    below, nor do those of one word.
    """
    own: dict[tuple[str, tuple[str, ...]], list[int]] = defaultdict(list)
    for index, passage in enumerate(sample):
        own[passage.chunk.page.id, passage.chunk.section].append(index)
    sectioned = {page for page, section in own if section}
    by_page: dict[str, list[Heading]] = defaultdict(list)
    for (page, section), places in own.items():
        first = sample[places[0]].chunk
        if section or page not in sectioned:
            text = section[-1] if section else first.page.title
            by_page[page].append(
                Heading(
                    text=text,
                    page=page,
                    section=section,
                    language=first.page.language,
                    own=tuple(places),
                )
            )
    pages_with = Counter(
        text for of_page in by_page.values() for text in {heading.text.casefold() for heading in of_page}
    )
    telling = [
        [heading for heading in of_page if pages_with[heading.text.casefold()] == 1 and _tells(heading)]
        for of_page in by_page.values()
    ]
    rows = zip_longest(*telling)
    return [heading for row in rows for heading in row if heading is not None][:limit]


def _tells(heading: Heading) -> bool:
    words = _WORD.findall(heading.text)
    return len(words) > 1 or (heading.language in UNSPACED and len(heading.text) > 3)


def unheaded(chunk: Chunk) -> str:
    """The text that is embedded, without the heading that stands right over the passage."""
    above = (chunk.page.heading, *chunk.section[:-1]) if chunk.section else ()
    return "\n".join([" › ".join(above), chunk.text]) if above else chunk.text
