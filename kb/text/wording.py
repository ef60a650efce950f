"""The words of a text, for comparing a sentence with a passage: plain text, stems, and which words carry meaning.

Light on purpose: both sides go through the same stemmer, so that "employees" meets "employee" and "Rückgaben" meets
"Rückgabe". English, Dutch, German, Spanish and French have stop words here, those of the last two only where they are
no words of the others; other languages are compared by all of their words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal


def word_set(listed: str) -> frozenset[str]:
    """The words of a list that is written as one string, for its reader's sake."""
    return frozenset(listed.split())


KnownLanguage = Literal["en", "nl", "de", "es", "fr"]

_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_URL = re.compile(r"<?https?://[^\s>|)]+>?")
_TAG = re.compile(r"<[^>\n]{1,80}>")
_MARKER = re.compile(r"^[^\S\n]*(?:[-*+•>]|\d{1,9}[.)]|#{1,6})\s+(?:\[[ xX]\]\s+)?", re.MULTILINE)
_EMPHASIS = re.compile(r"(\*\*|__|~~|`+|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w))")
_TOKEN = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu)['’](?=[^\W\d_]{2})", re.IGNORECASE)
"""French l', d', qu': a word of its own."""
_CJK = re.compile(r"[぀-ヿ㐀-鿿가-힯฀-๿]")
_SUFFIXES = ("ings", "ing", "edly", "ed", "ers", "er", "ies", "es", "en", "em", "e", "s", "n", "y")

_STOP: dict[KnownLanguage, frozenset[str]] = {
    "en": word_set(
        "a an the of to in on at by for with from as and or but if then than that this these those it its they them "
        "their you your yours we our us he she his her i me my is are was were be been being am do does did has have "
        "had can could may might must shall should will would not no nor so such also too only just very there here "
        "who whom whose which what when where why how all any each both some into over under up out about per via "
        "get gets yes"
    ),
    "nl": word_set(
        "de het een en of van in op aan bij voor met naar uit te om als dat die dit deze er is zijn was waren wordt "
        "worden werd werden heeft hebben had kan kunnen mag mogen moet moeten zal zullen zou zouden niet geen ook nog "
        "maar dan dus je jij jouw u uw we wij ons onze ze zij hun hij haar ik mijn wat wie waar wanneer hoe welke alle "
        "elke per over onder door tot tegen zo al wel ja nee krijgt krijgen"
    ),
    "de": word_set(
        "der die das den dem des ein eine einen einem einer eines und oder von zu zum zur im in am an auf bei für mit "
        "nach aus um als dass ob es er sie wir ihr ich du man ist sind war waren wird werden wurde wurden hat haben "
        "hatte kann können darf dürfen muss müssen soll sollen will wollen nicht kein keine keinen auch noch aber dann "
        "so nur sich mein dein sein ihre ihren unser euer was wer wo wann wie welche alle jede jeder pro über unter "
        "durch bis gegen ja nein"
    ),
    "es": word_set(
        "el los las una unos unas del al lo le les se que por para con como su sus más muy ya pero también esta este "
        "estos estas está están hay ser sido fue eran tiene tienen cada cual donde cuando sobre entre hasta desde"
    ),
    "fr": word_set(
        "le les une aux avec pour par que qui se est sont être été dans ce cette ces sa ses il elle ils elles nous vous "
        "leur leurs ne mais aussi très sur chaque dont où quand entre depuis jusqu chez ont avait"
    ),
}
_SHARED: dict[KnownLanguage, frozenset[str]] = {
    "es": word_set("la de en un y es una o si no mes"),
    "fr": word_set("la de en un et du des on ou les pas plus si mes"),
}
"""Small words that are words of another language too: they tell the language together, and are no stop words."""
STOP_WORDS = frozenset().union(*_STOP.values())


def plain(text: str) -> str:
    """Markdown without its marks: link texts stay, addresses and list markers go."""
    text = _LINK.sub(r"\1", text)
    text = _TAG.sub(" ", _URL.sub(" ", text))
    text = _EMPHASIS.sub("", _MARKER.sub("", text))
    return _ELISION.sub(" ", unicodedata.normalize("NFKC", text).replace("’", "'"))


def tokens(plain_text: str) -> list[str]:
    return _TOKEN.findall(plain_text)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Case, accents and the commonest endings removed; four letters always stay."""
    folded = word.casefold() if word.isascii() else _without_accents(word)
    folded = folded.removesuffix("'s")
    for suffix in _SUFFIXES:
        if folded.endswith(suffix) and len(folded) - len(suffix) >= 4:
            return folded.removesuffix(suffix)
    return folded


def _without_accents(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def content_stems(plain_text: str) -> list[str]:
    """Stems of the words that carry meaning, numbers left out, in order. Scripts without spaces give letter pairs."""
    found: list[str] = []
    for token in tokens(plain_text):
        if _CJK.search(token):
            found.extend(token[at : at + 2] for at in range(max(1, len(token) - 1)))
        else:
            found.extend(
                stem(part)
                for part in token.split("-")
                if part.casefold() not in STOP_WORDS and not part[:1].isdigit() and len(part) > 1
            )
    return found


def language_of(plain_text: str) -> KnownLanguage | None:
    """The language whose stop words the text has most of; None where that is not clear."""
    words = [token.casefold() for token in tokens(plain_text)]
    counts = {
        code: sum(word in stop or word in _SHARED.get(code, ()) for word in words)
        for code, stop in _STOP.items()
    }
    best = max(counts, key=lambda code: counts[code])  # the first of equals: "de" and "en" alone are Dutch
    runner_up = max(count for code, count in counts.items() if code != best and code not in _SHARED)
    return best if counts[best] > runner_up else None
