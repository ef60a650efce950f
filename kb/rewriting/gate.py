"""Whether a question leans on its thread, and how. Costs microseconds: no model, no search.

A signal that is certain (a reference word, an ellipsis, no subject) makes a question dependent. A topic shift drops
the thread unless a reference word follows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from kb.lexicon import Lexicon, spans_of, starts_with_phrase, words_of

SHORT = 3
"""Words. At this length a question without a verb has no room for its subject (requirement B1)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """How a question leans on its thread.

    `opener` are the words of an ellipsis ("what about"), `rest` what follows it. `signals` name why the question is
    dependent, none when it stands alone. `pointers` are the offsets in `text` of words that point back.
    """

    text: str
    opener: str = ""
    rest: str = ""
    signals: tuple[str, ...] = ()
    pointers: tuple[int, ...] = ()
    shift: bool = False

    @property
    def dependent(self) -> bool:
        return bool(self.signals)


def read_question(text: str, lexicon: Lexicon, *, thread_words: frozenset[str] = frozenset()) -> Reading:
    """Reads a question for signs that it needs its thread. `thread_words` are the content words of the last exchange."""
    words = words_of(text)
    shifted = starts_with_phrase(words, lexicon.ellipsis.shifts)
    body = _after(text, shifted)
    pointers = _pointers(text, lexicon, start=len(text) - len(body))
    pointing = [f"reference word {words_of(text[at:])[0]!r}" for at in pointers]
    if shifted:
        return Reading(text=text, rest=body, signals=tuple(pointing), pointers=pointers, shift=True)
    taken = starts_with_phrase(words, lexicon.ellipsis.openers)
    rest = _after(text, taken)
    opener = " ".join(words[:taken])
    signals = [
        *pointing,
        *_ellipsis_signals(opener, rest, lexicon),
        *_addition_signals(rest or text, lexicon),
        *_subject_signals(rest or text, lexicon, thread_words),
    ]
    return Reading(text=text, opener=opener, rest=rest, signals=tuple(signals), pointers=pointers)


def _after(text: str, words: int) -> str:
    spans = spans_of(text)
    return text[spans[words].start() :] if 0 < words < len(spans) else ("" if words else text)


def _pointers(text: str, lexicon: Lexicon, *, start: int) -> tuple[int, ...]:
    """Where words stand that point out of the question."""
    lower = text.casefold().replace("’", "'")
    if any(pattern.search(lower) for pattern in lexicon.reference.expletive):
        return ()
    covered = [match.span() for phrase in lexicon.reference.local for match in _whole(phrase, lower)]
    spans = spans_of(text)
    words = [span.group().replace("’", "'").casefold() for span in spans]
    found = []
    for at, (span, word) in enumerate(zip(spans, words, strict=True)):
        if word not in lexicon.references or span.start() < start:
            continue
        if any(begin <= span.start() < end for begin, end in covered):
            continue
        if not _points_inside(at, words, spans, lexicon):
            found.append(span.start())
    return tuple(found)


def _whole(phrase: str, text: str) -> list[re.Match[str]]:
    return list(re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", text))


def _points_inside(at: int, words: list[str], spans: list[re.Match[str]], lexicon: Lexicon) -> bool:
    """Whether the word at `at` is no reference, or refers to something that the question itself names."""
    word = words[at]
    before = words[at - 1] if at else ""
    after = words[at + 1 :]
    if word in lexicon.reference.relative and before and lexicon.is_content(before) and len(after) > 1:
        return True
    if word in lexicon.reference.ambiguous and after and lexicon.is_content(after[0]):
        return not _ends_like_a_verb(at, words, lexicon)
    return _has_antecedent(at, words, spans, lexicon)


def _ends_like_a_verb(at: int, words: list[str], lexicon: Lexicon) -> bool:
    """Dutch and German put the verb last: in "hoe dik moet ik dat leggen" the last word is no noun of "dat"."""
    modal_before = any(word in lexicon.words.auxiliaries for word in words[:at])
    subject_before = bool(at) and words[at - 1] in lexicon.words.function
    return modal_before and subject_before and at + 2 == len(words)


def _has_antecedent(at: int, words: list[str], spans: list[re.Match[str]], lexicon: Lexicon) -> bool:
    """An earlier clause of three content words, or a name earlier in the question, is what the word refers to."""
    clause = any("," in spans[i].string[spans[i].end() : spans[i + 1].start()] for i in range(at))
    content = [i for i in range(at) if lexicon.is_content(words[i])]
    if clause and len(content) >= SHORT:
        return True
    return any(i > 0 and spans[i].group()[0].isupper() for i in content)


def _ellipsis_signals(opener: str, rest: str, lexicon: Lexicon) -> list[str]:
    if not opener:
        return []
    words = words_of(rest)
    clause = any(word in lexicon.words.auxiliaries for word in words)
    if clause and len(opener.split()) == 1 and len(words) > SHORT:
        return []
    return [f"ellipsis {opener!r}"]


def _addition_signals(text: str, lexicon: Lexicon) -> list[str]:
    words = words_of(text)
    added = [word for word in words if word in lexicon.reference.more]
    return [f"addition {added[0]!r}"] if added else []


def _subject_signals(text: str, lexicon: Lexicon, thread_words: frozenset[str]) -> list[str]:
    """Shortness and a missing subject (B1)."""
    words = words_of(text)
    content = [word for word in words if lexicon.is_content(word)]
    if not content or " ".join(words) in lexicon.ellipsis.more:
        return ["no subject"]
    if not lexicon.words.function:  # a language without a file: length is all there is
        return ["short"] if len(words) <= 2 and text.isascii() else []
    verb = any(word in lexicon.words.auxiliaries for word in words)
    asked = starts_with_phrase(words, lexicon.small_talk.asking)
    if len(words) <= SHORT and not verb and not asked:
        return ["short"]
    return _bare_noun_signals(text, content, lexicon, thread_words)


def _bare_noun_signals(
    text: str, content: list[str], lexicon: Lexicon, thread_words: frozenset[str]
) -> list[str]:
    """ "What is the price?": a definite noun with nothing that says of what, or one that the thread introduced."""
    spans = spans_of(text)
    for article, noun in pairwise(spans):
        word = noun.group().casefold()
        if article.group().casefold() not in lexicon.words.definite or not lexicon.is_content(word):
            continue
        named = noun.group()[0].isupper() and lexicon.language != "de"
        if not named and (len(content) == 1 or word in thread_words):
            return [f"definite noun {word!r}"]
    return []
