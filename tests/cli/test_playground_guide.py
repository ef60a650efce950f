"""What the playground's page tells a newcomer never comes from a page
that is limited, and an outage is no empty index.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

from bot.cli.serving.playground import PlaygroundGuide
from kb.errors import IndexUnavailableError
from kb.index.port import IndexCounts
from kb.models import EVERYONE, Audience, Chunk, Page


def a_passage(title: str, *, audience: tuple[str, ...] = (EVERYONE,)) -> Chunk:
    page = Page(id=title, source="s", path=title, title=title, url=title, audience=audience)
    return Chunk(id=title, page=page, position=0, text="Words.", url=title)


class Index:
    """Two pages, one of them limited. `reads` counts how often the passages were read."""

    def __init__(self) -> None:
        self.held = [a_passage("Parking places"), a_passage("Salary bands", audience=("#people-leads",))]
        self.reads = 0
        self.down = False

    async def counts(self) -> IndexCounts:
        if self.down:
            raise IndexUnavailableError("down")
        return IndexCounts(pages=len(self.held), chunks=len(self.held))

    async def passages(self, *, audience: Audience) -> AsyncIterator[Sequence[Chunk]]:
        self.reads += 1
        yield [one for one in self.held if audience.may_read(one.page.audience)]


def guide_of(index: Index, model: str | None = None) -> PlaygroundGuide:
    runtime = SimpleNamespace(index=index, model=SimpleNamespace(name=model) if model else None)
    return PlaygroundGuide(cast(Any, runtime))


async def test_a_limited_page_is_never_suggested() -> None:
    told = await guide_of(Index())()
    texts = " ".join(one.text for one in told.questions)
    assert "parking places" in texts
    assert "alary" not in texts
    assert (told.model, told.pages) == (None, 2)


async def test_the_questions_are_made_anew_only_when_the_pages_change() -> None:
    index = Index()
    guide = guide_of(index, "claude-sonnet-5-5")
    assert (await guide()).questions == (await guide()).questions
    assert index.reads == 1
    index.held.append(a_passage("Bicycle sheds"))
    told = await guide()
    assert index.reads == 2
    assert (told.model, told.pages) == ("claude-sonnet-5-5", 3)


async def test_an_index_that_is_down_is_not_an_empty_one() -> None:
    index = Index()
    index.down = True
    told = await guide_of(index)()
    assert (told.pages, told.questions) == (None, ())
