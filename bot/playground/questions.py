"""Five questions to try, made of the loaded pages' own titles and
headings: the same ones as long as the pages are the same.

The first is about a topic of a page, the second its follow-up about a neighbouring topic, the third a question that a
heading asks, the fourth in the second language of the pages where there is one, the fifth what no page tells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
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
_LARGE_WITHIN = re.compile(r"(?<=[a-zà-ÿ,] )[A-ZÀ-Þ][a-zà-ÿ]+")
_TOPIC = re.compile(r"[^\W\d_][^\d:;?!/()&|<>*`\[\]]*")

_SELF = {"me", "my", "us", "our"}
"""A heading that speaks of its author is nobody else's question."""

Kind = Literal["question", "follow_up", "unanswered"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggestion:
    """`follow_up`: it is asked in the thread of the question before it."""

    text: str
    kind: Kind = "question"


@dataclass(kw_only=True, slots=True)
class _PageRead:
    page: Page
    headings: dict[str, None] = field(default_factory=dict)
    """In the page's order; a dict for the sake of that."""

    @property
    def wording(self) -> ExampleQuestions:
        return _known(self.page.language).examples

    def topics(self) -> list[str]:
        return [heading for heading in self.headings if _is_topic(heading, self.page.language)]

    def family(self) -> list[str]:
        """Topics that share a word with the page's title: they go on from one another."""
        title = {stem(word) for word in words_of(self.page.title) if len(word) > 3}
        return [topic for topic in self.topics() if title & {stem(word) for word in words_of(topic)}]

    def asked(self, spelling: _Spelling) -> Iterator[str]:
        """Questions that its headings ask, or answer by telling how to do something."""
        for heading in self.headings:
            if heading.endswith("?") and len(words_of(heading)) > 2 and len(heading) <= QUESTION_CHARACTERS:
                yield heading
        if not self.wording.how_to:
            return
        begins, form = self.wording.how_to
        for heading in self.headings:
            if (
                heading.lower().startswith(begins)
                and _TOPIC.fullmatch(heading)
                and not _SELF & {*words_of(heading)}
            ):
                yield form.format(spelling.within(heading[len(begins) :], self.page.language))


def suggestions(passages: Sequence[Chunk]) -> tuple[Suggestion, ...]:
    """Suggests questions from public passages: five, fewer where the pages are few."""
    pages = _read(passages)
    if not pages:
        return ()
    spelling = _spelling(passages)
    spoken = [language for language, _ in Counter(read.page.language for read in pages).most_common()]
    ours = [read for read in pages if read.page.language == spoken[0]]
    base, first, then = _pair(ours)
    found = [Suggestion(text=base.wording.about.format(spelling.within(first, base.page.language)))]
    if then is not None:
        found.append(
            Suggestion(
                text=base.wording.next.format(spelling.within(then, base.page.language)), kind="follow_up"
            )
        )
    others = [read for read in ours if read is not base]
    second = [read for read in pages if read.page.language in spoken[1:2]]
    taken: set[str] = set()
    for choice in (others, second or others):
        one = _question(choice, spelling, without=taken)
        if one is not None and one[1] not in {other.text for other in found}:
            taken.add(one[0])
            found.append(Suggestion(text=one[1]))
    return (*found, *_unanswered(_known(spoken[0]).examples, passages))


def _read(passages: Sequence[Chunk]) -> list[_PageRead]:
    """The pages that are in force, by their place, each with its headings in order."""
    pages: dict[str, _PageRead] = {}
    for passage in sorted(passages, key=lambda chunk: (chunk.page.path, chunk.page.id, chunk.position)):
        page = passage.page
        if page.superseded_by or page.successor or page.retired or page.dates.expires:
            continue
        read = pages.setdefault(page.id, _PageRead(page=page))
        if passage.section:
            read.headings.setdefault(passage.section[-1].strip())
    return list(pages.values())


def _pair(pages: Sequence[_PageRead]) -> tuple[_PageRead, str, str | None]:
    """A page, a topic of it and one that follows from that: best two of one family, else the page and a part of it."""
    families = sorted(pages, key=lambda read: -min(3, len(read.family())))
    best = families[0]
    if len(best.family()) > 1:
        topics = best.family()
        return best, topics[0], topics[-1]
    for read in pages:
        if read.topics() and _is_topic(read.page.title, read.page.language, words=1):
            return read, read.page.title, read.topics()[0]
    other = next((read.page.title for read in pages if read is not pages[0]), None)
    return pages[0], pages[0].page.title, other


def _question(
    pages: Sequence[_PageRead], spelling: _Spelling, *, without: set[str]
) -> tuple[str, str] | None:
    """The page (by its id) and the question: one that a heading asks, else one about a topic."""
    left = [read for read in pages if read.page.id not in without]
    for read in left:
        for question in read.asked(spelling):
            return read.page.id, question
    for read in left:
        title = [read.page.title] if _is_topic(read.page.title, read.page.language, words=1) else []
        for topic in (*read.topics(), *title):
            return read.page.id, read.wording.about.format(spelling.within(topic, read.page.language))
    return None


def _unanswered(wording: ExampleQuestions, passages: Sequence[Chunk]) -> Iterator[Suggestion]:
    told = {word for passage in passages for word in words_of(f"{passage.page.title} {passage.text}")}
    for word, question in wording.unanswered.items():
        if not any(one.startswith(word) for one in told if len(one) <= len(word) + 2):
            yield Suggestion(text=question, kind="unanswered")
            return


def _is_topic(heading: str, language: str, *, words: int = 2) -> bool:
    """Whether one can say "about" before it: a few words that are no sentence and no question."""
    said = words_of(heading)
    if not words <= len(said) <= TOPIC_WORDS or not _TOPIC.fullmatch(heading):
        return False
    known = _known(language).words
    return said[0] not in known.question | known.conjunctions | known.articles | known.prepositions


@dataclass(frozen=True, slots=True)
class _Spelling:
    """Which words the pages write large in the middle of a sentence: those are names."""

    large: frozenset[str]

    def within(self, topic: str, language: str) -> str:
        """The topic as it stands within a sentence; where it is quoted, as it is."""
        if _known(language).examples.quoted:
            return topic
        return _WORD.sub(lambda found: self._word(found[0]), topic)

    def _word(self, word: str) -> str:
        small = word.lower()
        if word[1:] != small[1:]:  # TOGAF, MacBooks
            return word
        return word if word in self.large else small


def _spelling(passages: Sequence[Chunk]) -> _Spelling:
    return _Spelling(frozenset(word for passage in passages for word in _LARGE_WITHIN.findall(passage.text)))


def _known(language: str) -> Lexicon:
    return lexicon(language if language in languages() else "en")
