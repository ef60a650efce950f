"""Which language a text is in: its script, its small words, and a statistical detector where those do not tell.

Short questions are decided by the function words of the language files ("en de prijs?" is Dutch) and by whole
phrases of small talk ("vielen Dank"): a statistical detector needs more text than that. Longer texts go to
py3langid; a short one in which no word is known goes there too, and where it is torn between all languages it
is asked about ours alone.
"""

from __future__ import annotations

import re
from functools import cache
from html import unescape

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from kb.text.lexicon import languages, lexicon, words_of
from kb.text.phrases import talk_languages

SHORT_TEXT = 60
"""Characters. The detector is right for 99 of 100 paragraphs in our languages and for 6 of 7 shorter questions."""
SAMPLE = 2000
"""Characters read of a long text."""
SURE = 0.6
"""Probability from which the detector is believed."""
SURE_OF_OURS = 0.9
"""Probability from which the detector is believed among the languages that have a file. Headings of half of a
multilingual guide: 470 of 509 are told without it, 493 with it; none of 4,791 English headings is lost. At
0.8 it tells three more, and loses two English ones.
"""

_CODE = re.compile(r"```.*?```|`[^`]*`|https?://\S+|<[^>\s][^>]*>|\]\([^)]*\)|[@#:]\S+", re.DOTALL)
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", re.compile(r"[\u3400-\u9fff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("bn", re.compile(r"[\u0980-\u09ff]")),
    ("ta", re.compile(r"[\u0b80-\u0bff]")),
    ("te", re.compile(r"[\u0c00-\u0c7f]")),
    ("ka", re.compile(r"[\u10a0-\u10ff]")),
    ("hy", re.compile(r"[\u0530-\u058f]")),
)
"""Scripts that tell the language. Cyrillic, Arabic and Devanagari are shared and go to the detector."""
_LATIN = re.compile(r"[a-zà-ÿ]", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")


def detect(text: str, *, default: str = "en", hint: str | None = None) -> str:
    """Returns the ISO 639-1 code of a text's language; `default` where nothing tells.

    `hint` is what the language probably is (the thread's): it decides where the evidence is even.
    """
    plain = unescape(_CODE.sub(" ", text[: SAMPLE * 2]))[:SAMPLE]
    letters = _LETTER.findall(plain)
    if not letters:
        return hint or default
    by_script = _by_script(plain, len(letters))
    if by_script is not None:
        return by_script
    if len(plain.strip()) >= SHORT_TEXT or not _LATIN.search(plain):
        return _by_statistics(plain) or hint or default
    leaders = _greeters(plain, default) or _leaders(plain)
    if len(leaders) == 1:
        return leaders[0]
    if hint is not None and (hint in leaders or not leaders):
        return hint
    return leaders[0] if leaders else _by_statistics(plain) or _among_ours(plain) or default


def is_told(text: str, language: str) -> bool:
    """Whether `language`, as `detect` found it, is more than its default, English."""
    return language != "en" or detect(text, default="") == language


def warm_up() -> None:
    """Loads the detector and the languages' words (about a second of CPU), so that no question waits for them."""
    _identifier()
    for language in languages():
        _small_words(language)


def _by_script(text: str, letters: int) -> str | None:
    for language, script in _SCRIPTS:
        if len(script.findall(text)) * 5 >= letters:
            return language
    return None


def _leaders(text: str) -> list[str]:
    """Returns the languages that know most words of a short text, the likeliest first; none where none is known."""
    words = words_of(text)
    counts = {language: sum(word in _small_words(language) for word in words) for language in languages()}
    most = max(counts.values(), default=0)
    leaders = [language for language, count in counts.items() if count == most and most]
    return _likeliest_first(leaders, text)


def _greeters(text: str, default: str) -> list[str]:
    """Returns the languages in which a whole text is small talk, the likeliest first: "hi" is said in several."""
    spoken = talk_languages(text)
    return sorted(_likeliest_first(spoken, text), key=lambda language: language != default)


def _likeliest_first(candidates: list[str], text: str) -> list[str]:
    if len(candidates) < 2:
        return candidates
    likely = {language: rank for rank, (language, _) in enumerate(_identifier().rank(text))}
    return sorted(candidates, key=lambda language: likely.get(language, len(likely)))


@cache
def _small_words(language: str) -> frozenset[str]:
    words = lexicon(language)
    return words.function_words | words.words.common


def _by_statistics(text: str) -> str | None:
    language, probability = _identifier().classify(text)
    return str(language) if probability >= SURE or not _LATIN.search(text) else None


def _among_ours(text: str) -> str | None:
    """Returns a language that has a file, where the detector is sure that it is one of them."""
    ranked = [
        (language, probability)
        for language, probability in _identifier().rank(text)
        if language in languages()
    ]
    best, probability = ranked[0]
    return str(best) if probability >= SURE_OF_OURS * sum(share for _, share in ranked) else None


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
