"""What kind of message a text is, before anything is searched: small talk, something to answer, or nothing but "it"."""

from __future__ import annotations

import re
from functools import cache

from kb.answer import SmallTalk
from kb.text.lexicon import Lexicon, languages, lexicon, lexicons, starts_with_phrase, union, words_of

LONGEST_TALK = 10
"""Words. Nobody greets at greater length; a longer message says something."""

_CHATTER = re.compile(r"<[@#!][^>]*>|<?https?://\S+|:[a-z0-9_+\-]+:|[@#]\S+")
_ASKS = re.compile(r"[?？¿؟]")


def small_talk(text: str, language: str) -> SmallTalk | None:
    """The kind of small talk that a whole message is; None as soon as it says anything else."""
    words = words_of(_CHATTER.sub(" ", text))
    if not words or len(words) > LONGEST_TALK:
        return None
    candidates = dict.fromkeys((language, "en"))
    for candidate in candidates:
        kind = _talk(words, lexicon(candidate))
        if kind is not None:
            return kind
    return None


def talk_languages(text: str) -> list[str]:
    """The languages in which a whole message is small talk."""
    words = words_of(_CHATTER.sub(" ", text))
    if not words or len(words) > LONGEST_TALK:
        return []
    return [language for language in languages() if _talk(words, lexicon(language)) is not None]


def asks_something(text: str) -> bool:
    """Whether a reply in a thread, without a mention, wants an answer from the knowledge base."""
    plain = _CHATTER.sub(" ", text)
    words = words_of(plain)
    everywhere = lexicons()
    if not words or any(_talk(words, lexicon) not in (None, "who_are_you") for lexicon in everywhere):
        return False
    if any(_asks_in(words, lexicon) for lexicon in everywhere):
        return True
    acknowledged = max(_acknowledged(words, lexicon) for lexicon in everywhere)
    return acknowledged < len(words) and _ASKS.search(plain) is not None


def is_empty_reference(text: str, language: str | None = None) -> bool:
    """Whether a question has nothing but words that point back ("what about it?"): without a thread it says nothing."""
    words = words_of(_CHATTER.sub(" ", text))
    candidates = languages() if language not in languages() else (language,)
    return bool(words) and any(_points_only(words, lexicon(candidate)) for candidate in candidates)


def _points_only(words: list[str], lexicon: Lexicon) -> bool:
    if " ".join(words) in lexicon.ellipsis.more + lexicon.ellipsis.further:
        return True
    pointing = lexicon.references | lexicon.reference.more
    opened = starts_with_phrase(words, lexicon.ellipsis.openers)
    return not any(lexicon.is_content(word) for word in words) and (
        opened > 0 or any(word in pointing for word in words)
    )


def _talk(words: list[str], lexicon: Lexicon) -> SmallTalk | None:
    """Strips phrases of small talk from the left until nothing is left; the most telling kind wins."""
    talk = lexicon.small_talk
    kinds: tuple[tuple[SmallTalk, tuple[str, ...]], ...] = (
        ("who_are_you", talk.who_are_you),
        ("thanks", talk.thanks),
        ("goodbye", talk.goodbye),
        ("greeting", talk.greeting),
    )
    found: list[SmallTalk] = []
    while words:
        taken, kind = max(
            ((starts_with_phrase(words, phrases), kind) for kind, phrases in kinds), key=lambda one: one[0]
        )
        if not taken and starts_with_phrase(words, talk.acknowledgements):
            taken = starts_with_phrase(words, talk.acknowledgements)
        elif taken:
            found.append(kind)
        elif words[0] in talk.filler and found:
            taken = 1
        else:
            return None
        words = words[taken:]
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
    """ "and the price": an opener and a bare thing. "and we went home" has a person who acts."""
    acting = _first_persons() | lexicon.words.auxiliaries
    return 0 < len(rest) <= 4 and acting.isdisjoint(rest)


@cache
def _first_persons() -> frozenset[str]:
    return union(lambda lexicon: lexicon.words.first_person)
