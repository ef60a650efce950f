"""Checks that a model's rewrite stays with the question and its thread: one that does not obeyed somebody else.

A rewrite may name what the thread talks about. It may not lose the question, bring words, links or mentions from
nowhere, or answer.
"""

from __future__ import annotations

import re

from kb.rewriting.context import ThreadContext
from kb.rewriting.spelling import correct
from kb.text.lexicon import SPACELESS, Lexicon, starts_with_phrase, words_of
from kb.text.wording import stem

LEAST_KEPT = 0.5
"""Share of the question's content words that a rewrite has to keep: history must not replace the question."""
_LINK = re.compile(r"\w+://|\bwww\.|\bmailto:|\]\(", re.IGNORECASE)
_DOMAIN = re.compile(r"(?<![\w@.-])(?:[\w-]+\.)+[a-z]{2,}(?:/\S*)?", re.IGNORECASE)
_MENTION = re.compile(r"<[!@#][^>]*>?|@(?:channel|here|everyone)\b", re.IGNORECASE)
_TELLING = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u30a0-\u30ff\u3400-\u9fff]|[a-z0-9]+")
"""Hiragana, which inflects, is left out."""
_NUMBER = re.compile(r"\d+")


def strays(
    question: str, query: str, context: ThreadContext, lexicon: Lexicon, *, whole: bool = True
) -> str | None:
    """Returns why a rewrite may not be searched for, as a short code; None when it stays with its thread.

    A part of a question (not `whole`) need not keep the words of the others.
    """
    if adds_links(question, query, context):
        return "link_added"
    if adds_mention(question, query):
        return "mention_added"
    if answers(question, query, context, lexicon):
        return "answered"
    corrected = correct(question, lexicon, thread=words_of(context.text), vocabulary=None)
    question_stems, query_stems = _stems(corrected, lexicon), _stems(query, lexicon)
    common = {stem(word) for word in lexicon.words.common}
    telling = question_stems - common - {stem(word) for word in lexicon.sequence_words}
    if whole and telling and sum(_is_in(stem, query_stems) for stem in telling) < LEAST_KEPT * len(telling):
        return "question_lost"
    requests = {stem(word) for phrase in lexicon.small_talk.asking for word in words_of(phrase)}
    shared = (query_stems & common) - (requests - question_stems)
    if whole and not telling and question_stems & common and not shared:
        return "question_lost"  # "cost" may become "price", but not "look up"
    if not lexicon.words.function:  # no word classes: a stray word cannot be told from a small one
        return None
    source = question_stems | _stems(context.text, lexicon) | common
    new = [stem for stem in query_stems if not _is_in(stem, source)]
    return "ungrounded" if len(new) > len(query_stems) / 2 else None


def adds_links(question: str, query: str, context: ThreadContext) -> bool:
    """Whether a link is new. One from the thread counts as new; a dotted name ("footnote.toml") may be its subject."""
    if _LINK.search(query) and not _LINK.search(question):
        return True
    fair = f"{question}\n{context.text}".casefold()
    return any(match.group().casefold() not in fair for match in _DOMAIN.finditer(query))


def adds_mention(question: str, query: str) -> bool:
    return _MENTION.search(query) is not None and _MENTION.search(question) is None


def answers(
    question: str, query: str, context: ThreadContext, lexicon: Lexicon, *, asked_in: Lexicon | None = None
) -> bool:
    """Whether a rewrite states something where a question was asked: "The price of it is 45 euros."

    A heading ("price of wood mulch") states nothing: it has no verb, and no number that nobody asked about. `asked_in`
    knows the question's words where it is in another language.
    """
    if not lexicon.words.function or _asks(query, lexicon) or not _asks(question, asked_in or lexicon):
        return False
    fair = set(_NUMBER.findall(f"{question}\n{context.asked}"))
    states = not lexicon.words.auxiliaries.isdisjoint(words_of(query))
    return states or any(number not in fair for number in _NUMBER.findall(query))


def _asks(text: str, lexicon: Lexicon) -> bool:
    """Whether it has a question mark, or begins like a question: "what ...", "is ...", "tell me ...", "and ..."."""
    words = words_of(text)
    opening = lexicon.ellipsis.openers + lexicon.ellipsis.more + lexicon.small_talk.asking
    return (
        text.rstrip().endswith("?")
        or bool(words and words[0] in lexicon.words.question | lexicon.words.auxiliaries)
        or bool(starts_with_phrase(words, opening))
    )


def _stems(text: str, lexicon: Lexicon) -> set[str]:
    """Returns stems of content words; where no space parts the words, characters that are more than grammar."""
    if SPACELESS.search(text):
        return {stem(character) for character in _TELLING.findall(text.casefold())}
    return {stem(word) for word in lexicon.content_of(text)}


def _is_in(stem: str, stems: set[str]) -> bool:
    """Whether a stem is among others, by three letters: inflection changes the fourth in short words."""
    return any(stem == other or stem[:3] == other[:3] for other in stems)
