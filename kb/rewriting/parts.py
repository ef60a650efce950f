"""Takes apart a question that asks several things: "how many days do I get, and who approves it?".

Careful rather than complete: both sides of a conjunction must ask by themselves. "Terms and conditions", "the
difference between A and B", "when and where", "A or B?" and a clause inside a question ("what happens when I
leave and when I come back?") stay one question. The whole question is searched in any case, so a missed part
costs little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from kb.text.lexicon import Lexicon, any_of, spans_of, starts_with_phrase, words_of
from kb.text.lexicon import lexicon as lexicon_of
from kb.text.phrases import small_talk

MOST = 4
"""Parts. Each is a search of its own; what is asked beyond stays in the last one."""
LONGEST_QUESTION = 80
"""Words of a sentence that is taken apart. A longer one is a story."""
LONGEST_LEAD = 15
"""Words before the question itself ("If I leave early, ..."). A longer story belongs to one question."""
LONGEST_BARE = 4
"""Words of a question without a verb: "how many vacation days"."""
LONGEST_OPENING = 6
"""Words of a request before an indirect question: "Could you please tell me"."""

_QUESTION_END = re.compile(r"[?？]+(?=\s|$)|\n+")
_CLAUSE = re.compile(r"[.!:;,–—]\s+")
_EDGES = " \t\n,;.!?？¿¡-–—"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Question:
    """A sentence that asks. `lead`: the statement or condition before the question; `opening`: the request before."""

    lead: str
    opening: str
    body: str


def split_question(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Returns the questions that a text asks, in their own words and order; () where it is one question."""
    if not lexicon.parts.joins:
        return ()
    parts = [part for question in _questions(text, lexicon) for part in _clauses(question, lexicon)]
    if len(parts) > MOST:
        parts = [*parts[: MOST - 1], " ".join(parts[MOST - 1 :])]
    return tuple(parts) if len(parts) > 1 else ()


def as_part(text: str, lexicon: Lexicon) -> str:
    """Writes a clause as a question: a capital, no conjunction before it, the question mark of its language."""
    body = _without_join(text.strip(_EDGES), lexicon)
    body = body[:1].upper() + body[1:]
    words = words_of(body)
    asked = words[:1] and words[0] in lexicon.words.question | lexicon.words.auxiliaries
    contracted = f"{words[0][:-1]}'s" if words and words[0].endswith("s") else ""
    if contracted in lexicon.words.question:  # "whats the budget"
        body = f"{body[: len(contracted) - 2]}'s{body[len(words[0]) :]}"
    if starts_with_phrase(words, lexicon.small_talk.asking) and not asked:
        return body  # "Tell me who ..."
    return lexicon.parts.mark.format(question=body)


def _questions(text: str, lexicon: Lexicon) -> Iterator[_Question]:
    """Finds what asks, by question marks. A statement stays with the question behind it; greetings go."""
    for part in _QUESTION_END.split(text):
        sentence = " ".join(part.split()).strip(_EDGES)
        if sentence and small_talk(sentence, lexicon.language) is None:
            question = _question_in(sentence, lexicon)
            if question is not None:
                yield question


def _clauses(question: _Question, lexicon: Lexicon) -> list[str]:
    """Takes a question apart at its conjunctions, where both sides ask by themselves."""
    lead, body = question.lead, question.body
    if len(words_of(body)) > LONGEST_QUESTION:
        return [f"{lead}{question.opening}{body}"]
    bounds = list(_boundaries(lexicon.language).finditer(body))
    if not any(bound.group().strip(_EDGES) for bound in bounds):
        bounds = []  # commas alone join nothing
    ends = [*(bound.start() for bound in bounds[1:]), len(body)]
    clauses, start = [], 0
    for bound, end in zip(bounds, ends, strict=False):
        left, right = body[start : bound.start()], body[bound.end() : end]
        if _is_whole(left, lexicon) and _asks_behind(left, right, question, lexicon):
            clauses.append(left)
            start = bound.end()
    clauses.append(body[start:])
    # A condition belongs to each part. A story is left to the whole question, which is searched with each.
    condition = lead if lead.rstrip().endswith(",") else ""
    return [f"{condition}{question.opening}{clause.strip(_EDGES)}" for clause in clauses]


def _question_in(sentence: str, lexicon: Lexicon) -> _Question | None:
    """Finds where the question in a sentence begins; None where it asks nothing."""
    for start in (0, *(match.end() for match in _CLAUSE.finditer(sentence))):
        lead, body = sentence[:start], sentence[start:]
        if len(words_of(lead)) > LONGEST_LEAD:
            return None
        opening = _opening(body, lexicon)
        clause = _boundaries(lexicon.language).split(body, maxsplit=1)[0]
        if opening or _asks(body, lexicon) or _asks(clause, lexicon):
            return _Question(lead=lead, opening=opening, body=body[len(opening) :])
    return None


def _opening(body: str, lexicon: Lexicon) -> str:
    """Returns what may stand before each part: "Could you tell me " of "Could you tell me who approves leave"."""
    words = words_of(body)
    requested = starts_with_phrase(words, lexicon.small_talk.asking)
    spans = spans_of(body)
    for index in range(requested, min(len(spans), LONGEST_OPENING + 1) if requested else 0):
        if words[index] in lexicon.words.question:
            return body[: spans[index].start()]
        request_words = {word for phrase in lexicon.small_talk.asking for word in words_of(phrase)}
        if lexicon.is_content(words[index]) and words[index] not in request_words:
            return ""
    return ""


def _asks(clause: str, lexicon: Lexicon) -> bool:
    """Whether a clause asks by itself, and about something."""
    words = words_of(_without_join(clause, lexicon))
    if len(words) < 2 or not (set(lexicon.content_of(clause)) - lexicon.words.question):
        return False
    if starts_with_phrase(words, lexicon.small_talk.asking):
        return True
    if words[0] in lexicon.words.auxiliaries:
        return True
    index = _question_word(words, lexicon)
    return index is not None and (_is_bare(words, lexicon) or not _is_subordinate(words[index:], lexicon))


def _is_bare(words: list[str], lexicon: Lexicon) -> bool:
    """Whether a part asks without a verb: "How many days"."""
    first = words[0] in lexicon.words.question
    return first and len(words) <= LONGEST_BARE and lexicon.parts.clause_subjects.isdisjoint(words)


def _question_word(words: list[str], lexicon: Lexicon) -> int | None:
    """Returns the place of the question word: first, or behind a preposition ("by when", "in welke")."""
    for index in range(min(2, len(words))):
        if words[index] in lexicon.words.question and (index == 0 or words[0] in lexicon.words.prepositions):
            return index
    return None


def _is_subordinate(words: list[str], lexicon: Lexicon) -> bool:
    """Whether the subject stands where a question has its verb: "When I leave", "how long I need"."""
    subjects = lexicon.parts.clause_subjects
    if words[0].endswith("s") and words[0][:-1].removesuffix("'") in lexicon.words.question:
        return False  # "what's", "whats": the verb is in it
    if len(words) < 2 or words[1] in subjects:
        return True
    if words[0] not in lexicon.parts.inverted:
        return False
    acting = next((index for index, word in enumerate(words[1:]) if word in subjects), len(words))
    verb = next((index for index, word in enumerate(words[1:]) if word in lexicon.words.auxiliaries), None)
    return verb is None or acting < verb


def _is_whole(left: str, lexicon: Lexicon) -> bool:
    """Whether the clause before a conjunction is a question: "when" of "when and where do I sign?" is not."""
    words = words_of(left)
    if not _asks(left, lexicon) and len(words) < 2:
        return False
    if words and words[0] in lexicon.words.prepositions and lexicon.words.auxiliaries.isdisjoint(words):
        return False  # "For what work, was he honoured ..."
    articles = lexicon.words.articles - lexicon.references  # "hoe lang is het"
    dangling = lexicon.words.question | lexicon.words.prepositions | articles
    if not words or words[-1] in dangling or not lexicon.content_of(left):
        return False
    # "What time and where", "how long and how often" are one question; "what happens and who" are two.
    return len(words) > 2 or (words[1] not in lexicon.words.common and words[0] not in lexicon.parts.inverted)


def _asks_behind(left: str, right: str, question: _Question, lexicon: Lexicon) -> bool:
    """Whether what follows a conjunction is a question of its own, and not one more clause of the one before."""
    words, before = words_of(right), words_of(left)
    if len(words) < 2:
        return False
    index = _question_word(words, lexicon)
    if index is None:
        return _asks_by_its_verb(words, before, lexicon)
    rest = words[index + 1 :]
    if not _tells(rest, lexicon) or words[index] in before[1 + index :]:
        return False  # "who can apply and who can't", "those which are free and which are paid"
    if words[index] in lexicon.parts.choosing and rest[0] in lexicon.words.auxiliaries:
        return False  # "what tools are free and which are paid": which of them
    return bool(question.opening) or not _is_subordinate(words[index:], lexicon)


def _tells(rest: list[str], lexicon: Lexicon) -> bool:
    """Whether anything but the small words of grammar follows: "who do I tell", but not "who does" or "what else"."""
    words, reference = lexicon.words, lexicon.reference
    small = words.auxiliaries.union(
        words.articles, words.prepositions, words.question, words.speakers, lexicon.references, reference.more
    )
    telling = any(word not in small and not word.endswith("n't") for word in rest)
    return telling or (len(rest) > 2 and rest[-1] in words.auxiliaries)  # "what do they do"


def _asks_by_its_verb(words: list[str], before: list[str], lexicon: Lexicon) -> bool:
    """Whether an auxiliary begins it and somebody or something follows: "Can I carry them over", "is it paid"."""
    verb, subject = words[:2]
    if verb not in lexicon.words.auxiliaries:
        return False
    meant = (
        lexicon.parts.clause_subjects | lexicon.references | lexicon.words.definite | lexicon.reference.places
    )
    fresh = (
        verb in lexicon.parts.finite and verb not in before and lexicon.is_content(subject) and len(words) > 2
    )
    named = subject in meant or fresh or "-" in verb  # "puis-je"
    return named and any(lexicon.is_content(word) for word in words[1:])


def _without_join(text: str, lexicon: Lexicon) -> str:
    match = _joins(lexicon.language).match(text)
    return text[match.end() :] if match else text


@cache
def _joins(language: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{any_of(lexicon_of(language).parts.joins)})\s+", re.IGNORECASE)


@cache
def _boundaries(language: str) -> re.Pattern[str]:
    joins = any_of(lexicon_of(language).parts.joins)
    return re.compile(rf"(?:\s*[,;]\s*|\s+)(?:{joins})(?:\s+|,\s*)|\s*[,;]\s+", re.IGNORECASE)
