"""How one language asks, points back, counts on and chats, as its file
in `kb/languages` has it; `en.toml` explains the fields.
"""

from __future__ import annotations

from collections.abc import Mapping

from kb.text.word_lists import NONE, LexiconPart, OrderedWords, Patterns, Words


class WordClasses(LexiconPart):
    articles: Words = NONE
    definite: Words = NONE
    indefinite: Words = NONE
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
    stop: Words = NONE
    """Words that carry no meaning when a sentence is compared with a passage: see `kb.text.wording`."""
    capital_nouns: bool = False
    """Whether every noun has a capital, so that one tells no name."""
    capital_months: bool = False
    """Whether months have one, so that "march" is another word."""
    first_person: Words = NONE
    """Who acts where somebody tells what happened: "and we went home"."""


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
    """Those of them that are additions only at the end: "too", which before another word is its degree."""
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
    filler: Words = NONE
    acknowledgements: tuple[str, ...] = ()
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
    """Words that make, behind a question word, a clause that asks nothing: "when I leave"."""
    choosing: Words = NONE
    """Question words that choose among what was named before: "and which are paid?"."""
    finite: Words = NONE
    """Auxiliaries that can only open a question, not go on with the clause before: "and are contractors covered?"."""
    inverted: Words = NONE
    """Question words behind which the auxiliary comes before the subject: "when do I leave"."""


class ExampleQuestions(LexiconPart):
    """Questions to try, which are made of a page's headings; {} is a heading."""

    about: str = ""
    next: str = ""
    quoted: bool = False
    """Whether the heading is quoted, for it would be inflected."""
    how_to: tuple[str, ...] = ()
    """What a heading that tells how to do something begins with, and the question; () where headings do not."""
    unanswered: Mapping[str, str] = {}
    """Questions that hardly any page answers, by the word that would have to stand on one that does."""
