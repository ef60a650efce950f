"""Whether a question leans on its thread, and how. Costs microseconds: no model, no search.

A signal that is certain (a reference word, an ellipsis, no subject) makes a question dependent. A topic shift drops
the thread unless a reference word follows it. A hint is less: the question may well stand alone, but a word of it may
also mean something particular in this thread. It costs a look at the thread, not the user's words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import dropwhile, takewhile

from kb.rewriting.nouns import bare_noun_reasons, known_noun_hints
from kb.rewriting.sequences import step_in
from kb.text.lexicon import SPACELESS, Lexicon, spans_of, starts_with_phrase, words_of

SHORT = 3
"""Words. At this length a question without a verb has no room for its subject."""

READ = 200
"""Words of a message in which references are looked for: each is weighed against all the words before it."""

SHORT_SPACELESS = 6
"""Characters, in scripts that put no space between words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FollowupSignals:
    """How a question leans on its thread.

    `opener` are the words of an ellipsis ("what about"), `rest` what follows it. `reasons` say why the question is
    dependent, none when it stands alone; `hints` why it may be.
    `pointers` are the offsets in `text` of words that point back.
    """

    text: str
    opener: str = ""
    rest: str = ""
    reasons: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    pointers: tuple[int, ...] = ()
    shift: bool = False

    @property
    def dependent(self) -> bool:
        return bool(self.reasons)


def detect_followup(
    text: str, lexicon: Lexicon, *, thread_words: frozenset[str] = frozenset()
) -> FollowupSignals:
    """Reads a question for signs that it needs its thread, whose content words are `thread_words`."""
    words = words_of(text)
    shifted = starts_with_phrase(words, lexicon.ellipsis.shifts)
    body = _after(text, shifted)
    pointers = _pointers(text, lexicon, start=len(text) - len(body))
    pointing = [f"reference word {words_of(text[start:])[0]!r}" for start in pointers]
    if shifted:
        return FollowupSignals(text=text, rest=body, reasons=tuple(pointing), pointers=pointers, shift=True)
    taken = starts_with_phrase(words, lexicon.ellipsis.openers)
    rest = _after(text, taken)
    opener = " ".join(words[:taken])
    reasons = [
        *pointing,
        *_ellipsis_reasons(opener, rest, lexicon),
        *_addition_reasons(rest or text, lexicon),
        *_step_reasons(rest or text, lexicon),
        *_subject_reasons(rest or text, lexicon, thread_words),
    ]
    hints = [] if reasons else known_noun_hints(rest or text, lexicon, thread_words)
    return FollowupSignals(
        text=text, opener=opener, rest=rest, reasons=tuple(reasons), hints=tuple(hints), pointers=pointers
    )


def _after(text: str, words: int) -> str:
    spans = spans_of(text)
    return text[spans[words].start() :] if 0 < words < len(spans) else ("" if words else text)


def _pointers(text: str, lexicon: Lexicon, *, start: int) -> tuple[int, ...]:
    """Returns the offsets of words that point out of the question."""
    lower = text.casefold().replace("’", "'")
    if any(pattern.search(lower) for pattern in lexicon.reference.expletive):
        return ()
    covered = [match.span() for match in lexicon.local_phrases.finditer(lower)]
    spans = spans_of(text)[:READ]
    words = [span.group().replace("’", "'").casefold() for span in spans]
    return tuple(
        span.start()
        for index, (span, word) in enumerate(zip(spans, words, strict=True))
        if word in lexicon.references
        and span.start() >= start
        and not _is_abbreviation(span.group(), text)
        and not any(begin <= span.start() < end for begin, end in covered)
        and not _points_inside(index, words, spans, lexicon)
    )


def _is_abbreviation(word: str, text: str) -> bool:
    """Whether a word is an abbreviation: "IT" of "who approves IT?", unless all of the text is in capitals."""
    return len(word) > 1 and word.isupper() and not text.isupper()


def _points_inside(index: int, words: list[str], spans: list[re.Match[str]], lexicon: Lexicon) -> bool:
    """Whether the word at `index` is no reference, or refers to something that the question itself names."""
    word = words[index]
    before = words[index - 1] if index else ""
    after = words[index + 1 :]
    noun_before = bool(before) and lexicon.is_content(before) and before not in lexicon.words.conjunctions
    if word in lexicon.reference.relative and noun_before and len(after) > 1:
        return True
    if word in lexicon.reference.determiners and _describes_itself(spans[index + 1 :], lexicon):
        return True
    if word in lexicon.reference.ambiguous and after and lexicon.is_content(after[0]):
        return not _ends_like_a_verb(index, words, lexicon)
    return _has_antecedent(index, words, spans, lexicon)


def _describes_itself(following: list[re.Match[str]], lexicon: Lexicon) -> bool:
    """Whether a noun says which one is meant: "this Deep Impact mission", not "this service"."""
    run = list(takewhile(lambda span: lexicon.is_content(span.group()), following))
    return len(run) > 1 and any(span.group()[0].isupper() for span in run) and not lexicon.words.capital_nouns


def _ends_like_a_verb(index: int, words: list[str], lexicon: Lexicon) -> bool:
    """Whether the last word is a verb, as in Dutch and German: "hoe dik moet ik dat leggen" has no noun there."""
    modal_before = any(word in lexicon.words.auxiliaries for word in words[:index])
    subject_before = bool(index) and words[index - 1] in lexicon.words.function
    return modal_before and subject_before and index + 2 == len(words)


def _has_antecedent(index: int, words: list[str], spans: list[re.Match[str]], lexicon: Lexicon) -> bool:
    """Whether an earlier clause, or the owner that the question names, is what the word refers to."""
    gaps = (spans[i].string[spans[i].end() : spans[i + 1].start()] for i in range(index))
    parted = any(mark in gap for gap in gaps for mark in ",;.?!")
    described = words[index] in lexicon.reference.determiners and any(
        map(lexicon.is_content, words[index + 1 : index + 2])
    )
    clause = parted or not (described or lexicon.words.conjunctions.isdisjoint(words[1:index]))
    content = [i for i in range(index) if lexicon.is_content(words[i])]
    named = any(i > 0 and spans[i].group()[0].isupper() for i in content)
    person = words[index] in lexicon.reference.people - lexicon.reference.things - lexicon.reference.plural
    if clause and len(content) >= SHORT and (parted or named or not person):
        return True
    if clause and named and person and words[index - 1] in lexicon.words.conjunctions:
        return True
    owned = (
        words[index] in lexicon.reference.possessive
        and index + 1 < len(words)
        and lexicon.is_content(words[index + 1])
    )
    return owned and (named or _has_own_subject(words[:index], lexicon, person=person))


def _has_own_subject(before: list[str], lexicon: Lexicon, *, person: bool) -> bool:
    """Whether a noun follows the first auxiliary: "Did burlesque stay true to its origin".

    A person's noun has an article ("did the author change his mind"): "is religion a part of his life" names nobody.
    "The name of her album" has another owner.
    """
    index = next((i for i, word in enumerate(before) if word in lexicon.words.auxiliaries), None)
    if index is None or index + 2 >= len(before):
        return False
    ends = before[-1] in lexicon.words.prepositions and len(before) <= index + 4
    introduced = (
        before[index + 1] in lexicon.words.definite and lexicon.is_content(before[index + 2]) and not ends
    )
    return introduced or (not person and lexicon.is_content(before[index + 1]))


def _ellipsis_reasons(opener: str, rest: str, lexicon: Lexicon) -> list[str]:
    if not opener:
        return []
    words = words_of(rest)
    clause = any(word in lexicon.words.auxiliaries for word in words)
    if clause and len(opener.split()) == 1 and len(words) > SHORT:
        return []
    return [f"ellipsis {opener!r}"]


def _addition_reasons(text: str, lexicon: Lexicon) -> list[str]:
    words = words_of(text)
    last = len(words) - 1
    added = next(
        (
            index
            for index, word in enumerate(words)
            if word in lexicon.reference.more and (index == last or word not in lexicon.reference.more_at_end)
        ),
        None,
    )
    if added is None or _names_what_it_excludes(words, lexicon):
        return []
    if added > SHORT and len(lexicon.content_of(text)) > SHORT:
        return []  # "can I use my certificate in other states" names what it is about
    return [f"addition {words[added]!r}"]


def _names_what_it_excludes(words: list[str], lexicon: Lexicon) -> bool:
    """Whether a question names what it excludes: "Did she write anything else besides Ripley?"."""
    behind = dropwhile(lambda word: word not in lexicon.reference.exclusions, words)
    return any(lexicon.is_content(word) for word in list(behind)[1:])


def _step_reasons(text: str, lexicon: Lexicon) -> list[str]:
    """Finds a step that counts from something in the thread: "What happened next?"; "the first step" need not."""
    step = step_in(text, lexicon)
    return ["step in a series"] if step is not None and step.to is None else []


def _subject_reasons(text: str, lexicon: Lexicon, thread_words: frozenset[str]) -> list[str]:
    """Returns a reason for a question that is too short to name its subject, or does not name it."""
    words, content = words_of(text), lexicon.content_of(text)
    if not content or " ".join(words) in lexicon.ellipsis.more:
        return ["no subject"]
    if not lexicon.words.function:  # a language without a file: length is all there is
        return ["short"] if _is_short(text, words) else []
    verb = any(word in lexicon.words.auxiliaries for word in words)
    asked = starts_with_phrase(words, lexicon.small_talk.asking)
    complete = words[0] in lexicon.words.question and len(content) > 1  # "what causes wildfires"
    if len(words) <= SHORT and not verb and not asked and not complete:
        return ["short"]
    return bare_noun_reasons(text, content, lexicon, thread_words) or _thin_reasons(text, content, lexicon)


def _is_short(text: str, words: list[str]) -> bool:
    spaceless = SPACELESS.search(text) is not None
    return len(text) <= SHORT_SPACELESS if spaceless else len(words) < SHORT


def _thin_reasons(text: str, content: list[str], lexicon: Lexicon) -> list[str]:
    """Finds one word of content or none, too little unless asked for: "How do I apply?", "what happened in 1987".

    "What is TOGAF?" and "who is Ada?" ask for the word itself, and a name says which one is meant.
    """
    words = [word for word in content if not word.isdigit()]
    named = any(span.group()[0].isupper() for span in spans_of(text)[1:]) and not lexicon.words.capital_nouns
    if len(words) > 1 or named or (words and _asks_for(words[0], text, lexicon)):
        return []
    return [f"little said {' '.join(words)!r}"]


def _asks_for(word: str, text: str, lexicon: Lexicon) -> bool:
    """Whether it is a definition that is asked for: a question word, a form of "to be", and the word at the end."""
    words = words_of(text)
    return (
        2 < len(words) <= SHORT + 1
        and words[-1] == word
        and words[0] in lexicon.words.question
        and words[1] in lexicon.words.copulas
    )
