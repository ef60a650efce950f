"""A cache of a model's replies that is lost with the test."""

from __future__ import annotations


class InMemoryReplies:
    def __init__(self) -> None:
        self._replies: dict[str, str] = {}

    async def load(self, key: str) -> str | None:
        return self._replies.get(key)

    async def save(self, key: str, reply: str) -> None:
        self._replies[key] = reply
