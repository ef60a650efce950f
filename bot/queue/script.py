"""Runs the Lua script that changes the states of questions: one call, one atomic change."""

from __future__ import annotations

from importlib import resources
from typing import Any

from redis.asyncio import Redis

_WHEN_FULL = "#!lua flags=allow-oom\n"
"""Redis would refuse a script for its first write although it frees more
than that takes: nothing that waits could ever leave.
"""


class QuestionsScript:
    """A full store refuses a new question, and lets those that it has go on. `root`: what all keys begin with."""

    def __init__(self, redis: Redis, *, namespace: str) -> None:
        names = ("queue_state.lua", "queue_operations.lua")
        text = "\n".join(
            resources.files("bot.queue").joinpath(name).read_text(encoding="utf-8") for name in names
        )
        self.root = f"{{{namespace}}}:queue"
        self._accept = redis.register_script(text)
        self._others = redis.register_script(_WHEN_FULL + text)

    async def __call__(self, operation: str, *arguments: str | int) -> Any:
        """Raises as redis-py does."""
        script = self._accept if operation == "accept" else self._others
        return await script(keys=[self.root], args=[operation, *arguments])
