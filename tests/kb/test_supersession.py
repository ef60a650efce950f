"""Which page takes another's place, as the pages say, and for whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kb.index.port import PagesWanted
from kb.models import EVERYONE, Audience, Chunk, Hit, Page, Scores
from kb.pages.versions import as_name, is_later, names_of, series_of
from kb.retrieval.supersession import find_successors, replace_superseded

EVERYBODY = Audience()


def a_page(title: str, **given: Any) -> Page:
    name = title.lower().replace(" ", "-")
    fields = {"id": name, "source": "handbook", "path": f"{name}.md", "url": f"https://kb.example/{name}"}
    return Page(title=title, **{**fields, **given})


def a_hit(page: Page, text: str, *, final: float = 0.5) -> Hit:
    chunk = Chunk(id=f"{page.id}:{text}", page=page, position=0, text=text, url=page.url)
    return Hit(chunk=chunk, scores=Scores(dense=0.5, final=final))


class Index:
    """Knows pages by what they say of themselves, as the engines do."""

    def __init__(self, *hits: Hit) -> None:
        self.hits = hits
        self.searched: list[str] = []

    async def pages(self, wanted: PagesWanted, *, audience: Audience) -> list[Page]:
        return [
            page
            for page in {hit.chunk.page.id: hit.chunk.page for hit in self.hits}.values()
            if audience.may_read(page.audience)
            and (
                not set(names_of(page)).isdisjoint(wanted.named)
                or not {as_name(one) for one in page.replaces}.isdisjoint(wanted.replacing)
                or series_of(page) in wanted.series
            )
        ]

    async def hits_of(self, pages: Sequence[str]) -> list[Hit]:
        self.searched.extend(pages)
        return [hit for hit in self.hits if hit.chunk.page.id in pages]


async def texts(index: Index, *hits: Hit, query: str = "What is the rate?") -> list[str]:
    found = await replace_superseded(hits, query, finder=index, audience=EVERYBODY, hits_of=index.hits_of)
    return [hit.chunk.text for hit in found]


OLD = a_page("Travel 2024", superseded_by="travel-2026.md")
NEW = a_page("Travel 2026")
OTHER = a_page("Canteen")


async def test_a_successor_among_the_hits_moves_to_the_place_of_the_page_it_replaced():
    hits = [a_hit(OLD, "0.21", final=0.9), a_hit(OTHER, "soup", final=0.7), a_hit(NEW, "0.25", final=0.4)]
    found = await replace_superseded(
        hits, "What is the rate?", finder=Index(*hits), audience=EVERYBODY, hits_of=Index().hits_of
    )
    assert [(hit.chunk.text, hit.scores.final) for hit in found] == [("0.25", 0.9), ("soup", 0.7)]


async def test_a_successor_that_no_hit_is_of_is_looked_up_and_searched():
    index = Index(a_hit(NEW, "0.25"))
    assert await texts(index, a_hit(OLD, "0.21"), a_hit(OTHER, "soup")) == ["0.25", "soup"]
    assert index.searched == ["travel-2026"]


async def test_a_superseded_page_whose_successor_is_nowhere_stays():
    assert await texts(Index(), a_hit(OLD, "0.21")) == ["0.21"]


async def test_who_asks_for_the_old_page_by_its_year_gets_it_with_its_successor_named():
    index = Index(a_hit(NEW, "0.25"))
    found = await replace_superseded(
        [a_hit(OLD, "0.21")],
        "What was the rate in 2024?",
        finder=index,
        audience=EVERYBODY,
        hits_of=index.hits_of,
    )
    successor = found[0].chunk.page.successor
    assert found[0].chunk.text == "0.21"
    assert successor is not None
    assert (successor.title, index.searched) == ("Travel 2026", [])


async def test_a_number_that_both_titles_have_asks_for_neither():
    old = a_page("Band 3 pay 2024", superseded_by="Band 3 pay 2026")
    index = Index(a_hit(a_page("Band 3 pay 2026"), "4,000"))
    assert await texts(index, a_hit(old, "3,800"), query="What does band 3 pay?") == ["4,000"]


async def test_a_page_that_says_it_replaces_another_does_so_within_its_source_only():
    old = a_page("Travel rules")
    own = a_page("Trips", replaces=("Travel rules",))
    foreign = a_page("Wiki trips", source="wiki", replaces=("Travel rules",))
    assert await texts(Index(a_hit(own, "new")), a_hit(old, "old")) == ["new"]
    assert await texts(Index(a_hit(foreign, "new")), a_hit(old, "old")) == ["old"]


async def test_a_later_version_replaces_an_earlier_one_and_the_latest_both():
    versions = [a_page(f"Laptop guide v{n}", version=str(n)) for n in (1, 2, 10)]
    index = Index(*(a_hit(page, f"text {page.version}") for page in versions))
    assert await texts(index, a_hit(versions[0], "text 1"), a_hit(versions[1], "text 2")) == ["text 10"]
    found = await find_successors(versions, finder=index, audience=EVERYBODY)
    assert {page: (one.title, one.version) for page, one in found.items()} == {
        "laptop-guide-v1": ("Laptop guide v10", "10"),
        "laptop-guide-v2": ("Laptop guide v10", "10"),
    }


def test_pages_that_look_alike_are_no_versions_of_one_another():
    assert not is_later(a_page("Travel 2026"), a_page("Travel 2024"))
    assert not is_later(a_page("Laptop guide v2", version="2"), a_page("Laptop guide"))
    assert not is_later(a_page("Phone guide v2", version="2"), a_page("Laptop guide v1", version="1"))
    assert not is_later(a_page("Guide, 2026 edition", version="2026"), a_page("Guide v3", version="3"))
    assert not is_later(a_page("G v2", version="2", source="a"), a_page("G v1", version="1", source="b"))


async def test_a_line_of_successors_is_followed_to_its_end_and_a_circle_replaces_nothing():
    first = a_page("A", superseded_by="b.md")
    index = Index(a_hit(a_page("B", superseded_by="c.md"), "b"), a_hit(a_page("C"), "c"))
    assert await texts(index, a_hit(first, "a")) == ["c"]
    circle = Index(a_hit(a_page("B", superseded_by="a.md"), "b"))
    assert await texts(circle, a_hit(first, "a")) == ["a"]


async def test_a_successor_that_the_asker_may_not_read_replaces_nothing_for_them():
    secret = a_page("Trips", replaces=("Travel rules",), audience=("#leads",))
    assert EVERYONE not in secret.audience
    assert await texts(Index(a_hit(secret, "new")), a_hit(a_page("Travel rules"), "old")) == ["old"]
