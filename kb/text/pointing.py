"""Whether a message asks nothing by itself and points at what stands above it: "do you know?", "^^", nothing at all."""

from __future__ import annotations

import re
from collections.abc import Collection

from kb.text.lexicon import Lexicon, languages, lexicon, words_of

LONGEST = 14
"""Words. Who says more says something."""

_CHATTER = re.compile(r"<[@#!][^>]*>|<?https?://\S+|:[a-z0-9_+\-]+:|[@#]\S+")


def points_above(text: str, *, names: Collection[str] = ()) -> bool:
    """Whether a whole message points. `names`: of those who wrote above, who may be named ("answer Bram, please")."""
    words = _words(text, names)
    if len(words) > LONGEST:
        return False
    return not words or any(_points_in(words, lexicon(language)) for language in languages())


def named_in(text: str, names: Collection[str]) -> set[str]:
    """Those of `names` whom a message names, whole or by the first name."""
    words = {word.removesuffix("'s").removesuffix("s'") for word in words_of(text.replace("-", " "))}
    return {name for name in names if words & _parts(name)}


def _words(text: str, names: Collection[str]) -> list[str]:
    parts = {part for name in names for part in _parts(name)}
    words = words_of(_CHATTER.sub(" ", text).replace("-", " "))  # "penses-tu"
    return [word for word in words if word.removesuffix("'s").removesuffix("s'") not in parts]


def _parts(name: str) -> set[str]:
    return {word for word in words_of(name.replace("-", " ")) if len(word) > 1}


def _points_in(words: list[str], lexicon: Lexicon) -> bool:
    pointing = lexicon.pointing
    if " ".join(words) in {phrase.replace("-", " ") for phrase in pointing.phrases}:
        return True
    whole = " ".join(words)
    if whole in lexicon.ellipsis.further + lexicon.ellipsis.more:
        return False
    if (
        whole in lexicon.small_talk.who_are_you and len(words) > 2
    ):  # "help me" asks for help with what stands there
        return False
    if any(word in lexicon.words.question and word not in pointing.asks for word in words):
        return False
    around = pointing.fillers | _polite(lexicon)
    return any(word in pointing.keys for word in words) and all(
        word in pointing.keys or word in around or not lexicon.is_content(word) for word in words
    )


def _polite(lexicon: Lexicon) -> frozenset[str]:
    talk = lexicon.small_talk
    phrases = talk.greeting + talk.thanks
    return talk.filler | frozenset(word for phrase in phrases for word in words_of(phrase))
