"""Puts a dependent question and the subject of its thread into one question that stands alone.

It should read like a question, since people see it as "Interpreted as: ...". Where no pattern is clear, the subject
goes in brackets behind the user's own words.
"""

from __future__ import annotations

import re

from kb.rewriting.gate import Reading
from kb.rewriting.sequences import items_in
from kb.rewriting.topics import Subject, names_in
from kb.text.lexicon import Lexicon, spans_of, starts_with_phrase, words_of

SHORT_ATTRIBUTE = 4
"""Words. "The price of delivery" is an attribute of the subject; a longer phrase names its own."""

_NUMBERED = re.compile(r"(?P<word>[^\W\d_]{3,}) \d+")


def compose(reading: Reading, subject: Subject, lexicon: Lexicon, *, previous: str = "") -> str:
    """The question with its subject named. `previous` is the thread's last question as it was understood."""
    if subject.words and subject.words <= set(words_of(reading.text)):
        return reading.text
    like = swapped(reading, lexicon, previous)
    if like:
        return as_question(like, lexicon)
    if not reading.pointers and not reading.opener and _names(reading.text, subject, lexicon):
        return reading.text
    for attempt in (
        _asked_for_more(reading, subject, lexicon),
        _attribute(reading, subject, lexicon),
        _complement(reading, subject, lexicon),
        _with_action(reading, subject, lexicon),
        _with_reference(reading, subject, lexicon),
        _bare(reading, subject, lexicon),
    ):
        if attempt:
            return as_question(attempt, lexicon)
    return as_question(appended(reading.text, subject), lexicon)


def _names(text: str, subject: Subject, lexicon: Lexicon) -> bool:
    """Whether a question has a content word of the subject: enough to find it by."""
    return any(lexicon.is_content(word) for word in subject.words & set(words_of(text)))


def appended(text: str, subject: Subject) -> str:
    body, mark = _mark(text)
    return f"{body} ({_bare_thing(subject.text)}){mark}"


def as_question(text: str, lexicon: Lexicon) -> str:
    """Starts with a capital and no conjunction and, unless it is a request ("Tell me ..."), ends with a mark."""
    text = _without_conjunction(" ".join(text.split()), lexicon)
    start = re.search(r"[^\W\d_]", text)
    if start is not None:
        text = text[: start.start()] + start.group().upper() + text[start.end() :]
    body, mark = _mark(text)
    requested = starts_with_phrase(words_of(text), lexicon.small_talk.asking)
    return f"{body}{mark or ('' if requested else '?')}"


def _without_conjunction(text: str, lexicon: Lexicon) -> str:
    """ "And when do they expire" -> "when do they expire"."""
    spans = spans_of(text)
    first, second = (span.group().casefold() for span in spans[:2]) if len(spans) > 1 else ("", "")
    asks = second in lexicon.words.question | lexicon.words.auxiliaries
    return text[spans[1].start() :] if first in lexicon.ellipsis.openers and asks else text


def swapped(reading: Reading, lexicon: Lexicon, previous: str) -> str:
    """ "And day 7?" after "What is covered on Day 6?": the previous question with the like put for the like."""
    words = words_of(reading.rest)
    if not reading.opener or not previous or reading.pointers or len(words) > SHORT_ATTRIBUTE + 1:
        return ""
    body = _mark(reading.rest)[0].strip()
    if any(word in lexicon.words.auxiliaries for word in words):
        return ""
    return _swapped_item(body, previous, lexicon) or _swapped_place(body, previous, lexicon)


def _swapped_item(body: str, previous: str, lexicon: Lexicon) -> str:
    new = items_in(body, lexicon)
    if len(new) == 1:
        for old in items_in(previous, lexicon):
            if old.same_series(new[0]):
                start, end = old.at
                return previous[:start] + new[0].text + previous[end:]
    numbered = _NUMBERED.fullmatch(
        body
    )  # a series that no language file knows: "and band 4?", "en schaal 9?"
    if numbered is None:
        return ""
    like = re.compile(rf"(?<!\w){re.escape(numbered['word'])} \d+(?!\w)", re.IGNORECASE)
    return like.sub(body, previous, count=1) if like.search(previous) else ""


def _swapped_place(body: str, previous: str, lexicon: Lexicon) -> str:
    """ "And to Germany?" after "Do you ship to Canada?": the same preposition, or one name for another."""
    spans = spans_of(body)
    first = spans[0].group().casefold()
    if first in lexicon.words.prepositions and len(spans) > 1:
        old = re.search(rf"(?<!\w){re.escape(first)} (?P<tail>[^?.!,]+)", previous, re.IGNORECASE)
        if old is not None:
            return previous[: old.start("tail")] + body[spans[1].start() :] + previous[old.end("tail") :]
    names = names_in(f"x {body}", lexicon)
    olds = names_in(previous, lexicon)
    if len(olds) == 1 and names == [body] and not body.isupper() and olds[0] != body:
        return previous.replace(olds[0], body)
    return ""


def _asked_for_more(reading: Reading, subject: Subject, lexicon: Lexicon) -> str:
    template = lexicon.rewriting.more_about
    body, _ = _mark(reading.text)
    if template and " ".join(words_of(body)) in lexicon.ellipsis.more and not reading.pointers:
        return template.format(question=body, focus=subject.text)
    return ""


def _attribute(reading: Reading, subject: Subject, lexicon: Lexicon) -> str:
    """ "En de prijs?" -> "Wat is de prijs van houtmulch?"; "What about exchanges?" keeps its words."""
    rest = reading.rest if reading.opener else reading.text
    body = _mark(rest)[0].strip()
    words = words_of(body)
    if reading.pointers or not words or len(words) > SHORT_ATTRIBUTE or subject.kind == "action":
        return ""
    if words[0] not in lexicon.words.definite or any(word in lexicon.words.auxiliaries for word in words):
        return ""
    plural = body.casefold().endswith(
        lexicon.rewriting.plural_endings or ("\0",)
    ) and not body.casefold().endswith(lexicon.rewriting.singular_endings or ("\0",))
    template = lexicon.rewriting.attribute_plural if plural else lexicon.rewriting.attribute
    return template.format(attribute=body, focus=subject.text) if template else ""


def _complement(reading: Reading, subject: Subject, lexicon: Lexicon) -> str:
    """ "What are the benefits?" -> "What are the benefits of VPC?"."""
    body, mark = _mark(reading.text)
    words = words_of(body)
    ends_in_noun = (
        len(words) > 2 and words[-2] in lexicon.words.definite and words[0] in lexicon.words.question
    )
    if (
        reading.pointers
        or reading.opener
        or subject.kind == "action"
        or not ends_in_noun
        or not lexicon.rewriting.of
    ):
        return ""
    return lexicon.rewriting.of.format(question=body, focus=subject.text) + mark


def _with_action(reading: Reading, subject: Subject, lexicon: Lexicon) -> str:
    """ "How do I do that?" -> "How do I return my order?"; "how long does it take" -> "... to ship to Canada"."""
    if subject.kind != "action":
        return ""
    body, mark = _mark(reading.text)
    for phrase in lexicon.rewriting.do_it:
        match = re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", body, re.IGNORECASE)
        if match:
            return body[: match.start()] + subject.text + body[match.end() :] + mark
    lower = " ".join(words_of(body))
    dangling = any(lower.endswith(phrase) for phrase in lexicon.rewriting.dangling)
    asking_only = len(words_of(body)) <= 2 and all(word in lexicon.known_words for word in words_of(body))
    if (
        lexicon.rewriting.action
        and not reading.opener
        and (dangling or (asking_only and not reading.pointers))
    ):
        return lexicon.rewriting.action.format(question=body, action=subject.text) + mark
    return ""


def _with_reference(reading: Reading, subject: Subject, lexicon: Lexicon) -> str:
    """The subject in the place of the first word that points back, where grammar allows it."""
    if not reading.pointers or subject.kind == "action":
        return ""
    at = reading.pointers[0]
    span = next(span for span in spans_of(reading.text) if span.start() == at)
    word, after = span.group().casefold(), words_of(reading.text[span.end() :])
    person = word in lexicon.reference.people - lexicon.reference.things - lexicon.reference.plural
    if "'" in word or (person and subject.text not in names_in(f"x {subject.text}", lexicon)):
        return ""
    text, end = subject.text, span.end()
    followed = bool(after) and lexicon.is_content(after[0])
    if word in lexicon.reference.possessive and followed:
        if not lexicon.rewriting.possessive:
            return ""
        text = lexicon.rewriting.possessive.format(focus=text)
        return reading.text[:at] + text + reading.text[end:]
    if followed and word in lexicon.reference.determiners - lexicon.reference.ambiguous:
        if after[0] not in subject.words:
            return ""
        end += re.match(r"\W*\w+", reading.text[end:]).end()  # type: ignore[union-attr]
    return _agreeing(reading.text[:at] + text + reading.text[end:], text, word, lexicon)


def _agreeing(text: str, subject: str, word: str, lexicon: Lexicon) -> str:
    last = subject.casefold()
    rewriting = lexicon.rewriting
    plural = last.endswith(rewriting.plural_endings or ("\0",)) and not last.endswith(
        rewriting.singular_endings or ("\0",)
    )
    if plural and word not in lexicon.reference.plural:
        for pattern, replacement in rewriting.agreement:
            text = re.sub(
                pattern.replace("{focus}", re.escape(subject)),
                replacement,
                text,
                count=1,
                flags=re.IGNORECASE,
            )
    return text


def _bare(reading: Reading, subject: Subject, lexicon: Lexicon) -> str:
    """An ellipsis that only points back ("what about that?") asks about the subject."""
    content = lexicon.content_of(reading.rest if reading.opener else reading.text)
    if reading.opener and not content and lexicon.rewriting.about:
        asked = starts_with_phrase(words_of(reading.rest), tuple(lexicon.words.question))
        return "" if asked else lexicon.rewriting.about.format(focus=subject.text)
    return ""


def _mark(text: str) -> tuple[str, str]:
    """A text and the question mark (with the white space of its language) or other mark at its end."""
    match = re.search(r"\s*[?!.…]+\s*$", text)
    if match is None:
        return text.strip(), ""
    mark = match.group().rstrip() if "?" in match.group() else match.group().strip()
    return text[: match.start()], mark if "?" in mark else ""


def _bare_thing(text: str) -> str:
    return text.strip(" ?.!")
