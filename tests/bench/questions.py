"""What is asked: the sample handbook's own cases, or questions made of the headings of somebody's pages."""

from __future__ import annotations

from collections.abc import AsyncIterator

from bot.cli.composition.sources import sample_folder
from kb.evaluation.questions import read_cases
from kb.index.port import VectorIndex
from kb.models import Audience, Chunk

WORDINGS = ("{}?", "{}", "Please tell me: {}?", "I would like to know, {}")
"""Each is a new question to every cache, and about the same pages. One a round."""


def sample_questions() -> list[str]:
    """Questions that stand alone and have an answer that everybody may read."""
    cases = read_cases(sample_folder().parent / "questions.json").cases
    return [
        one.question.rstrip("?")
        for one in cases
        if one.expect == "answered" and not one.history and one.channel != "#people-leads"
    ]


async def questions_about(index: VectorIndex, limit: int) -> list[str]:
    """One question a page, from its last heading, spread over the whole index."""
    by_page: dict[str, str] = {}
    async for chunk in _chunks(index):
        by_page[chunk.page.id] = (
            f"What do we do about {(chunk.section or (chunk.page.title,))[-1].rstrip('?')}"
        )
    wanted = list(dict.fromkeys(by_page.values()))
    return wanted[:: max(1, len(wanted) // limit)][:limit]


async def _chunks(index: VectorIndex) -> AsyncIterator[Chunk]:
    async for batch in index.passages(audience=Audience()):
        for chunk in batch:
            yield chunk
