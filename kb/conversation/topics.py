"""Finds the key topics of an answer and the subject of a question.

Key topics are what an answer sets apart: headings, numbered items (Day 6, Phase C), bold terms. They come from the
whole answer, and the last one matters most: it is what a reader saw last.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal

from kb.text.lexicon import Lexicon, spans_of, words_of

MOST = 5
"""Topics kept of an answer."""
LONGEST_TOPIC = 60
"""Most characters of a topic: a longer bold run is an emphasised sentence, not a term."""
LONGEST_SUBJECT = 9
"""Most words of a subject: a longer one says more about one question than about the thread."""

LEAST_RUN = 2
"""Fewest words of a run: a single content word of a question is as often its verb as its subject."""

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(?P<topic>.+?)[ \t#]*$", re.MULTILINE)
_BOLD = re.compile(r"(\*\*|__)(?P<topic>(?=\S).+?(?<=\S))\1")
_NUMBERED = re.compile(r"(?<!\w)(?P<topic>[^\W\d_]{2,} (?:\d{1,4}|[A-Z]|[IVX]{1,5}))(?!\w)")
_NAME = re.compile(r"(?<!\w)[^\W\d_a-zß-ÿ](?:[\w&'’-]|\.(?=\w))*(?:[ ][^\W\d_a-zß-ÿ](?:[\w&'’-]|\.(?=\w))*)*")


_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """The subject of a question in its own words: a thing ("the study plan") or an action ("return my order").

    `sure`: a pattern of the language found it, so that it may stand in a sentence. Else it is good to search for.
    """

    text: str
    kind: Literal["thing", "action"] = "thing"
    sure: bool = True

    @property
    def words(self) -> frozenset[str]:
        return frozenset(words_of(self.text))


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadState:
    """A thread before a question: its subject, and the last question as it was understood.

    `words` are the content words of the last exchange, `seen` those of all turns that were read.
    """

    subject: Subject | None = None
    previous: str = ""
    answer: str = ""
    topics: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    seen: frozenset[str] = frozenset()
    questions: tuple[str, ...] = ()


def key_topics(answer: str, lexicon: Lexicon | None = None) -> tuple[str, ...]:
    """Returns the topics of an answer in Markdown: at most five, in order, no duplicates, the last the weightiest."""
    text = _LINK.sub(r"\1", _FENCE.sub(" ", answer))
    numbered = (match for match in _NUMBERED.finditer(text) if _is_numbered(match["topic"], lexicon))
    marked = sorted(
        [*_HEADING.finditer(text), *_BOLD.finditer(text), *numbered], key=lambda found: found.start()
    )
    return _last_distinct(_clean(match["topic"]) for match in marked)


def names_in(text: str, lexicon: Lexicon) -> list[str]:
    """Names as they are written, in order. A capital at the start of a sentence makes no name by itself."""
    found = []
    for match in _NAME.finditer(_LINK.sub(r"\1", text)):
        words = _POSSESSIVE.sub("", match.group().rstrip(".'’-")).split()
        while words and not lexicon.is_content(words[0]):
            words = words[1:]
        opening = _opens(text, match.start())
        if not words or (opening and len(words) == 1 and words[0][1:].islower()):
            continue
        found.append(" ".join(words))
    return found


def _opens(text: str, position: int) -> bool:
    """Whether a sentence begins at `position`."""
    while position and text[position - 1].isspace():
        position -= 1
    return position == 0 or text[position - 1] in ".!?:\"'*#-"


def subject_of(question: str, lexicon: Lexicon) -> Subject | None:
    """Returns the subject of a question that stands alone; None where it names none."""
    # Without what was put in brackets behind it.
    text = " ".join(question.partition("(")[0].split()).strip(" .?!¿¡")
    for pattern in lexicon.rewriting.subjects:
        match = pattern.match(text)
        if match:
            subject = _as_subject(match, lexicon)
            if subject is not None:
                goes_on = match.end(match.lastindex or 0) < len(text)
                return replace(subject, sure=False) if goes_on and _is_loose(subject, lexicon) else subject
    return _longest_content(text, lexicon)


def _is_loose(subject: Subject, lexicon: Lexicon) -> bool:
    """Whether a subject is indefinite ("people", "an engineer"), so that a "that" behind it may belong to it."""
    words = words_of(subject.text)
    indefinite = words[0] in lexicon.words.articles - lexicon.words.definite
    return subject.kind == "thing" and (indefinite or (len(words) == 1 and subject.text.islower()))


def _as_subject(match: re.Match[str], lexicon: Lexicon) -> Subject | None:
    groups = match.groupdict()
    action = groups.get("vp")
    if action:
        verb, _, object_ = action.partition(" ")
        if object_ and verb.casefold() in lexicon.rewriting.owning:
            return _thing(object_, lexicon)
        return Subject(text=action.strip(), kind="action") if _usable(action, lexicon) else None
    return _thing(groups.get("np") or "", lexicon)


def _thing(text: str, lexicon: Lexicon) -> Subject | None:
    if not _usable(text, lexicon):
        return None
    spans = spans_of(text)
    kept = lexicon.words.articles | lexicon.words.possessives
    while spans and not lexicon.is_content(spans[-1].group()) and not spans[-1].group().isupper():
        spans = spans[:-1]
    while spans and not lexicon.is_content(spans[0].group()) and spans[0].group().casefold() not in kept:
        spans = spans[1:]
    spans = spans[: _name_length(spans, lexicon)]
    return Subject(text=text[spans[0].start() : spans[-1].end()]) if spans else None


def _name_length(spans: list[re.Match[str]], lexicon: Lexicon) -> int:
    """Ends a name before its verb ("Ada first become interested"), not before its noun ("Ada award")."""
    name = list(takewhile(lambda span: span.group()[0].isupper(), spans))
    behind = [span.group().casefold() for span in spans[len(name) :]]
    verbal = len(behind) > 1 and all(lexicon.is_content(word) for word in behind[:2])
    return len(name) if name and verbal and not lexicon.words.capital_nouns else len(spans)


def person_in(texts: Sequence[str], lexicon: Lexicon) -> str | None:
    """Returns the name that a text holds most often, of equals a later one; none behind a preposition of place."""
    counts: Counter[str] = Counter()
    for text in texts:
        for name in names_in(text, lexicon):
            before = words_of(text[max(text.find(name) - 12, 0) : text.find(name)])[-1:]
            if not before or before[0] not in lexicon.reference.places_before:
                counts[name] += 1
    return max(reversed(counts), key=lambda name: counts[name], default=None)


def _usable(text: str, lexicon: Lexicon) -> bool:
    words = words_of(text)
    reference = lexicon.reference
    telling = (lexicon.references - reference.ambiguous - reference.relative) | lexicon.words.speakers
    return (
        0 < len(words) <= LONGEST_SUBJECT
        and any(lexicon.is_content(word) for word in words)
        and telling.isdisjoint(words)
    )


def _longest_content(text: str, lexicon: Lexicon) -> Subject | None:
    """Names where the question has any, else its longest run of content words (prepositions inside a run count)."""
    names = names_in(text, lexicon)
    if names:
        return Subject(text=names[-1], sure=False)
    runs: list[list[re.Match[str]]] = [[]]
    for span in spans_of(text):
        if lexicon.is_content(span.group()):
            runs[-1].append(span)
        elif runs[-1]:
            runs.append([])
    longest = max(runs, key=len)
    if len(longest) < LEAST_RUN:
        return None
    return Subject(text=text[longest[0].start() : longest[-1].end()], sure=False)


def _is_numbered(topic: str, lexicon: Lexicon | None) -> bool:
    """Whether a topic has a number: "Day 6" has, "until 31" not. Known units count, other words if capitalized."""
    word, _, number = topic.partition(" ")
    if lexicon is not None and word.casefold() in lexicon.sequence.units:
        return True
    return word[0].isupper() and not (lexicon is not None and not lexicon.is_content(word)) and number != "I"


def _clean(topic: str) -> str:
    return " ".join(re.sub(r"[*_`]+", "", topic).split()).strip(" :;,.–-")


def _last_distinct(topics: Iterable[str]) -> tuple[str, ...]:
    kept: list[str] = []
    for topic in topics:
        if not topic or len(topic) > LONGEST_TOPIC:
            continue
        same = topic.casefold()
        if any(same == other.casefold() for other in kept):
            kept = [other for other in kept if other.casefold() != same]
        elif kept and re.search(rf"(?<!\w){re.escape(same)}(?!\w)", kept[-1].casefold()):
            continue
        kept.append(topic)
    return tuple(kept[-MOST:])
