"""What Footnote knows about a language: its reference words, openers, small talk, sequences and patterns.

All of it is data in `kb/languages/*.toml`; a language without a file gets an empty lexicon, and whatever does not
depend on words still works for it. `en.toml` explains the fields.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from importlib.resources import files

from pydantic import model_validator

from kb.text.figure_words import FigureWords
from kb.text.speaking_words import SpeakingWords
from kb.text.word_lists import NONE, LexiconPart, OrderedWords, Patterns, Words

_WORD = re.compile(r"(?:[cdjlmnst]|qu)(?=['’][^\W_]{2,})|[^\W_]+(?:['’.\-][^\W_]+)*", re.IGNORECASE)
"""A French elision (l', d', qu') is a word of its own."""
SPACELESS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Scripts that put no space between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


class WordClasses(LexiconPart):
    articles: Words = NONE
    definite: Words = NONE
    possessives: Words = NONE
    question: Words = NONE
    auxiliaries: Words = NONE
    copulas: Words = NONE
    """Forms of "to be" and "to mean"."""
    prepositions: Words = NONE
    conjunctions: Words = NONE
    """Words that open a clause inside a question: what one before them names, a pronoun behind them may mean."""
    speakers: Words = NONE
    """Who speaks and is spoken to, and "not": a clause that was cut wrongly, in what should be a thing."""
    function: Words = NONE
    common: Words = NONE
    """Frequent content words, known to the spelling corrector."""
    lookalikes: Words = NONE
    """Real words that are one slip away from a function word: never corrected."""


class ReferenceWords(LexiconPart):
    """Words that point back into the thread."""

    things: Words = NONE
    people: Words = NONE
    plural: Words = NONE
    possessive: Words = NONE
    relative: Words = NONE
    """Also relative pronouns or conjunctions: not a reference after a content word and before a clause."""
    ambiguous: Words = NONE
    """Also articles, possessives or adverbs: a reference only where no content word follows."""
    nouns: Words = NONE
    """Nouns that mean what is being read: "the article"."""
    determiners: Words = NONE
    """Reference words that may have their noun behind them: "this policy"."""
    adverbs: Mapping[str, str] = {}
    """Reference words that hold a preposition, and which: "daarover" is "over" something."""
    places: Words = NONE
    places_before: Words = NONE
    """Prepositions before places and things, seldom before a person."""
    more: Words = NONE
    """Additions to something in the thread: "also", "another"."""
    more_at_end: Words = NONE
    """Of these, the ones that are additions only at the end: "too", which before another word is its degree."""
    exclusions: Words = NONE
    """Words behind which a question names what it wants more of: "other awards than the Oscar"."""
    local: tuple[str, ...] = ()
    """Phrases whose reference word points at nothing in the thread: "this week"."""
    expletive: Patterns = ()


class Ellipsis(LexiconPart):
    openers: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    """Whole questions that lean on the answer before: an example of it, a summary, more."""
    further: tuple[str, ...] = ()
    """Whole questions that ask for what was not said yet."""
    about: Words = NONE
    """What may stand between such a question and a word that points back: "tell me more about it"."""
    shifts: tuple[str, ...] = ()
    """Beginnings that leave the topic."""
    unclear: Words = NONE
    """Single words that say too little to be searched alone."""


class SmallTalk(LexiconPart):
    greeting: tuple[str, ...] = ()
    thanks: tuple[str, ...] = ()
    goodbye: tuple[str, ...] = ()
    who_are_you: tuple[str, ...] = ()
    padding: Words = NONE
    remarks: tuple[str, ...] = ()
    """What people say in a thread without asking anything."""
    asking: tuple[str, ...] = ()
    """Beginnings of a request."""


class PointingWords(LexiconPart):
    """How people point at what somebody else asked: "do you know?", "can you answer this?"."""

    keys: Words = NONE
    """Words of which one says that something above is to be answered, weighed or confirmed."""
    fillers: Words = NONE
    """Words that may stand beside them, besides the function words."""
    asks: Words = NONE
    """Question words with which they still point; with another ("how do I know?") they ask something of their own."""
    phrases: tuple[str, ...] = ()
    """Whole messages that point."""


class SequenceWords(LexiconPart):
    units: Words = NONE
    next: tuple[str, ...] = ()
    previous: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    ones: Words = NONE
    numbers: OrderedWords = ()
    ordinals: OrderedWords = ()
    weekdays: OrderedWords = ()
    months: OrderedWords = ()


class RewritingPatterns(LexiconPart):
    """Templates with {attribute}, {focus}, {question} and {action}; an empty one is not used."""

    attribute: str = ""
    attribute_plural: str = ""
    about: str = ""
    of: str = ""
    """For "what are the benefits?", without its mark: "{question} of {focus}"."""
    attributes: Words = NONE
    """Nouns that belong to some thing: "the price" is asked of it. Other nouns with "the" are things by themselves."""
    measures: Patterns = ()
    """A measure before its thing, `np`: "days of study leave". A single thing pointed at is the thing, not its days."""
    modifiers: Words = NONE
    """Adjectives that tell one of a kind from another: "and for a senior?" after "a junior engineer"."""
    modifier_first: bool = True
    action: str = ""
    possessive: str = ""
    plural_endings: tuple[str, ...] = ()
    singular_endings: tuple[str, ...] = ()
    do_it: tuple[str, ...] = ()
    """What stands for an action: "do that"."""
    dangling: tuple[str, ...] = ()
    """An "it" that stands for an action which can be added at the end: "how long does it take (to ...)"."""
    agreement: tuple[tuple[str, str], ...] = ()
    """Pattern with {focus} and its replacement, applied when a plural took the place of a singular."""
    contractions: tuple[tuple[str, str], ...] = ()
    """Patterns of what grows together behind `of`, and what it becomes: "de el" -> "del"."""
    owning: Words = NONE
    """Verbs whose object is the topic: in "do you sell laptops" it is the laptops."""
    subjects: Patterns = ()


class PartWords(LexiconPart):
    """How a question that asks several things is put together."""

    joins: tuple[str, ...] = ()
    """Between two questions: "and"."""
    mark: str = "{question}?"
    """A clause as a question of its own."""
    clause_subjects: Words = NONE
    """Behind a question word they make a clause that asks nothing: "when I leave"."""
    choosing: Words = NONE
    """Question words that choose among what was named before: "and which are paid?"."""
    finite: Words = NONE
    """Auxiliaries that can only open a question, not go on with the clause before: "and are contractors covered?"."""
    inverted: Words = NONE
    """Question words behind which the auxiliary comes before the subject: "when do I leave"."""


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
    figures: FigureWords = FigureWords()

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
        """The words that a slip may be corrected to, by their first letter."""
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
        """Every word that the language file holds: right as it is written."""
        return self.spelling_targets | self.words.lookalikes

    @cached_property
    def spelling_targets(self) -> frozenset[str]:
        """The words that a slip may be corrected to."""
        talk, ellipsis, sequence = self.small_talk, self.ellipsis, self.sequence
        phrases = (
            *(talk.greeting + talk.thanks + talk.goodbye + talk.who_are_you + talk.remarks + talk.asking),
            *(ellipsis.openers + ellipsis.more + ellipsis.further + ellipsis.shifts),
            *(sequence.next + sequence.previous + sequence.first + sequence.last),
            *(sequence.numbers + sequence.ordinals + sequence.weekdays + sequence.months),
        )
        from_phrases = {word for phrase in phrases for word in words_of(phrase)}
        singles = self.words.common | talk.padding | ellipsis.unclear
        return self.function_words | from_phrases | singles | self.sequence.units

    def is_content(self, word: str) -> bool:
        return word.casefold() not in self.function_words

    def content_of(self, text: str) -> list[str]:
        """The content words of a text, lower case, in order."""
        return [word for word in words_of(text) if word not in self.function_words]


def words_of(text: str) -> list[str]:
    """The words of a text, lower case, with straight apostrophes."""
    return [match.group().replace("’", "'").casefold() for match in _WORD.finditer(text)]


def spans_of(text: str) -> list[re.Match[str]]:
    """The words of a text where they stand."""
    return list(_WORD.finditer(text))


def starts_with_phrase(words: list[str], phrases: tuple[str, ...]) -> int:
    """How many words the longest phrase takes that `words` begin with; 0 for none."""
    return max((len(parts) for parts in _split(phrases) if words[: len(parts)] == parts), default=0)


@cache
def _split(phrases: tuple[str, ...]) -> list[list[str]]:
    return [words_of(phrase) for phrase in phrases]


def any_of(phrases: Iterable[str]) -> str:
    """A regular expression for any of the phrases, the longest first; for none it never matches."""
    return "|".join(sorted((re.escape(phrase) for phrase in phrases), key=len, reverse=True)) or r"(?!)"


@cache
def lexicon(language: str) -> Lexicon:
    """The lexicon of an ISO 639-1 language; an empty one where there is no file for it."""
    if language not in languages():
        return Lexicon(language=language)
    text = files("kb").joinpath("languages", f"{language}.toml").read_text(encoding="utf-8")
    return Lexicon.model_validate({"language": language, **tomllib.loads(text)})


@cache
def languages() -> tuple[str, ...]:
    """The languages that have a file, sorted."""
    names = (entry.name for entry in files("kb").joinpath("languages").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))
