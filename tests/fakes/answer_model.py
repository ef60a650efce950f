"""An answering model that says what it is told to, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anthropic.types import MessageParam, ToolParam

from kb.llm.stream import CitedBlocks, OnText, Reply, TextBlock, ToolUse

STEP = 12
"""Characters by which a streamed text grows."""


def cites(text: str, passage: int = 0, first: int = 0, end: int = 1) -> TextBlock:
    """Text with a native citation of whole blocks of a passage."""
    return TextBlock(text=text, citations=(CitedBlocks(passage=passage, first=first, end=end),))


def says(*pieces: str | TextBlock) -> Reply:
    blocks = tuple(TextBlock(text=one) if isinstance(one, str) else one for one in pieces)
    return Reply(blocks=blocks, stop_reason="end_turn")


def searches(*queries: str, saying: str = "") -> Reply:
    """Wants these searches made."""
    uses = tuple(
        ToolUse(id=f"toolu_{at}", name="search_pages", input={"query": query})
        for at, query in enumerate(queries)
    )
    return Reply(
        blocks=(TextBlock(text=saying),) if saying else (),
        tool_uses=uses,
        content=tuple(
            {"type": "tool_use", "id": use.id, "name": use.name, "input": use.input} for use in uses
        ),
        stop_reason="tool_use",
    )


class ScriptedModel:
    """An `AnswerModel`. Each call gets the next step; an exception is raised."""

    def __init__(self, *script: Reply | Exception, native: bool = False, tools: bool = True) -> None:
        self.native_citations, self.tools = native, tools
        self.asked: list[dict[str, Any]] = []
        self._script = list(script)

    async def converse(
        self,
        *,
        system: str,
        messages: Sequence[MessageParam],
        tools: Sequence[ToolParam] = (),
        max_tokens: int,
        deadline_s: float,
        on_text: OnText | None = None,
    ) -> Reply:
        self.asked.append(
            {"system": system, "messages": list(messages), "tools": list(tools), "deadline_s": deadline_s}
        )
        step = self._script.pop(0)
        if isinstance(step, Exception):
            raise step
        if on_text is not None:
            await _stream(step.blocks, on_text)
        return step

    def last_results(self) -> list[dict[str, Any]]:
        """What the searches of the last round brought."""
        return [dict(block) for block in self.asked[-1]["messages"][-1]["content"]]


async def _stream(blocks: Sequence[TextBlock], on_text: OnText) -> None:
    for at, block in enumerate(blocks):
        for end in range(STEP, len(block.text) + STEP, STEP):
            grown = TextBlock(text=block.text[:end], citations=block.citations)
            await on_text((*blocks[:at], grown))
