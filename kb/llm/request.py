"""What goes out to the model: passages that can be cited, and what was said before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from anthropic.types import MessageParam, SearchResultBlockParam


@dataclass(frozen=True, kw_only=True, slots=True)
class CitablePassage:
    """A passage as the model sees it. A citation covers whole `blocks`, so each is a sentence or a list item."""

    source: str
    title: str
    blocks: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Spoken:
    """What was said earlier in the thread, without its citations."""

    role: Literal["user", "assistant"]
    text: str


def said_before(spoken: Spoken) -> MessageParam:
    if spoken.role == "user":
        return {"role": "user", "content": spoken.text}
    return {"role": "assistant", "content": spoken.text}


def search_result(passage: CitablePassage) -> SearchResultBlockParam:
    return {
        "type": "search_result",
        "source": passage.source,
        "title": passage.title,
        "content": [{"type": "text", "text": block} for block in passage.blocks],
        "citations": {"enabled": True},
    }
