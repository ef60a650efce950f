"""What a message does among others in a thread: whether it asks or
answers something, and whether it speaks to a person. Pure.

    mend the spelling -> sentences -> without "ok", "thanks", "great" in front -> what each does

The words are `[speaking]` of the language files. A language without a
file has its marks: "?" and what there is of words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields

from kb.rewriting.spelling import correct
from kb.rewriting.spoken import ordinary_words, sentences_of
from kb.text.language import detect
from kb.text.lexicon import Lexicon, languages, lexicon, starts_with_phrase, words_of
from kb.text.wording import stem

READ = 500
"""Characters of a long message's beginning, and of its end: what is wanted stands there."""
REMARK = 3
"""Words of a remark that nobody answers."""

_IN_EVERY = frozenset({"says", "small", "answers"})
"""Signals that must hold in each language that a message may be in; for the others one language is enough."""
_CHATTER = re.compile(r"<[@#!][^>]*>|<?https?://\S+|:[a-z0-9_+\-]+:|(?<!\S)\+\d+\b|(?m:^&?>.*$)")
_AT_SOMEBODY = re.compile(r"(?<![\w.])@(?=[^\W\d_])")


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplySignals:
    """The signals of a message. `says` is False for small talk, remarks, emoji and links alone.

    remarks: it says no more than a remark would ("so many!").
    asks: a question or a request.
    asks_knowledge: one that is not put to a person ("can you send it to me?") and is no mere tag ("nice, right?").
    leans: such a one goes on with what was asked and answered last, by "and", "what about" or a word of it.
    small: it is nothing but a word between people ("What time?", "which is it?", "how was it?").
    corrects: "I meant contractors"; "no, for contractors".
    chooses: it corrects, or picks among what was offered.
    answers: it may answer a question, by a bare phrase.
    wonders: "does anyone know how ...".
    to_group, to_named, to_person: whom it speaks to; a person by name, or as "you".
    """

    says: bool = False
    remarks: bool = True
    asks: bool = False
    asks_knowledge: bool = False
    leans: bool = False
    small: bool = True
    corrects: bool = False
    chooses: bool = False
    answers: bool = False
    wonders: bool = False
    to_group: bool = False
    to_named: bool = False
    to_person: bool = False


def read_reply(
    text: str, *, before: str = "", offered: str = "", names: Collection[str] = ()
) -> ReplySignals:
    """Reads a message.

    Args:
        before: what was asked and answered last; it tells the language of a short message, and spells its words.
        offered: what we asked back, "" where we did not.
        names: of the other people in the thread.
    """
    plain = _CHATTER.sub(" ", text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}")
    hint = detect(before) if before.strip() else None
    language = detect(plain, hint=hint)
    lexicons = [lexicon(code) for code in dict.fromkeys((language, hint or language)) if code in languages()]
    read = [_read(plain, lexicon, before, offered, names) for lexicon in lexicons or [lexicon("")]]
    return _joined(read)


def _joined(read: Sequence[ReplySignals]) -> ReplySignals:
    """Joins the readings of a message that may be in either of two languages."""
    return ReplySignals(
        **{
            field.name: (all if field.name in _IN_EVERY else any)(
                getattr(reply, field.name) for reply in read
            )
            for field in fields(ReplySignals)
        }
    )


def hands_on(text: str) -> bool:
    """Whether a message asks nothing of its own ("do you know?", "can you answer this?", nothing at all)."""
    words = words_of(_CHATTER.sub(" ", text))
    return not words or any(_points_on(words, lexicon(language)) for language in languages())


def _points_on(words: list[str], lexicon: Lexicon) -> bool:
    rest = words[starts_with_phrase(words, lexicon.small_talk.asking) :]
    nothing = lexicon.reference.nouns | lexicon.ellipsis.unclear
    return len(rest) < len(words) and all(word in nothing or not lexicon.is_content(word) for word in rest)


def _read(text: str, lexicon: Lexicon, before: str, offered: str, names: Collection[str]) -> ReplySignals:
    """Reads a message in one language, with its spelling corrected and, for what it asks, as it was written too."""
    names_called = {word for name in names for word in words_of(name) if len(word) > 2} - ordinary_words()
    corrected = correct(text, lexicon, thread=words_of(before), vocabulary=None)
    sentences = sentences_of(corrected, lexicon, names_called)
    as_written = sentences if corrected == text else sentences_of(text, lexicon, names_called)
    either = [*sentences, *as_written]
    questions = [
        sentence for sentence in either if sentence.asks and not sentence.to_person and not sentence.is_tag
    ]
    stems_offered = {stem(word) for word in lexicon.content_of(offered)}
    stems_before = {stem(word) for word in lexicon.content_of(before)}
    return ReplySignals(
        says=bool(sentences),
        remarks=not any(sentence.tells or len(sentence.words) > REMARK for sentence in sentences),
        leans=any(sentence.leans or not stems_before.isdisjoint(sentence.stems) for sentence in questions),
        asks=any(sentence.asks for sentence in either),
        asks_knowledge=bool(questions),
        small=all(sentence.is_small for sentence in questions),
        corrects=any(sentence.corrects for sentence in sentences),
        chooses=any(sentence.chooses(stems_offered) for sentence in sentences),
        answers=any(sentence.is_bare for sentence in sentences)
        and all(sentence.is_bare or not sentence.tells for sentence in sentences),
        wonders=any(sentence.wonders for sentence in either),
        to_group=any(sentence.to_group for sentence in either),
        to_named=bool(_AT_SOMEBODY.search(text)) or any(sentence.to_named for sentence in either),
        to_person=any(sentence.to_person for sentence in either),
    )
