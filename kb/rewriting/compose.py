"""Puts a dependent question and the subject of its thread into one question that stands alone.

Where a pattern is clear it reads as a person would write it, and is shown as "Interpreted as: ...". Where none is, the
subject goes in brackets behind the user's own words: as good to search for, and not shown.
"""

from __future__ import annotations

import re
from itertools import pairwise

from kb.conversation.topics import Subject, names_in
from kb.rewriting.followup_detector import FollowupSignals
from kb.text.lexicon import Lexicon, spans_of, starts_with_phrase, words_of

SHORT_ATTRIBUTE = 4
"""Words. "The price of delivery" is an attribute of the subject; a longer phrase names its own."""

LONGEST_SUBJECT = 6
"""Words. A longer subject in the place of "it" makes a sentence that nobody would write."""

_DOUBLED = re.compile(r"(?<!\w)(\w+) \1(?!\w)", re.IGNORECASE)


def compose(signals: FollowupSignals, subject: Subject, lexicon: Lexicon) -> str:
    """Returns the question with its subject named."""
    if subject.words and subject.words <= set(words_of(signals.text)):
        return signals.text
    if not signals.pointers and not signals.opener and _names(signals.text, subject, lexicon):
        return signals.text
    if subject.sure and len(spans_of(subject.text)) <= LONGEST_SUBJECT:
        for pattern in (_attribute, _complement, _with_action, _with_reference, _bare):
            composed = pattern(signals, subject, lexicon)
            if composed:
                return as_question(composed, lexicon)
    return as_question(appended(signals.text, subject), lexicon)


def is_readable(query: str, question: str, lexicon: Lexicon) -> bool:
    """Whether a person would write `query` for `question`: nothing in brackets, no fragment, no word twice in a row."""
    words = words_of(query)
    joined = starts_with_phrase(words, lexicon.parts.joins)
    leads = lexicon.words.articles | lexicon.words.possessives
    stumbles = any(first in leads and second in leads for first, second in pairwise(words))
    doubled = _DOUBLED.search(query) is not None and _DOUBLED.search(question) is None
    bracketed = "(" in query and "(" not in question
    opening = lexicon.words.question | lexicon.words.auxiliaries
    asks = not opening  # a language without a file
    asks = (
        asks or not opening.isdisjoint(words[:1]) or starts_with_phrase(words, lexicon.small_talk.asking) > 0
    )
    return asks and not (bracketed or joined or stumbles or doubled or words == words_of(question))


def _names(text: str, subject: Subject, lexicon: Lexicon) -> bool:
    """Whether a question has a content word of the subject: enough to find it by."""
    return any(lexicon.is_content(word) for word in subject.words & set(words_of(text)))


def appended(text: str, subject: Subject) -> str:
    """Returns a question with the subject in brackets behind it."""
    body, mark = _mark(text)
    return f"{body} ({subject.text.strip(' ?.!')}){mark}"


def as_question(text: str, lexicon: Lexicon) -> str:
    """Returns a text with a capital, without its conjunction and, unless it is a request, with a question mark."""
    text = _without_conjunction(" ".join(text.split()), lexicon)
    start = re.search(r"[^\W\d_]", text)
    if start is not None:
        text = text[: start.start()] + start.group().upper() + text[start.end() :]
    body, mark = _mark(text)
    requested = starts_with_phrase(words_of(text), lexicon.small_talk.asking)
    return f"{body}{mark or ('' if requested else '?')}"


def _without_conjunction(text: str, lexicon: Lexicon) -> str:
    """Removes an opener: "And when do they expire" -> "when do they expire"."""
    spans = spans_of(text)
    first, second = (span.group().casefold() for span in spans[:2]) if len(spans) > 1 else ("", "")
    asks = second in lexicon.words.question | lexicon.words.auxiliaries
    return text[spans[1].start() :] if first in lexicon.ellipsis.openers and asks else text


def _attribute(signals: FollowupSignals, subject: Subject, lexicon: Lexicon) -> str:
    """Asks for an attribute: "En de prijs?" -> "Wat is de prijs van houtmulch?"; "" for "What about the weekend?"."""
    body = _mark(signals.rest if signals.opener else signals.text)[0].strip()
    words = words_of(body)
    if signals.pointers or not words or len(words) > SHORT_ATTRIBUTE or subject.kind == "action":
        return ""
    if words[0] not in lexicon.words.definite or not _is_attribute(words[1:], lexicon):
        return ""
    plural = _is_plural(body, lexicon)
    template = lexicon.rewriting.attribute_plural if plural else lexicon.rewriting.attribute
    return _contracted(template.format(attribute=body, focus=subject.text), lexicon) if template else ""


def _complement(signals: FollowupSignals, subject: Subject, lexicon: Lexicon) -> str:
    """Adds the subject: "What are the benefits?" -> "What are the benefits of VPC?"."""
    body, mark = _mark(signals.text)
    words = words_of(body)
    ends_in_noun = (
        len(words) > 3
        and words[0] in lexicon.words.question
        and words[-2] in lexicon.words.definite
        and _is_attribute(words[-1:], lexicon)
        and not (lexicon.words.auxiliaries | lexicon.words.copulas).isdisjoint(words[1:-2])
    )
    complete = signals.pointers or signals.opener or subject.kind == "action"
    if complete or not ends_in_noun or not lexicon.rewriting.of:
        return ""
    return _contracted(lexicon.rewriting.of.format(question=body, focus=subject.text), lexicon) + mark


def _is_attribute(noun: list[str], lexicon: Lexicon) -> bool:
    """Whether it is something that a thing has: "the price", "the annual fee", but not "the error rate rises"."""
    head = noun[-1 if lexicon.rewriting.modifier_first else 0] if noun else ""
    return head in lexicon.rewriting.attributes


def _contracted(text: str, lexicon: Lexicon) -> str:
    for pattern, replacement in lexicon.rewriting.contractions:
        text = re.sub(pattern, replacement, text)
    return text


def _with_action(signals: FollowupSignals, subject: Subject, lexicon: Lexicon) -> str:
    """Adds the action: "How do I do that?" -> "... return my order?"; "how long does it take" -> "... to ship"."""
    if subject.kind != "action":
        return ""
    body, mark = _mark(signals.text)
    for phrase in lexicon.rewriting.do_it:
        match = _phrase_in(body, phrase)
        if match:
            return body[: match.start()] + subject.text + body[match.end() :] + mark
    words = words_of(body)
    dangling = " ".join(words).endswith(lexicon.rewriting.dangling)
    asking_only = len(words) <= 2 and lexicon.known_words.issuperset(words) and not signals.pointers
    if lexicon.rewriting.action and not signals.opener and (dangling or asking_only):
        return lexicon.rewriting.action.format(question=body, action=subject.text) + mark
    return ""


def _phrase_in(text: str, phrase: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE)


def _with_reference(signals: FollowupSignals, subject: Subject, lexicon: Lexicon) -> str:
    """Puts the subject in the place of the first word that points back, where grammar allows it."""
    pointing = {words_of(signals.text[start:])[0] for start in signals.pointers}
    if len(pointing) != 1 or subject.kind == "action":  # "do they get paid for it?": two things, one subject
        return ""
    if any(_phrase_in(signals.text, phrase) for phrase in lexicon.rewriting.do_it):
        return ""  # "how do I do that?" of a thing
    start = signals.pointers[0]
    span = next(span for span in spans_of(signals.text) if span.start() == start)
    word, after = span.group().casefold(), words_of(signals.text[span.end() :])
    person = word in lexicon.reference.people - lexicon.reference.things - lexicon.reference.plural
    if "'" in word or (person and not names_in(f"x {subject.text}", lexicon)):
        return ""
    text, end = subject.text, span.end()
    if word in lexicon.reference.adverbs:  # "daarover": "over ..."
        return f"{signals.text[:start]}{lexicon.reference.adverbs[word]} {text}{signals.text[end:]}"
    followed = bool(after) and lexicon.is_content(after[0])
    if word in lexicon.reference.possessive and followed:
        if not lexicon.rewriting.possessive:
            return ""
        text = lexicon.rewriting.possessive.format(focus=text)
        return signals.text[:start] + text + signals.text[end:]
    if followed and word in lexicon.reference.determiners - lexicon.reference.ambiguous:
        if after[0] not in subject.words:
            return ""
        end += re.match(r"\W*\w+", signals.text[end:]).end()  # type: ignore[union-attr]
    return _agreeing(signals.text[:start] + text + signals.text[end:], text, word, lexicon)


def _agreeing(text: str, subject: str, word: str, lexicon: Lexicon) -> str:
    """Makes the verb agree with a plural subject in the place of a singular word: "how long do holidays last"."""
    if _is_plural(subject, lexicon) and word not in lexicon.reference.plural:
        for pattern, replacement in lexicon.rewriting.agreement:
            pattern = pattern.replace("{focus}", re.escape(subject))
            text = re.sub(pattern, replacement, text, count=1, flags=re.IGNORECASE)
    return text


def _is_plural(text: str, lexicon: Lexicon) -> bool:
    rewriting, lower = lexicon.rewriting, text.casefold()
    return lower.endswith(rewriting.plural_endings) and not lower.endswith(rewriting.singular_endings)


def _bare(signals: FollowupSignals, subject: Subject, lexicon: Lexicon) -> str:
    """Asks about the subject where an ellipsis only points back ("what about that?")."""
    content = lexicon.content_of(signals.rest if signals.opener else signals.text)
    if signals.opener and signals.pointers and not content and lexicon.rewriting.about:
        asked = starts_with_phrase(words_of(signals.rest), tuple(lexicon.words.question))
        return "" if asked else lexicon.rewriting.about.format(focus=subject.text)
    return ""


def _mark(text: str) -> tuple[str, str]:
    """Splits a text before its final question mark (with the language's white space); other marks are dropped."""
    match = re.search(r"\s*[?!.…]+\s*$", text)
    if match is None:
        return text.strip(), ""
    return text[: match.start()], match.group().rstrip() if "?" in match.group() else ""
