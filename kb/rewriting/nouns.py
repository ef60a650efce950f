"""Nouns with "the" that a question does not explain: "what is the price?", "did the album win any awards?"."""

from __future__ import annotations

import re
from itertools import pairwise, takewhile

from kb.text.lexicon import Lexicon, spans_of

FEW = 4
"""Content words. A question with more of them says by itself what its nouns are about."""


def bare_noun_reasons(
    text: str, content: list[str], lexicon: Lexicon, thread_words: frozenset[str]
) -> list[str]:
    """Finds a definite noun that nothing qualifies, or that the thread introduced: "What is the price?"."""
    spans = spans_of(text)
    for index, (article, noun) in enumerate(pairwise(spans)):
        word = noun.group().casefold()
        if article.group().casefold() not in lexicon.words.definite or not lexicon.is_content(word):
            continue
        if _is_qualified(spans[index + 1 :], lexicon, predicated=not _asks_what_it_is(spans, lexicon)):
            continue
        known = word in thread_words and not _named(spans[1:], lexicon)
        if len(content) == 1 or known or word in lexicon.reference.nouns:
            return [f"definite noun {word!r}"]
    return []


def known_noun_hints(text: str, lexicon: Lexicon, thread_words: frozenset[str]) -> list[str]:
    """Finds a noun of the thread: "Did the album win any awards?" does not say which album.

    A question with a name, or with many words, says it in some other way.
    """
    spans = spans_of(text)
    if _named(spans[1:], lexicon) or len(lexicon.content_of(text)) > FEW:
        return []
    for index, article in enumerate(spans):
        if article.group().casefold() not in lexicon.words.definite:
            continue
        run = list(takewhile(lambda span: lexicon.is_content(span.group()), spans[index + 1 :]))
        behind = [span.group().casefold() for span in spans[index + 1 + len(run) :][:2]]
        phrase = (
            len(behind) == 2 and behind[0] in lexicon.words.prepositions and lexicon.is_content(behind[1])
        )
        known = [span.group().casefold() for span in run if span.group().casefold() in thread_words]
        if known and not phrase:
            return [f"{known[-1]!r} is known to the thread"]
    return []


def _named(spans: list[re.Match[str]], lexicon: Lexicon) -> bool:
    """Whether a word has a capital; German gives one to every noun, so there it tells nothing."""
    return not lexicon.words.capital_nouns and any(span.group()[0].isupper() for span in spans)


def _asks_what_it_is(spans: list[re.Match[str]], lexicon: Lexicon) -> bool:
    """Whether a question ends in a noun ("how large was the army"), not a predicate ("was the tour successful")."""
    words = [span.group().casefold() for span in spans[:3]]
    return words[0] in lexicon.words.question and any(word in lexicon.words.copulas for word in words[1:])


def _is_qualified(noun: list[re.Match[str]], lexicon: Lexicon, *, predicated: bool) -> bool:
    """Whether it is a name, or a second noun or a phrase follows: "the query API", "the price of delivery"."""
    behind = [span.group().casefold() for span in noun[1:3]]
    compound = bool(behind) and lexicon.is_content(behind[0]) and not behind[0].endswith("ed")
    phrase = len(behind) == 2 and behind[0] in lexicon.words.prepositions and lexicon.is_content(behind[1])
    return _named(noun[:2], lexicon) or phrase or (compound and (len(noun) > 2 or not predicated))
