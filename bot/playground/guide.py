"""Guides a newcomer to the playground: suggests five questions to try.

They are made of the loaded pages' own titles and headings, and are the same ones as long as the pages are the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kb.models import Chunk, Page
from kb.text.lexicon import Lexicon, languages, lexicon, words_of
from kb.text.question_words import ExampleQuestions
from kb.text.wording import stem

TOPIC_WORDS = 4
"""A heading of more words is rather a sentence than a topic."""
QUESTION_CHARACTERS = 80
_WORD = re.compile(r"[^\W\d_]+")
_CAPITALIZED_WITHIN = re.compile(r"(?<=[a-zà-ÿ,] )[A-ZÀ-Þ][a-zà-ÿ]+")
_TOPIC = re.compile(r"[^\W\d_][^\d:;?!/()&|<>*`\[\]]*")

_SELF = {"me", "my", "us", "our"}
"""Words by which a heading speaks of its author, so that it is nobody else's question."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggestion:
    """`follow_up`: it is asked in the thread of the question before it."""

    text: str
    kind: Literal["question", "follow_up", "unanswered"] = "question"


@dataclass(frozen=True, kw_only=True, slots=True)
class Guide:
    """What the page tells a newcomer.

    `model`: the one that writes the answers; None where the pages are quoted. `pages`: how many are indexed; None:
    unknown.
    """

    model: str | None = None
    pages: int | None = None
    questions: tuple[Suggestion, ...] = ()


AskGuide = Callable[[], Awaitable[Guide]]


@dataclass(frozen=True, slots=True)
class _Names:
    """The words that the pages write with a capital in the middle of a sentence."""

    names: frozenset[str]

    def within(self, topic: str, language: str) -> str:
        """Spells the topic as within a sentence; where a language quotes it, as it is."""
        if _lexicon(language).examples.quoted:
            return topic
        return _WORD.sub(lambda found: self._spell(found[0]), topic)

    def _spell(self, word: str) -> str:
        lower = word.lower()
        has_inner_capitals = word[1:] != lower[1:]  # TOGAF, MacBooks
        return word if has_inner_capitals or word in self.names else lower


@dataclass(kw_only=True, slots=True)
class _Outline:
    """A page and its headings, in order."""

    page: Page
    headings: list[str] = field(default_factory=list)

    @property
    def wording(self) -> ExampleQuestions:
        return _lexicon(self.page.language).examples

    def topics(self) -> list[str]:
        return [heading for heading in self.headings if self._is_topic(heading)]

    def title_as_topic(self) -> list[str]:
        return [self.page.title] if self._is_topic(self.page.title, words=1) else []

    def family(self) -> list[str]:
        """Returns topics that share a word with the page's title: they go on from one another."""
        title = {stem(word) for word in words_of(self.page.title) if len(word) > 3}
        return [topic for topic in self.topics() if title & {stem(word) for word in words_of(topic)}]

    def asked(self, names: _Names) -> Iterator[str]:
        """Yields questions that its headings ask, or answer by telling how to do something."""
        for heading in self.headings:
            if heading.endswith("?") and len(words_of(heading)) > 2 and len(heading) <= QUESTION_CHARACTERS:
                yield heading
        if not self.wording.how_to:
            return
        beginning, question = self.wording.how_to
        for heading in self.headings:
            tells_how = heading.lower().startswith(beginning) and _TOPIC.fullmatch(heading)
            if tells_how and not _SELF & {*words_of(heading)}:
                yield question.format(names.within(heading[len(beginning) :], self.page.language))

    def about(self, topic: str, names: _Names) -> str:
        return self.wording.about.format(names.within(topic, self.page.language))

    def _is_topic(self, heading: str, *, words: int = 2) -> bool:
        """Returns whether "about" can stand before it: a few words that are neither sentence nor question."""
        heard = words_of(heading)
        if not words <= len(heard) <= TOPIC_WORDS or not _TOPIC.fullmatch(heading):
            return False
        kinds = _lexicon(self.page.language).words
        return heard[0] not in kinds.question | kinds.conjunctions | kinds.articles | kinds.prepositions


def suggestions(passages: Sequence[Chunk]) -> tuple[Suggestion, ...]:
    """Suggests questions from public passages: five, fewer where the pages are few.

    The first is about a topic of a page, the second its follow-up about a neighbouring topic, the third a question that
    a heading asks, the fourth in the second language of the pages where there is one, the fifth what no page tells.
    """
    outlines = _outlines(passages)
    if not outlines:
        return ()
    names = _Names(
        frozenset(name for passage in passages for name in _CAPITALIZED_WITHIN.findall(passage.text))
    )
    by_language = Counter(outline.page.language for outline in outlines).most_common()
    first, *others = (language for language, _ in by_language)
    main = [outline for outline in outlines if outline.page.language == first]
    base, topic, next_topic = _pair(main)
    suggested = [Suggestion(text=base.about(topic, names))]
    if next_topic is not None:
        follow_up = base.wording.next.format(names.within(next_topic, base.page.language))
        suggested.append(Suggestion(text=follow_up, kind="follow_up"))
    rest = [outline for outline in main if outline is not base]
    second = [outline for outline in outlines if outline.page.language in others[:1]]
    taken: set[str] = set()
    for choice in (rest, second or rest):
        page_id, question = _question([outline for outline in choice if outline.page.id not in taken], names)
        if question and question not in {suggestion.text for suggestion in suggested}:
            taken.add(page_id)
            suggested.append(Suggestion(text=question))
    return (*suggested, *_unanswered(_lexicon(first).examples, passages))


def _outlines(passages: Sequence[Chunk]) -> list[_Outline]:
    """Outlines the pages that are in force, in the order of their paths."""
    outlines: dict[str, _Outline] = {}
    for passage in sorted(passages, key=lambda chunk: (chunk.page.path, chunk.page.id, chunk.position)):
        page = passage.page
        if page.superseded_by or page.successor or page.retired or page.dates.expires:
            continue
        outline = outlines.setdefault(page.id, _Outline(page=page))
        heading = passage.section[-1].strip() if passage.section else None
        if heading is not None and heading not in outline.headings:
            outline.headings.append(heading)
    return list(outlines.values())


def _pair(outlines: Sequence[_Outline]) -> tuple[_Outline, str, str | None]:
    """Returns a page, a topic of it and one that follows from that: two of a family, else the title and a part."""
    best = max(outlines, key=lambda outline: min(3, len(outline.family())))
    if len(topics := best.family()) > 1:
        return best, topics[0], topics[-1]
    for outline in outlines:
        if outline.topics() and outline.title_as_topic():
            return outline, outline.page.title, outline.topics()[0]
    first, *others = outlines
    return first, first.page.title, others[0].page.title if others else None


def _question(outlines: Sequence[_Outline], names: _Names) -> tuple[str, str]:
    """Returns the id of a page and a question: one that a heading asks, else one about a topic; else ("", "")."""
    for outline in outlines:
        for question in outline.asked(names):
            return outline.page.id, question
    for outline in outlines:
        for topic in (*outline.topics(), *outline.title_as_topic()):
            return outline.page.id, outline.about(topic, names)
    return "", ""


def _unanswered(wording: ExampleQuestions, passages: Sequence[Chunk]) -> Iterator[Suggestion]:
    """Yields the first question whose word, or a form of it, stands on no page."""
    written = {word for passage in passages for word in words_of(f"{passage.page.title} {passage.text}")}
    for word, question in wording.unanswered.items():
        if not any(other.startswith(word) for other in written if len(other) <= len(word) + 2):
            yield Suggestion(text=question, kind="unanswered")
            return


def _lexicon(language: str) -> Lexicon:
    return lexicon(language if language in languages() else "en")
