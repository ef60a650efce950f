"""What was degraded while answering, in the reader's language: one quiet line under an answer."""

from __future__ import annotations

from bot.messages import Messages
from bot.mrkdwn import escape
from kb.answer import Answer, Note

UNTOLD: frozenset[Note] = frozenset({"reranker unavailable"})
"""Matters to whoever runs the bot, not to who asks; "Why this answer?" has it."""
SAYS_QUOTES: frozenset[Note] = frozenset({"model unavailable", "model refused"})
"""Each says that these are quotes, so that need not be said again."""


def note_wording(note: str, words: Messages, *, removed: int = 1) -> str:
    """A note in the reader's language; one that we have no words for as it stands. `removed` counts sentences."""
    wordings = {
        "extractive mode": words.note_extractive,
        "model unavailable": words.note_model_unavailable,
        "model refused": words.note_model_refused,
        "reranker unavailable": words.note_reranker,
        "history unavailable": words.note_history,
        "shortened": words.shortened,
        "pages' language": words.note_pages_language,
        "sentences removed": words.removed(removed),
        "nothing more": words.nothing_more,
    }
    return wordings.get(note, escape(note))


def reader_notes(answer: Answer, words: Messages, *, shortened: bool = False) -> list[str]:
    """The notes that tell a reader something. `shortened`: the message itself had to leave something out."""
    notes = [note for note in answer.notes if note not in _implied(answer)]
    told = [note_wording(note, words, removed=removed_sentences(answer)) for note in notes]
    return [words.shortened, *told] if shortened and "shortened" not in notes else told


def removed_sentences(answer: Answer) -> int:
    """How many sentences a check took out of the answer."""
    checked = answer.trace.checked
    return checked.removed if checked and checked.removed else len(answer.trace.removed_sentences)


def _implied(answer: Answer) -> set[Note]:
    """What the message says already, or what a reader need not know."""
    implied: set[Note] = {*UNTOLD}
    if SAYS_QUOTES & set(answer.notes) or answer.outcome in ("closest", "declined"):
        implied.add("extractive mode")
    if answer.outcome == "declined" and not answer.quotes:
        implied.add("nothing more")
    return implied
