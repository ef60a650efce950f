"""What a thread is about before a question."""

from __future__ import annotations

from dataclasses import dataclass

from kb.conversation.topics import Subject


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadState:
    """What the thread is about before a question: its subject, and the last question as it was understood."""

    subject: Subject | None = None
    previous: str = ""
    answer: str = ""
    topics: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    """Content words of the last exchange."""
    seen: frozenset[str] = frozenset()
    """Content words of all the turns that were read."""
    questions: tuple[str, ...] = ()
