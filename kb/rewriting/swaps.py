"""Puts the like for the like in the question before: "and day 7?", "and to Germany?", "and for a senior one?"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kb.conversation.topics import Subject, names_in
from kb.rewriting.followup_detector import FollowupSignals
from kb.rewriting.sequences import items_in
from kb.text.lexicon import Lexicon, spans_of, words_of

LONGEST = 5
"""Words. A longer ellipsis says more than one thing that could take another's place."""

_NUMBERED = re.compile(r"(?P<word>[^\W\d_]{3,}) \d+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Swap:
    """The question before with its like replaced. `term`: what a passage must hold of the replacement, else ""."""

    text: str
    term: str = ""


def swapped(
    signals: FollowupSignals, lexicon: Lexicon, previous: str, subject: Subject | None
) -> Swap | None:
    """Returns the previous question with the like put for the like; None where nothing in it is like what is asked."""
    words = words_of(signals.rest)
    if not signals.opener or not previous or signals.pointers or len(words) > LONGEST:
        return None
    body = signals.rest.strip(" \t\n?!.…¿¡")
    if any(word in lexicon.words.auxiliaries for word in words):
        return None
    return (
        _swapped_item(body, previous, lexicon)
        or _swapped_kind(body, previous, subject, lexicon)
        or _swapped_place(body, previous, lexicon)
    )


def _swapped_item(body: str, previous: str, lexicon: Lexicon) -> Swap | None:
    new = items_in(body, lexicon)
    if len(new) == 1:
        for old in items_in(previous, lexicon):
            if old.same_series(new[0]):
                start, end = old.span
                text = previous[:start] + new[0].text + previous[end:]
                return Swap(text=text, term=new[0].text if new[0].exact else "")
    # A series that no language file knows: "and band 4?", "en schaal 9?".
    numbered = _NUMBERED.fullmatch(body)
    if numbered is None:
        return None
    like = re.compile(rf"(?<!\w){re.escape(numbered['word'])} \d+(?!\w)", re.IGNORECASE)
    return Swap(text=like.sub(body, previous, count=1), term=body) if like.search(previous) else None


def _swapped_kind(body: str, previous: str, subject: Subject | None, lexicon: Lexicon) -> Swap | None:
    """Names another kind of the same thing: "And for a senior one?" after "What does a junior engineer earn?".

    "One" stands for the thing. Without it the word must be an adjective that the language file knows, since "a
    contractor" is not another kind of engineer.
    """
    old = _thing_in(previous, subject, lexicon)
    if old is None:
        return None
    spans = spans_of(body)
    while spans and spans[0].group().casefold() in lexicon.words.prepositions:
        spans = spans[1:]
    words = [span.group().casefold() for span in spans]
    stands_in = len(words) > 1 and words[-1] in lexicon.sequence.ones - lexicon.words.articles
    if stands_in:
        spans, words = spans[:-1], words[:-1]
    article = words[0] if words and words[0] in lexicon.words.articles else ""
    kind = spans[1:] if article else spans
    fits = stands_in or all(span.group().casefold() in lexicon.rewriting.modifiers for span in kind)
    head = words_of(previous[old[0] : old[1]])[-1 if lexicon.rewriting.modifier_first else 0]
    if article and len(kind) > 1 and head in words[1:]:  # "a senior engineer"
        return Swap(text=previous[: old[0]] + body[spans[0].start() : spans[-1].end()] + previous[old[1] :])
    if not kind or not fits or not all(lexicon.is_content(span.group()) for span in kind):
        return None
    new = body[kind[0].start() : kind[-1].end()]
    thing = _of_kind(new, previous[old[0] : old[1]], article, lexicon)
    return Swap(text=previous[: old[0]] + thing + previous[old[1] :])


def _of_kind(new: str, old: str, article: str, lexicon: Lexicon) -> str:
    """Writes "a junior engineer", or "an engineer", as "a senior engineer"."""
    words = old.split()
    has_article = words[0].casefold() in lexicon.words.articles | lexicon.words.possessives
    lead, rest = (words[:1], words[1:]) if has_article else ([], words)
    head = rest[-1:] if lexicon.rewriting.modifier_first else rest[:1]
    replaces = article and has_article and lead[0].casefold() in lexicon.words.articles
    if replaces or (article in lexicon.words.definite and not has_article):
        lead = [article]
    if lead and lead[0] in ("a", "an") and lexicon.language == "en":
        lead = ["an" if new[0].casefold() in "aeiou" else "a"]
    return " ".join([*lead, new, *head] if lexicon.rewriting.modifier_first else [*lead, *head, new])


def _thing_in(previous: str, subject: Subject | None, lexicon: Lexicon) -> tuple[int, int] | None:
    """Returns the offsets of what the previous question asks of: its subject, from the last preposition on."""
    if subject is None or subject.kind == "action":
        return None
    start = previous.casefold().find(subject.text.casefold())
    if start < 0:
        return None
    spans = spans_of(subject.text)
    starts = [i + 1 for i, span in enumerate(spans) if span.group().casefold() in lexicon.words.prepositions]
    spans = spans[starts[-1] :] if starts else spans
    content = [span for span in spans if lexicon.is_content(span.group())]
    if not content or len(spans) > LONGEST:
        return None
    return start + spans[0].start(), start + spans[-1].end()


def _swapped_place(body: str, previous: str, lexicon: Lexicon) -> Swap | None:
    """Swaps what follows the same preposition, or one name: "And to Germany?" after "Do you ship to Canada?"."""
    spans = spans_of(body)
    first = spans[0].group().casefold() if spans else ""
    if first in lexicon.words.prepositions and len(spans) > 1:
        old = re.search(rf"(?<!\w){re.escape(first)} (?P<tail>[^?.!,]+)", previous, re.IGNORECASE)
        if old is not None:
            return Swap(
                text=previous[: old.start("tail")] + body[spans[1].start() :] + previous[old.end("tail") :]
            )
    names, olds = names_in(f"x {body}", lexicon), names_in(previous, lexicon)
    if len(olds) == 1 and names == [body] and not body.isupper() and olds[0] != body:
        return Swap(text=previous.replace(olds[0], body))
    return None
