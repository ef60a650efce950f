"""One sentence that somebody says to others: whether it asks, tells or names something, and whom it speaks to. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from kb.text.lexicon import SPACELESS, Lexicon, languages, lexicon, starts_with_phrase, words_of
from kb.text.wording import stem

PHRASE = 12
"""Words of a bare phrase, without anybody who acts: longer ones tell something."""
CHOICE = 8
"""Words of a reply that picks one of what we offered."""
INFLECTED = 5
"""Letters from which the last one of an ordinal is an ending: "segundo", "segunda"."""

_ENDS = re.compile(r"(?<=[.!?？！。…])\s+|(?<=[？！。])|\n+")
_ASKS = re.compile(r"[?？؟]")
_ASKS_WITHOUT_MARK = re.compile(r"(?:ですか|ますか|でしょうか|ましょうか|吗|嗎|呢|까요|나요)[。.\s]*$")
_CALLED = re.compile(r"^(?P<name>[A-ZÀ-Þ][^\W\d_]+(?: [A-ZÀ-Þ][^\W\d_]+)?)\s*[,:]\s")
"""A name in front, with its comma: "Bob, ..."."""


def sentences_of(text: str, lexicon: Lexicon, names: Collection[str]) -> list[SpokenSentence]:
    """Splits a text into sentences and drops those that say no more than "ok, thanks"."""
    sentences = [
        SpokenSentence.of(part, lexicon, names) for part in _ENDS.split(text.strip()) if part.strip()
    ]
    return [sentence for sentence in sentences if sentence.words or sentence.to_named]


@dataclass(frozen=True, kw_only=True, slots=True)
class SpokenSentence:
    """A sentence in a thread.

    `whole` are its words, `text` those without "ok, thanks" in front, and `words` those without its opener ("and") too,
    where it `leans`. `names` holds the words of people's names that are no words of a language.
    """

    lexicon: Lexicon
    whole: str
    text: str
    words: Sequence[str]
    marked: bool
    opened: Sequence[str]
    last_clause: Sequence[str]
    to_named: bool
    names: Collection[str]

    @classmethod
    def of(cls, sentence: str, lexicon: Lexicon, names: Collection[str]) -> SpokenSentence:
        marked = bool(_ASKS.search(sentence) or _ASKS_WITHOUT_MARK.search(sentence.strip()))
        spoken = words_of(sentence)
        words = _without_talk(spoken, lexicon)
        taken = starts_with_phrase(words, lexicon.ellipsis.openers)
        rest = words[taken:]
        return cls(
            lexicon=lexicon,
            whole=" ".join(spoken),
            text=" ".join(words),
            words=rest or (words if marked else []),
            marked=marked,
            opened=words[:taken],
            last_clause=words_of(sentence.rsplit(",", 1)[-1]),
            to_named=_is_called(sentence, spoken, words, lexicon, names),
            names=names,
        )

    @property
    def leans(self) -> bool:
        return bool(self.opened)

    @property
    def asks(self) -> bool:
        """Whether it wants to be answered."""
        speaking, talk, ellipsis = self.lexicon.speaking, self.lexicon.small_talk, self.lexicon.ellipsis
        if self._is_one_of(speaking.rhetorical):
            return False
        if self.marked or self._is_one_of(talk.who_are_you + ellipsis.more + ellipsis.further):
            return True
        words = self.lexicon.words
        if not words.question.isdisjoint(self.opened) or self._begins_inverted:
            return True
        if self._matches(speaking.statements):
            return False
        rest = list(self.words)
        if starts_with_phrase(rest, talk.asking + speaking.asking):
            return len(rest) > 1
        if not words.question.isdisjoint(rest[:1]) or self._ends_asking:
            return True
        if self._matches(speaking.inverted):
            return True
        short = len(rest) <= PHRASE // 2 and not self.tells
        if short and (
            not words.question.isdisjoint(rest[1:2]) or not speaking.alternatives.isdisjoint(rest[1:-1])
        ):
            return True  # "until when", "before or after tax"
        if not short:
            return False
        if self.leans:
            return self._has_content or len(rest) > 1
        return self._has_content and rest[0] in speaking.concerning and len(rest) <= CHOICE // 2

    @property
    def _begins_inverted(self) -> bool:
        """Whether it begins inverted, its opener included: "and if I move twice"."""
        return self.leans and _matches_any(self.lexicon.speaking.inverted, self.whole)

    @property
    def _ends_asking(self) -> bool:
        """ "The office is closed now, who instead"."""
        clause = " ".join(self.last_clause)
        return (
            self.last_clause != words_of(self.whole)
            and len(self.last_clause) > 1
            and self.last_clause[0] in self.lexicon.words.question
            and not _matches_any(self.lexicon.speaking.statements, clause)
        )

    @property
    def is_tag(self) -> bool:
        """Whether it is a statement that only ends like a question: "that's generous, right?"."""
        words = list(self.words)
        tags = map(words_of, self.lexicon.speaking.tags)
        length = next((len(tag) for tag in tags if words[-len(tag) :] == tag), 0)
        rest = words[:-length]
        if not self.marked or not length or not rest:
            return False
        statement = " ".join(rest)
        asks = rest[0] in self.lexicon.words.question
        return not asks and not _matches_any(self.lexicon.speaking.inverted, statement)

    @property
    def wonders(self) -> bool:
        """Whether it asks everybody who reads: "does anyone know how ..."."""
        asked = self.lexicon.words.question | self.lexicon.words.conjunctions
        return any(
            word in self.lexicon.speaking.knowing and following in asked
            for word, following in pairwise(self.words)
        )

    @property
    def to_group(self) -> bool:
        return self._matches(self.lexicon.speaking.groups)

    @property
    def to_person(self) -> bool:
        """Whether it says "you" to a person, or makes plans: nobody asks a knowledge base so."""
        named = not set(self.names).isdisjoint(self.words)
        return (named and self.marked) or self._matches(self.lexicon.speaking.persons)

    @property
    def is_small(self) -> bool:
        if any(SPACELESS.search(word) for word in self.words):
            return sum(map(len, self.words)) < 3 * 2
        if self._matches(self.lexicon.speaking.events):
            return True
        return not self.leans and (len(self.words) < 3 or not self._has_content)

    @property
    def corrects(self) -> bool:
        """Whether it names what was meant: "I meant contractors", and not "I mean, that's a lot"."""
        return self._names_behind(self.lexicon.speaking.meaning) or (self._is_denial and not self.marked)

    @property
    def wishes(self) -> bool:
        """ "I need the price list": an answer, where we asked."""
        return self._names_behind(self.lexicon.speaking.wishes)

    def _names_behind(self, beginnings: tuple[str, ...]) -> bool:
        """Whether it, or its last clause, begins so and then names a thing."""
        for words in (self.words, self.last_clause):
            taken = starts_with_phrase(list(words), beginnings)
            named = " ".join(words[taken:])
            content = any(self.lexicon.is_content(word) for word in words[taken:])
            if taken and content and not _matches_any(self.lexicon.speaking.statements, named):
                return True
        return False

    @property
    def _is_denial(self) -> bool:
        """ "No, for contractors"."""
        denies = self.whole.split(" ")[0] in self.lexicon.speaking.denials and self.text != self.whole
        return denies and self._has_content and len(self.words) <= CHOICE and not self._is_told

    @property
    def tells(self) -> bool:
        """Whether it is a statement: "I'll ask Carol", "we have that already"."""
        return self._is_told and not self.corrects

    @property
    def _is_told(self) -> bool:
        actors = self.lexicon.speaking.actors
        acting = any(word in actors or word.split("'")[0] in actors for word in self.words)
        return acting or self._matches(self.lexicon.speaking.statements)

    @property
    def is_bare(self) -> bool:
        """Whether it names a thing: "Leave policy", "the guest wifi", "for contractors"."""
        if self.corrects or self.wishes:
            return True
        return self._has_content and len(self.words) <= PHRASE and not self.tells

    def chooses(self, offered: Collection[str]) -> bool:
        """Whether it picks what was offered. `offered`: stems of the words of our question."""
        if self.corrects:
            return True
        if self.tells or len(self.words) > CHOICE:
            return False
        sequence = self.lexicon.sequence
        picking = {*sequence.first, *sequence.last, *sequence.numbers, *self.lexicon.speaking.choices}
        places = tuple(word[:-1] for word in sequence.ordinals if len(word) >= INFLECTED)
        picked = any(word in picking or word.isdecimal() or word.startswith(places) for word in self.words)
        return (picked and len(self.words) <= CHOICE // 2 + 1) or not self.stems.isdisjoint(offered)

    def _matches(self, patterns: Sequence[re.Pattern[str]]) -> bool:
        """Whether a pattern is in it, as it stands or behind its opener."""
        return any(_matches_any(patterns, text) for text in {self.whole, self.text, " ".join(self.words)})

    def _is_one_of(self, phrases: tuple[str, ...]) -> bool:
        words = words_of(self.text)
        return bool(words) and starts_with_phrase(words, phrases) == len(words)

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(stem(word) for word in self.words if self.lexicon.is_content(word))

    @property
    def _has_content(self) -> bool:
        return any(self.lexicon.is_content(word) for word in self.words)


def _matches_any(patterns: Sequence[re.Pattern[str]], text: str) -> bool:
    return any(pattern.search(text) for pattern in patterns)


def _without_talk(words: list[str], lexicon: Lexicon) -> list[str]:
    """Drops what is said in front of a matter; [] where there is nothing else."""
    rest, talk, speaking = words, lexicon.small_talk, lexicon.speaking
    pleasantries = (
        talk.greeting + talk.thanks + talk.goodbye + talk.acknowledgements + speaking.acknowledgements
    )
    matters = lexicon.ellipsis.openers + lexicon.ellipsis.more + talk.asking + speaking.asking
    while rest:
        taken = starts_with_phrase(rest, pleasantries)
        if not taken and rest != words and set(rest) <= talk.filler:
            return []
        if not taken and rest[0] in speaking.sounds:
            taken = 1
        if not taken or taken < starts_with_phrase(rest, matters):
            return rest
        rest = rest[taken:]
    return []


def _is_called(
    sentence: str, words: Sequence[str], rest: Sequence[str], lexicon: Lexicon, names: Collection[str]
) -> bool:
    """Whether it is said to somebody by name, in front or at the end: "Bob, can you ...?", "is that right, bob?"."""
    if words and set(names) & {words[0], words[-1], *rest[:1]}:
        return True
    name = _CALLED.match(sentence.strip())
    return name is not None and not any(
        word in ordinary_words() or not lexicon.is_content(word) for word in words_of(name["name"])
    )


@cache
def ordinary_words() -> frozenset[str]:
    """Returns every word that a language file knows, which is no name."""
    return frozenset().union(
        *(lexicon.known_words | _speaking_words(lexicon) for lexicon in map(lexicon, languages()))
    )


def _speaking_words(lexicon: Lexicon) -> frozenset[str]:
    speaking = lexicon.speaking
    phrases = speaking.acknowledgements + speaking.asking + speaking.rhetorical + speaking.meaning
    return speaking.sounds | {word for phrase in phrases for word in words_of(phrase)}
