"""A conversation as a list of messages by role, which the HTTP API takes and answer sets hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from kb.models import Turn


class ChatMessage(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["user", "assistant"]
    content: str


def turns_of(history: Sequence[ChatMessage]) -> list[Turn]:
    """Pairs each answer with the question before it; messages before the first question are dropped."""
    turns: list[Turn] = []
    for message in history:
        if message.role == "user":
            turns.append(Turn(question=message.content, answer=""))
        elif turns:
            text = "\n".join(filter(None, (turns[-1].answer, message.content)))
            turns[-1] = Turn(question=turns[-1].question, answer=text)
    return turns
