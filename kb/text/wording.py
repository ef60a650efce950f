"""The words of a text, for comparing a sentence with a passage: plain text, stems, and which words carry meaning.

Light on purpose: both sides go through the same stemmer, so that "employees" meets "employee" and
"Rückgaben" meets "Rückgabe". Stop words are those of the languages that have a file in `kb/languages`,
where they are no words of another; other languages are compared by all of their words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from kb.text.lexicon import spans_of, union

_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_URL = re.compile(r"<?https?://[^\s>|)]+>?")
_TAG = re.compile(r"<[^>\n]{1,80}>")
_MARKER = re.compile(r"^[^\S\n]*(?:[-*+•>]|\d{1,9}[.)]|#{1,6})\s+(?:\[[ xX]\]\s+)?", re.MULTILINE)
_EMPHASIS = re.compile(r"(\*\*|__|~~|`+|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w))")
_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu)['’](?=[^\W\d_]{2})", re.IGNORECASE)
"""French l', d', qu': a word of its own."""
_CJK = re.compile(r"[぀-ヿ㐀-鿿가-힯฀-๿]")
_SUFFIXES = ("ings", "ing", "edly", "ed", "ers", "er", "ies", "es", "en", "em", "e", "s", "n", "y")

STEM = 4
"""Letters that always stay of a word."""

STOP_WORDS = union(lambda lexicon: lexicon.words.stop)


def plain(text: str) -> str:
    """Returns Markdown without its marks: link texts stay, addresses and list markers go."""
    text = _LINK.sub(r"\1", text)
    text = _TAG.sub(" ", _URL.sub(" ", text))
    text = _EMPHASIS.sub("", _MARKER.sub("", text))
    return _ELISION.sub(" ", unicodedata.normalize("NFKC", text).replace("’", "'"))


def tokens(plain_text: str) -> list[str]:
    return [span.group() for span in spans_of(plain_text)]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Removes case, accents and the commonest endings, one after the other ("holidays" meets "holiday")."""
    folded = word.casefold() if word.isascii() else _without_accents(word)
    folded = folded.removesuffix("'s")
    while ending := _ending(folded):
        folded = folded.removesuffix(ending)
    return folded


def _ending(word: str) -> str:
    return next(
        (ending for ending in _SUFFIXES if word.endswith(ending) and len(word) - len(ending) >= STEM), ""
    )


def _without_accents(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def content_stems(plain_text: str) -> list[str]:
    """Stems of the words that carry meaning, numbers left out, in order. Scripts without spaces give letter pairs."""
    found: list[str] = []
    for token in tokens(plain_text):
        if _CJK.search(token):
            found.extend(token[index : index + 2] for index in range(max(1, len(token) - 1)))
        else:
            found.extend(
                stem(part)
                for part in token.split("-")
                if part.casefold() not in STOP_WORDS and not part[:1].isdigit() and len(part) > 1
            )
    return found
