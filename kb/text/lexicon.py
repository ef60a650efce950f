"""What Footnote knows about a language: its reference words, openers, small talk, sequences and patterns.

All of it is data in `kb/languages/*.toml`; a language without a file gets an empty lexicon, and whatever does not
depend on words still works for it. `en.toml` explains the fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import groupby
from operator import itemgetter

from pydantic import model_validator

from kb.text.author_words import DateWords, FrontMatterWords, InjectionWords, NoticeWords
from kb.text.figure_words import FigureWords
from kb.text.language_files import language_file, languages
from kb.text.measure_words import MeasureWords, SentenceWords
from kb.text.question_words import (
    Ellipsis,
    ExampleQuestions,
    PartWords,
    PointingWords,
    ReferenceWords,
    RewritingPatterns,
    SequenceWords,
    SmallTalk,
    WordClasses,
)
from kb.text.speaking_words import SpeakingWords
from kb.text.word_lists import LexiconPart, Words

__all__ = [
    "Lexicon",
    "any_of",
    "by_name",
    "languages",
    "lexicon",
    "lexicons",
    "spans_of",
    "starts_with_phrase",
    "union",
    "words_of",
]

READ_TEXTS = 256
"""Texts whose words are cached: the rules that read a question ask for the words of each turn a hundred times."""

_WORD = re.compile(r"(?:[cdjlmnst]|qu)(?=['’][^\W_]{2,})|[^\W_]+(?:['’.\-][^\W_]+)*", re.IGNORECASE)
"""A French elision (l', d', qu') is a word of its own."""
SPACELESS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Scripts that put no space between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


class Lexicon(LexiconPart):
    language: str
    name: str = ""
    words: WordClasses = WordClasses()
    reference: ReferenceWords = ReferenceWords()
    ellipsis: Ellipsis = Ellipsis()
    small_talk: SmallTalk = SmallTalk()
    speaking: SpeakingWords = SpeakingWords()
    pointing: PointingWords = PointingWords()
    sequence: SequenceWords = SequenceWords()
    rewriting: RewritingPatterns = RewritingPatterns()
    parts: PartWords = PartWords()
    sentences: SentenceWords = SentenceWords()
    measures: MeasureWords = MeasureWords()
    scopes: Mapping[str, Mapping[str, Words]] = {}
    """Class -> member -> its words: see `kb.conflicts.scopes`."""
    figures: FigureWords = FigureWords()
    examples: ExampleQuestions = ExampleQuestions()
    dates: DateWords = DateWords()
    front_matter: FrontMatterWords = FrontMatterWords()
    notices: NoticeWords = NoticeWords()
    injections: InjectionWords = InjectionWords()

    @model_validator(mode="after")
    def _longest_phrases_first(self) -> Lexicon:
        for part, names in ((self.ellipsis, ("openers", "shifts")), (self.sequence, ("next", "previous"))):
            for name in names:
                ordered = tuple(sorted(getattr(part, name), key=len, reverse=True))
                object.__setattr__(part, name, ordered)
        return self

    @cached_property
    def local_phrases(self) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)(?:{any_of(self.reference.local)})(?!\w)", re.IGNORECASE)

    @cached_property
    def sequence_words(self) -> frozenset[str]:
        """Words that a resolved step in a series replaces."""
        words = self.sequence
        phrases = words.next + words.previous + words.first + words.last + words.ordinals + words.numbers
        return words.units | frozenset(word for phrase in phrases for word in words_of(phrase))

    @cached_property
    def spelling_by_letter(self) -> dict[str, frozenset[str]]:
        """Returns the words that a slip may be corrected to, by their first letter."""
        letters = {word[0] for word in self.spelling_targets}
        return {letter: frozenset(w for w in self.spelling_targets if w[0] == letter) for letter in letters}

    @cached_property
    def references(self) -> frozenset[str]:
        return self.reference.things | self.reference.people

    @cached_property
    def function_words(self) -> frozenset[str]:
        """Words that carry no topic."""
        words, reference = self.words, self.reference
        classes = (words.articles, words.possessives, words.question, words.auxiliaries, words.prepositions)
        return words.function.union(*classes, self.references, reference.more, reference.places)

    @cached_property
    def known_words(self) -> frozenset[str]:
        """Returns every word that the language file holds: right as it is written."""
        return self.spelling_targets | self.words.lookalikes

    @cached_property
    def spelling_targets(self) -> frozenset[str]:
        """Returns the words that a slip may be corrected to."""
        talk, ellipsis, sequence = self.small_talk, self.ellipsis, self.sequence
        phrases = (
            *(
                talk.greeting
                + talk.thanks
                + talk.goodbye
                + talk.who_are_you
                + talk.acknowledgements
                + talk.asking
            ),
            *(ellipsis.openers + ellipsis.more + ellipsis.further + ellipsis.shifts),
            *(sequence.next + sequence.previous + sequence.first + sequence.last),
            *(sequence.numbers + sequence.ordinals + sequence.weekdays + sequence.months),
        )
        from_phrases = {word for phrase in phrases for word in words_of(phrase)}
        singles = self.words.common | talk.filler | ellipsis.unclear
        return self.function_words | from_phrases | singles | self.sequence.units

    def is_content(self, word: str) -> bool:
        return word.casefold() not in self.function_words

    def content_of(self, text: str) -> list[str]:
        """Returns the content words of a text, lower case, in order."""
        return [word for word in words_of(text) if word not in self.function_words]


def words_of(text: str) -> list[str]:
    """Returns the words of a text, lower case, with straight apostrophes."""
    return list(_words(text))


@lru_cache(maxsize=READ_TEXTS)
def _words(text: str) -> tuple[str, ...]:
    return tuple(match.group().replace("’", "'").casefold() for match in _WORD.finditer(text))


def spans_of(text: str) -> list[re.Match[str]]:
    """Returns the words of a text where they stand."""
    return list(_WORD.finditer(text))


def starts_with_phrase(words: list[str], phrases: tuple[str, ...]) -> int:
    """Returns how many words the longest phrase takes that `words` begin with; 0 for none."""
    return max((len(parts) for parts in _split(phrases) if words[: len(parts)] == parts), default=0)


@cache
def _split(phrases: tuple[str, ...]) -> list[list[str]]:
    return [words_of(phrase) for phrase in phrases]


def any_of(phrases: Iterable[str]) -> str:
    """Returns a regular expression for any of the phrases, the longest that fits; for none it never matches.

    Phrases share their beginnings, so that a hundred of them are not tried one by one at each place of a text.
    """
    return _sharing_beginnings(sorted(set(phrases))) or r"(?!)"


def _sharing_beginnings(phrases: Sequence[str]) -> str:
    """Joins sorted phrases into a pattern that shares beginnings. An empty one, another's end, comes first."""
    groups = groupby(filter(None, phrases), key=itemgetter(0))
    branches = [
        f"{re.escape(first)}{_sharing_beginnings([phrase[1:] for phrase in group])}"
        for first, group in groups
    ]
    if len(branches) == 1 and phrases[0]:
        return branches[0]
    return f"(?:{'|'.join(branches)}){'' if phrases[0] else '?'}" if branches else ""


@cache
def lexicon(language: str) -> Lexicon:
    """Returns the lexicon of an ISO 639-1 language; an empty one where there is no file for it."""
    if language not in languages():
        return Lexicon(language=language)
    return Lexicon.model_validate({"language": language, **language_file(language)})


def lexicons() -> tuple[Lexicon, ...]:
    """Returns the lexicon of every language that has a file."""
    return tuple(lexicon(language) for language in languages())


def union(words: Callable[[Lexicon], Iterable[str]]) -> frozenset[str]:
    """Unites the words of one kind of all languages."""
    return frozenset(word for lexicon in lexicons() for word in words(lexicon))


def by_name(listed: Callable[[Lexicon], Mapping[str, Iterable[str]]]) -> dict[str, str]:
    """Maps words to the name that they are listed under, for all languages."""
    return {word: name for lexicon in lexicons() for name, words in listed(lexicon).items() for word in words}
