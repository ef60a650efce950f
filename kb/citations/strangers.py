"""Words of a sentence that its passages do not have in any form: what it may have of its own.

A noun that the page has no word for is what an invention or a confusion brings in ("the finance director" for the
team lead); verbs and small words change with every paraphrase.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from kb.citations.fact_words import MONTHS, NUMBER_WORDS, ORDINALS, RATE_WORDS, SEASONS, UNITS, WEEKDAYS
from kb.citations.polarity_words import EXCEPT, MODAL, NEGATORS, ONLY
from kb.citations.synonyms import is_noun, same_word, says
from kb.text.wording import STOP_WORDS, plain, stem, tokens, word_set

_SMALL = word_set(
    "after again ahead along already although always anyone anybody anything around away back because before beforehand "
    "behind below between beyond both cannot during else enough even ever every everybody everyone everything except few "
    "first following further halfway however immediately in instead itself last later latest least less long longer "
    "many maximum minimum more most much must nearly next now off often once one ones otherwise part people person "
    "perhaps prior quite rather same several since somebody someone something soon still such thing things through "
    "throughout together total until upon usually via well whenever wherever whether while within yet way ways kind "
    "case example amount number result time times end start beginning "
    "aim goal purpose reason obligation requirement rule condition possibility option choice change fact matter point "
    "morning afternoon evening noon midnight quarter quarters half halves fortnight "
    "advance am pm maximal onder ander andere anders alleen alles altijd beide daarna daarvoor eerst eigen elk eerder enkele "
    "gehele gelden geldt helemaal hele hoeven iedereen iemand iets indien later leidt liggen maximaal meer meteen mits na "
    "nodig omdat ongeveer op overal pas samen sinds slechts steeds tegelijk tenzij terug tevens toe tussen uiterlijk "
    "uitsluitend vanaf vanuit verder vooraf voordat waarin wanneer weer wel wie zodat zodra zelf zonder zulke staan horen "
    "aantal deel geval keer moment plaats tijd mensen men "
    "alles allein anders außerdem bereits besonders bevor dabei dafür danach dann dazu deren dies dieser dieses diese "
    "diesem etwa erst etwas falls ganz gegenüber gibt höchstens immer innerhalb insgesamt je jedoch jeweils jemand "
    "künftig maximal mehr mindestens nachdem neu ohne selbst sobald sofern sofort sonst sowie spätestens stets stehen steht "
    "seit trotzdem vor vorab vorher weil weiter weitere wenn während wieder ab bzw damit anzahl fall zeit teil leute "
    "mensch menschen person personen höhe "
    "antes después durante entre hasta siempre también todo todos toda todas otro otra otros otras mismo misma cada hay "
    "avant après pendant entre jusque toujours aussi tout tous toute toutes autre autres même chaque faut peut"
)
_DETERMINERS = word_set(
    "a an the your their our its his her this that each every any no another of by via "
    "de het een in op via met van voor naar bij elke deze dit die je jouw uw hun zijn door uit aan "
    "el la los las un una del al con por su sus para le les une du des aux dans avec par sur son sa ses"
)
"""What stands before a noun, or before the word before it."""
_BEGINS_WITH_NOUN = frozenset({"nl", "es", "fr"})
_VERBS = word_set(
    "is zijn wordt worden mag mogen kan kunnen moet moeten heeft hebben krijgt krijgen "
    "es son está están puede pueden debe deben tiene tienen se est sont peut peuvent doit doivent a ont"
)
"""Verbs that follow a noun at the beginning: "Konijnen zijn welkom"."""
_NOT_STRANGE = frozenset().union(
    *(_SMALL, MONTHS, NUMBER_WORDS, ORDINALS, RATE_WORDS, SEASONS, UNITS, WEEKDAYS, EXCEPT, NEGATORS, ONLY)
)
_LONGEST_ACRONYM = 6
_CONTRACTED = re.compile(r"\w+n't|\w+'(?:ll|re|ve|d|m)", re.IGNORECASE)


def content_words(text: str) -> list[str]:
    """The words that carry meaning, as they are spelled; parts of joined words by themselves."""
    return [
        part
        for token in tokens(plain(text))
        if not _CONTRACTED.fullmatch(token)
        for part in _parts(token)
        if len(part) > 1 and part[:1].isalpha() and part.casefold() not in STOP_WORDS
    ]


def strangers(text: str, page: Sequence[str], language: str | None) -> list[str]:
    """The meaning words of `text` that no word of `page` has the sense of."""
    stems = frozenset(stem(word) for word in page)
    return [word for word in content_words(text) if not _is_known(word, page, stems, language)]


def _is_known(word: str, page: Sequence[str], stems: frozenset[str], language: str | None) -> bool:
    mine = stem(word)
    if word.casefold() in _NOT_STRANGE or mine in MODAL or mine in stems:
        return True
    if word.isupper() and len(word) <= _LONGEST_ACRONYM:
        return True  # a name: `kb.citations.fact_names` looks for what it is short for
    if any(same_word(mine, other) for other in stems):
        return True
    return language == "en" and any(says(word, other) for other in page)


def nouns_among(words: Sequence[str], text: str, language: str | None) -> list[str]:
    """Those that are nouns: by WordNet, by their capital in German, by the word before them elsewhere."""
    if language == "en":
        placed = _nouns_by_place(text, language)
        kinds = {word: is_noun(word) for word in words}
        return [
            word
            for word, kind in kinds.items()
            if kind == "mostly" or (kind == "sometimes" and word in placed)
        ]
    return [word for word in words if word in _nouns_by_place(text, language)]


@lru_cache(maxsize=256)
def _nouns_by_place(text: str, language: str | None) -> frozenset[str]:
    found = tokens(plain(text))
    if language == "de":
        return frozenset(part for token in found for part in _parts(token) if part[:1].isupper())
    placed = (token for at, token in enumerate(found) if _is_placed(found, at, language))
    return frozenset(part for token in placed for part in _parts(token))


def _is_placed(found: Sequence[str], at: int, language: str | None) -> bool:
    """Whether it is the last of what follows a determiner: "the team lead", "de dure auto"."""
    if at == 0 and language in _BEGINS_WITH_NOUN:
        return len(found) > 1 and found[1].casefold() in _VERBS
    before, last = ["", "", *(word.casefold() for word in found)][at : at + 2]
    sure = language in ("es", "fr") or (
        language == "nl" and last in ("de", "het") and not found[at].endswith("e")
    )
    if sure and last in _DETERMINERS:
        return True  # an adjective follows its noun, or has an e
    if at + 1 < len(found) and found[at + 1].casefold() not in STOP_WORDS:
        return False
    if last in _DETERMINERS:
        return True
    between = last not in STOP_WORDS and (language == "en" or (language == "nl" and last.endswith("e")))
    return between and before in _DETERMINERS


def _parts(token: str) -> list[str]:
    return re.split(r"[-.]", token)
