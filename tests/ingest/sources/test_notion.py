"""Notion, against a server of ours that answers as the published API does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest

from ingest.errors import PageError, SourceUnavailableError
from ingest.front_matter import split_front_matter
from ingest.sources.notion.source import NotionSource
from ingest.sources.port import PageRef
from kb.source_settings import NotionSettings
from tests.fakes.listing import failure, listed
from tests.fakes.notion import Notion, text

NOW = datetime(2026, 8, 22, 12, tzinfo=UTC)


@pytest.fixture
async def notion() -> AsyncIterator[Notion]:
    async with Notion() as server:
        yield server


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
async def a_source(notion: Notion, pauses: list[float]) -> AsyncIterator[Callable[..., NotionSource]]:
    built: list[NotionSource] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    def build(*, now: datetime = NOW, **settings: Any) -> NotionSource:
        chosen = {"token": notion.token, "api_url": notion.url, **settings}
        settings_ = NotionSettings(kind="notion", name="team", **chosen)
        built.append(NotionSource(settings_, clock=lambda: now, sleep=sleep))
        return built[-1]

    yield build
    for source in built:
        await source.close()


def path(page_id: str) -> str:
    return page_id.replace("-", "")


async def content(source: NotionSource, page_id: str) -> str:
    return (await source.fetch(PageRef(path=path(page_id), revision=None))).content.decode()


async def reason(source: NotionSource, page_id: str) -> PageError:
    return await failure(source, PageRef(path=path(page_id), revision=None))


async def test_pages_and_rows_are_listed_over_all_pages_of_results(notion: Notion, a_source: Any) -> None:
    pages = [notion.page(f"Page {number}") for number in range(5)]
    source_id = notion.database("Offices", pages[0])
    rows = [notion.row(source_id, f"Office {number}") for number in range(3)]
    notion.unsearchable = {rows[2]}

    assert sorted(await listed(a_source())) == sorted(map(path, pages + rows))


async def test_roots_choose_a_page_and_what_is_below_it_however_it_is_nested(
    notion: Notion, a_source: Any
) -> None:
    root, other = notion.page("Handbook"), notion.page("Other")
    child = notion.page("Child", parent={"type": "page_id", "page_id": root})
    toggle = notion.block("toggle", words="More")
    notion.blocks[toggle]["parent"] = {"type": "page_id", "page_id": child}
    nested = notion.page("Nested", parent={"type": "block_id", "block_id": toggle})
    row = notion.row(notion.database("Offices", nested), "Utrecht")
    orphan = notion.page(
        "Orphan", parent={"type": "page_id", "page_id": "00000000-0000-0000-0000-00000000ffff"}
    )

    assert sorted(await listed(a_source(roots=(root,)))) == sorted(map(path, [root, child, nested, row]))
    assert {path(other), path(orphan)} <= set(await listed(a_source()))


async def test_blocks_become_markdown_with_their_own_anchors(notion: Notion, a_source: Any) -> None:
    head = notion.block("heading_2", words="Carry over")
    page = notion.page(
        "Leave policy",
        head,
        notion.block("paragraph", words=[*text("You get "), *text("25 days", bold=True), *text(" <a year>, "), *text("see", href="/abc")]),
        notion.block("bulleted_list_item", notion.block("bulleted_list_item", words="inner"), words="outer"),
        notion.block("bulleted_list_item", words="next"),
        notion.block("numbered_list_item", words="first"),
        notion.block("numbered_list_item", words="second"),
        notion.block("to_do", words="done", checked=True),
        notion.block("quote", words="Said\ntwice"),
        notion.block("callout", notion.block("paragraph", words="inside"), words="Mind it"),
        notion.block("code", words="a < b", language="python"),
        notion.block("equation", expression="e=mc^2"),
        notion.block("divider"),
        notion.block("image", type="file", file={"url": "https://x/secret?sig=1"}, caption=text("A plan")),
        notion.block("bookmark", url="https://example.com/a", caption=text("Read this")),
        notion.block("unsupported"),
        notion.block("toggle", notion.block("paragraph", words="hidden text"), words="Open me"),
        notion.block("heading_3", notion.block("paragraph", words="under it"), words="Folded", is_toggleable=True),
        notion.block(
            "column_list",
            notion.block("column", notion.block("paragraph", words="left")),
            notion.block("column", notion.block("paragraph", words="right")),
        ),
        notion.block(
            "table",
            notion.block("table_row", cells=[text("Band"), text("Pay")]),
            notion.block("table_row", cells=[text("3"), text("a|b")]),
            table_width=2,
        ),
        notion.block("child_page", title="Below"),
    )  # fmt: skip
    folded = next(block for block in notion.blocks.values() if block["type"] == "heading_3")["id"]
    below = next(block for block in notion.blocks.values() if block["type"] == "child_page")["id"]

    assert (
        await content(a_source(), page)
        == f"""# Leave policy

### Carry over {{#{path(head)}}}

You get **25 days** &lt;a year>, [see](https://www.notion.so/abc)

- outer
  - inner
- next
1. first
2. second
- [x] done

> Said
> twice

> Mind it
>
> inside

```python
a < b
```

$$e=mc^2$$

A plan

[Read this](https://example.com/a)

- Open me

  hidden text

#### Folded {{#{path(folded)}}}

under it

left

right

| Band | Pay |
| --- | --- |
| 3 | a\\|b |

[Below](https://www.notion.so/{path(below)})
"""
    )


async def test_a_synced_block_shows_its_original_and_one_out_of_reach_shows_nothing(
    notion: Notion, a_source: Any
) -> None:
    original = notion.block("synced_block", notion.block("paragraph", words="Shared text"), synced_from=None)
    copy = notion.block("synced_block", synced_from={"type": "block_id", "block_id": original})
    loop = notion.block("synced_block")
    notion.blocks[loop]["synced_block"] = {"synced_from": {"type": "block_id", "block_id": loop}}
    notion.children[loop] = [loop]
    lost = notion.block(
        "synced_block", synced_from={"type": "block_id", "block_id": "00000000-0000-0000-0000-00000000ffff"}
    )

    assert await content(a_source(), notion.page("A", original)) == "# A\n\nShared text\n"
    assert await content(a_source(), notion.page("B", copy, loop, lost)) == "# B\n\nShared text\n"


async def test_a_row_tells_its_columns(notion: Notion, a_source: Any) -> None:
    row = notion.row(
        notion.database("Offices", notion.page("P")),
        "Utrecht",
        Status={"type": "status", "status": {"name": "Open"}},
        Desks={"type": "number", "number": 0},
        Tags={"type": "multi_select", "multi_select": [{"name": "a"}, {"name": "b"}]},
        Lease={"type": "date", "date": {"start": "2026-01-01", "end": "2027-01-01"}},
        Notes={"type": "rich_text", "rich_text": text("By the\nstation")},
        Empty={"type": "select", "select": None},
        Cost={"type": "formula", "formula": {"type": "number", "number": 7}},
        Links={"type": "relation", "relation": [{"id": "x"}]},
    )

    assert await content(a_source(), row) == (
        "# Utrecht\n\n- Status: Open\n- Desks: 0\n- Tags: a, b\n- Lease: 2026-01-01 to 2027-01-01\n"
        "- Notes: By the station\n- Cost: 7\n"
    )


async def test_a_verified_page_was_reviewed_then_and_is_due_when_its_verification_ends(
    notion: Notion, a_source: Any
) -> None:
    verified = {"state": "verified", "date": {"start": "2026-05-01T00:00:00.000Z", "end": "2026-11-01"}}
    page = notion.page("Leave", Verification={"type": "verification", "verification": verified})
    front, body = split_front_matter(await content(a_source(), page))

    assert (front.dates.reviewed, front.dates.review_due) == (date(2026, 5, 1), date(2026, 11, 1))
    assert body == "# Leave\n"


async def test_an_edit_and_a_new_title_change_the_revision_and_nothing_else_does(
    notion: Notion, a_source: Any
) -> None:
    one, two, three = (notion.page(name) for name in ("One", "Two", "Three"))
    before = await listed(a_source())
    assert await listed(a_source()) == before
    notion.pages[one]["last_edited_time"] = "2026-03-05T10:00:00.000Z"
    notion.pages[two]["properties"]["Name"]["title"] = text("Zwei")
    after = await listed(a_source())

    assert [key for key in before if before[key] != after[key]] == [path(one), path(two)]
    assert before[path(three)] == after[path(three)]


async def test_a_page_that_was_edited_within_this_minute_is_read_once_more(
    notion: Notion, a_source: Any
) -> None:
    page = notion.page("Fresh", edited="2026-08-22T12:00:00.000Z")
    soon, later = datetime(2026, 8, 22, 12, 0, 30, tzinfo=UTC), datetime(2026, 8, 22, 12, 5, tzinfo=UTC)
    ref = (await listed(a_source()))[path(page)]

    assert (await a_source(now=soon).fetch(ref)).revision != ref.revision
    assert (await a_source(now=later).fetch(ref)).revision == ref.revision


async def test_a_page_in_the_trash_is_not_listed_and_is_withdrawn(notion: Notion, a_source: Any) -> None:
    page, _ = notion.page("Old"), notion.page("Other")
    notion.pages[page]["in_trash"] = True
    assert path(page) not in await listed(a_source())
    assert (await reason(a_source(), page)).withdraw
    del notion.pages[page]
    error = await reason(a_source(), page)
    assert (error.withdraw, error.reason) == (True, "it is gone, or no longer shared with the integration")


async def test_requests_keep_to_the_rate_and_a_limit_is_waited_out(
    notion: Notion, a_source: Any, pauses: list[float]
) -> None:
    for number in range(3):
        notion.page(f"Page {number}")
    notion.fail("/search", 429, 503, 429, Retry_After="9")

    assert len(await listed(a_source())) == 3
    assert pauses.count(9) == 3
    assert [pause for pause in pauses if pause != 9 and 0 < pause < 3]


async def test_an_outage_is_an_unavailable_source_and_not_an_empty_one(
    notion: Notion, a_source: Any, pauses: list[float]
) -> None:
    page = notion.page("Page")
    notion.fail("/search", *[502] * 6)
    with pytest.raises(SourceUnavailableError, match=r"source 'team': Notion answers 502"):
        await listed(a_source())
    notion.fail("/children", *[500] * 6)
    assert not (await reason(a_source(), page)).withdraw
    with pytest.raises(SourceUnavailableError, match=r"can be reached from here"):
        await listed(a_source(api_url="http://127.0.0.1:1"))


async def test_a_wrong_token_and_an_integration_without_pages_say_what_to_do(
    notion: Notion, a_source: Any
) -> None:
    with pytest.raises(SourceUnavailableError, match="set NOTION_TOKEN") as caught:
        await listed(a_source(token="wrong-one"))
    assert "wrong-one" not in str(caught.value)
    with pytest.raises(SourceUnavailableError, match="set NOTION_TOKEN"):
        await listed(a_source(token=None))
    with pytest.raises(SourceUnavailableError, match="sees no page"):
        await listed(a_source())
