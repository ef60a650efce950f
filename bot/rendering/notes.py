"""Words what was degraded while answering, in the reader's language, as one quiet line below an answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot.messages.catalog import Messages
from bot.rendering.mrkdwn import escape
from kb.answer import Answer
from kb.answering.language import SURE_LANGUAGES

OPERATORS_ONLY: frozenset[str] = frozenset({"reranker unavailable"})
"""Matters to whoever runs the bot: `footnote status`, `doctor` and the admins' figures have it."""
SAYS_QUOTES: frozenset[str] = frozenset({"model unavailable", "model refused"})
"""Each says that these are quotes, so that need not be said again."""


def note_wording(note: str, messages: Messages, *, removed: int = 1, quoted_in: Collection[str] = ()) -> str:
    """Returns a note in the reader's language; one that we have no words for as it stands.

    `removed` counts sentences; `quoted_in` are the languages (ISO 639-1) of the pages that are quoted.
    """
    languages = messages.languages(
        (code for code in quoted_in if code in SURE_LANGUAGES), join=messages.and_also
    )
    wordings = {
        "extractive mode": messages.note_extractive,
        "model unavailable": messages.note_model_unavailable,
        "model refused": messages.note_model_refused,
        "history unavailable": messages.note_history,
        "thread unread": messages.note_thread,
        "files unread": messages.note_files,
        "shortened": messages.shortened,
        "pages' language": messages.note_pages_in.format(languages=languages)
        if languages
        else messages.note_pages_language,
        "sentences removed": messages.removed(removed),
        "nothing more": messages.nothing_more,
    }
    return wordings.get(note, escape(note))


def reader_notes(answer: Answer, messages: Messages, *, shortened: bool = False) -> list[str]:
    """Returns the notes that tell a reader something. `shortened`: the message itself had to leave something out."""
    notes = relevant_notes(answer.notes, answer.outcome, quoted=bool(answer.quotes))
    removed, quoted_in = removed_sentences(answer), quote_languages(answer)
    parts = [note_wording(note, messages, removed=removed, quoted_in=quoted_in) for note in notes]
    return [messages.shortened, *parts] if shortened and "shortened" not in notes else parts


def relevant_notes(notes: Sequence[str], outcome: str, *, quoted: bool) -> list[str]:
    """Returns the notes without what the answer says already, or what a reader need not know."""
    implied: set[str] = {*OPERATORS_ONLY}
    if SAYS_QUOTES & set(notes) or outcome in ("closest", "declined"):
        implied.add("extractive mode")
    if outcome == "declined" and not quoted:
        implied.add("nothing more")
    return [note for note in notes if note not in implied]


def quote_languages(answer: Answer) -> tuple[str, ...]:
    """Returns the languages of the quoted pages, each once, in the order of the quotes."""
    return tuple(dict.fromkeys(quote.citation.chunk.page.language for quote in answer.quotes))


def removed_sentences(answer: Answer) -> int:
    """Returns how many sentences a check took out of the answer."""
    checked = answer.trace.checked
    return checked.removed if checked and checked.removed else len(answer.trace.removed_sentences)
