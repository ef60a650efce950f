"""Tells what kind of message a text is, before anything is searched.

small talk ("thanks!")                                            -> `small_talk`
something to answer                                               -> `asks_something`
nothing but words that point back ("what about it?")              -> `is_empty_reference`
it points at what others wrote above ("do you know?", "^^", "")   -> `points_above`
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from kb.answer import SmallTalk
from kb.text.lexicon import Lexicon, languages, lexicon, lexicons, starts_with_phrase, union, words_of

LONGEST_TALK = 10
"""Words. Nobody greets at greater length; a longer message says something."""
LONGEST_POINTING = 14
"""Words of a message that only points above."""

_CHATTER = re.compile(r"<[@#!][^>]*>|<?https?://\S+|:[a-z0-9_+\-]+:|[@#]\S+")
_ASKS = re.compile(r"[?？¿؟]")


def small_talk(text: str, language: str) -> SmallTalk | None:
    """Returns the kind of small talk that a whole message is; None as soon as it says anything else."""
    words = words_of(_CHATTER.sub(" ", text))
    if not words or len(words) > LONGEST_TALK:
        return None
    return _talk(words, lexicon(language)) or _talk(words, lexicon("en"))


def talk_languages(text: str) -> list[str]:
    """Returns the languages in which a whole message is small talk."""
    words = words_of(_CHATTER.sub(" ", text))
    if not words or len(words) > LONGEST_TALK:
        return []
    return [language for language in languages() if _talk(words, lexicon(language)) is not None]


def asks_something(text: str) -> bool:
    """Whether a reply in a thread, without a mention, wants an answer from the knowledge base."""
    plain = _CHATTER.sub(" ", text)
    words = words_of(plain)
    if not words or any(_talk(words, lexicon) not in (None, "who_are_you") for lexicon in lexicons()):
        return False
    if any(_asks_in(words, lexicon) for lexicon in lexicons()):
        return True
    acknowledged = max(_acknowledged(words, lexicon) for lexicon in lexicons())
    return acknowledged < len(words) and _ASKS.search(plain) is not None


def is_empty_reference(text: str, language: str | None = None) -> bool:
    """Whether a question has nothing but words that point back ("what about it?"): without a thread it says nothing."""
    words = words_of(_CHATTER.sub(" ", text))
    candidates = languages() if language not in languages() else (language,)
    return bool(words) and any(_points_only(words, lexicon(candidate)) for candidate in candidates)


def points_above(text: str, *, names: Collection[str] = ()) -> bool:
    """Whether a whole message points. `names`: of those who wrote above, who may be named ("answer Bram, please")."""
    words = _words_without(names, text)
    if len(words) > LONGEST_POINTING:
        return False
    return not words or any(_points_in(words, lexicon) for lexicon in lexicons())


def named_in(text: str, names: Collection[str]) -> set[str]:
    """Returns those of `names` whom a message names, whole or by the first name."""
    words = {word.removesuffix("'s").removesuffix("s'") for word in words_of(text.replace("-", " "))}
    return {name for name in names if words & _parts(name)}


def _points_only(words: list[str], lexicon: Lexicon) -> bool:
    if " ".join(words) in lexicon.ellipsis.more + lexicon.ellipsis.further:
        return True
    pointing = lexicon.references | lexicon.reference.more
    opened = starts_with_phrase(words, lexicon.ellipsis.openers)
    points = opened > 0 or any(word in pointing for word in words)
    return points and not any(lexicon.is_content(word) for word in words)


def _talk(words: list[str], lexicon: Lexicon) -> SmallTalk | None:
    """Strips phrases of small talk from the left until nothing is left; the most telling kind wins."""
    talk = lexicon.small_talk
    kinds: tuple[tuple[SmallTalk, tuple[str, ...]], ...] = (
        ("who_are_you", talk.who_are_you),
        ("thanks", talk.thanks),
        ("goodbye", talk.goodbye),
        ("greeting", talk.greeting),
    )
    found: set[SmallTalk] = set()
    while words:
        taken = {kind: starts_with_phrase(words, phrases) for kind, phrases in kinds}
        longest = max(taken, key=lambda kind: taken[kind])
        length = taken[longest]
        if length:
            found.add(longest)
        else:
            length = _acknowledged(words, lexicon) or bool(found and words[0] in talk.filler)
        if not length:
            return None
        words = words[length:]
    return next((kind for kind, _ in kinds if kind in found), None)


def _acknowledged(words: list[str], lexicon: Lexicon) -> int:
    return starts_with_phrase(words, lexicon.small_talk.acknowledgements)


def _asks_in(words: list[str], lexicon: Lexicon) -> bool:
    if " ".join(words) in lexicon.small_talk.who_are_you or " ".join(words) in lexicon.ellipsis.more:
        return bool(words)
    words = words[_acknowledged(words, lexicon) :]
    taken = starts_with_phrase(words, lexicon.ellipsis.openers)
    rest = words[taken:]
    if starts_with_phrase(rest, lexicon.small_talk.asking) or (rest and rest[0] in lexicon.words.question):
        return True
    return bool(taken) and _is_ellipsis(rest, lexicon)


def _is_ellipsis(rest: list[str], lexicon: Lexicon) -> bool:
    """Whether an opener is followed by a bare thing: "and the price". "And we went home" has a person who acts."""
    acting = _first_persons() | lexicon.words.auxiliaries
    return 0 < len(rest) <= 4 and acting.isdisjoint(rest)


@cache
def _first_persons() -> frozenset[str]:
    return union(lambda lexicon: lexicon.words.first_person)


def _words_without(names: Collection[str], text: str) -> list[str]:
    parts = {part for name in names for part in _parts(name)}
    words = words_of(_CHATTER.sub(" ", text).replace("-", " "))  # "penses-tu"
    return [word for word in words if word.removesuffix("'s").removesuffix("s'") not in parts]


def _parts(name: str) -> set[str]:
    return {word for word in words_of(name.replace("-", " ")) if len(word) > 1}


def _points_in(words: list[str], lexicon: Lexicon) -> bool:
    pointing = lexicon.pointing
    whole = " ".join(words)
    if whole in {phrase.replace("-", " ") for phrase in pointing.phrases}:
        return True
    if whole in lexicon.ellipsis.further + lexicon.ellipsis.more:
        return False
    if (
        whole in lexicon.small_talk.who_are_you and len(words) > 2
    ):  # "help me" asks for help with what is above
        return False
    if any(word in lexicon.words.question and word not in pointing.asks for word in words):
        return False
    allowed = pointing.keys | pointing.fillers | _polite(lexicon)
    return not pointing.keys.isdisjoint(words) and all(
        word in allowed or not lexicon.is_content(word) for word in words
    )


def _polite(lexicon: Lexicon) -> frozenset[str]:
    talk = lexicon.small_talk
    phrases = talk.greeting + talk.thanks
    return talk.filler | frozenset(word for phrase in phrases for word in words_of(phrase))
