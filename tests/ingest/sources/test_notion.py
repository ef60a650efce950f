"""Notion, against a server of ours that answers as the published API does."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from markdown_it import MarkdownIt

from ingest.errors import PageError, SourceUnavailableError
from ingest.front_matter.page_fields import split_front_matter
from ingest.parsers.formats import parse_file
from ingest.sources.notion.source import NotionSource
from ingest.sources.notion.text import rich_text
from ingest.sources.port import PageRef, RawPage
from kb.config.sources import NotionSettings
from tests.fakes.listing import failure, listed
from tests.fakes.notion import Notion, an_id, text

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


async def raw(source: NotionSource, page_id: str) -> RawPage:
    return await source.fetch(PageRef(path=path(page_id), revision=None))


def read(page: RawPage) -> dict[tuple[str, ...], str]:
    """What the index would hold: heading path -> the text under it."""
    sections = parse_file(page.content, path=page.path, media_type=page.media_type).sections
    return {section.path: "\n\n".join(block.text for block in section.blocks) for section in sections}


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


async def test_a_page_brings_the_titles_above_it_up_to_a_root(notion: Notion, a_source: Any) -> None:
    top = notion.page("Company")
    root = notion.page("Handbook", parent={"type": "page_id", "page_id": top})
    child = notion.page("Offices", parent={"type": "page_id", "page_id": root})
    row = notion.row(notion.database("Cities", child), "Utrecht")

    for roots, above in (
        ((), ("Company", "Handbook", "Offices", "Cities")),
        ((root,), ("Handbook", "Offices", "Cities")),
    ):
        source = a_source(roots=roots)
        refs = await listed(source)
        assert (await source.fetch(refs[path(row)])).parents == above
        assert (await source.fetch(refs[path(root)])).parents == above[: above.index("Handbook")]


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


@pytest.mark.parametrize(
    ("held", "header"),
    [({"has_column_header": False}, "|  |  |\n| --- | --- |\n| Alarm | 9911 |"), ({}, "| Alarm | 9911 |\n| --- | --- |")],
)  # fmt: skip
async def test_the_first_row_of_a_table_without_headers_is_no_header(
    notion: Notion, a_source: Any, held: dict[str, Any], header: str
) -> None:
    rows = [
        notion.block("table_row", cells=[text(name), text(code)])
        for name, code in (("Alarm", "9911"), ("Guests", "guest-42"))
    ]
    page = notion.page("Codes", notion.block("table", *rows, table_width=2, **held))

    assert await content(a_source(), page) == f"# Codes\n\n{header}\n| Guests | guest-42 |\n"


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
    both = await raw(a_source(), notion.page("B", copy, loop, lost))
    assert both.content.decode() == "# B\n\nShared text\n"
    assert both.notes == (
        "parts of it are missing, since they are not shared with the integration: 1 × synced_block",
    )


@pytest.mark.parametrize(
    "kind", ["ai_block", "external_object_instance_page", "button", "toggle", "column_list"]
)
@pytest.mark.parametrize(
    ("status", "why"),
    [
        (400, "cannot be read through Notion's API"),
        (403, "are not shared with the integration"),
        (404, "are not shared with the integration"),
    ],
)
async def test_a_page_is_kept_without_the_block_that_notion_refuses_and_the_report_says_so(
    notion: Notion, a_source: Any, kind: str, status: int, why: str
) -> None:
    refused = notion.block(kind, notion.block("paragraph", words="Written by a machine."))
    page = notion.page(
        "Parental leave",
        notion.block("paragraph", words="It is 16 weeks."),
        notion.block("toggle", refused, notion.block("paragraph", words="Ask Ann."), words="More"),
        notion.block("paragraph", words="Since 2025."),
    )
    notion.fail(f"/blocks/{refused}/children", status)
    got = await raw(a_source(), page)

    assert got.content.decode() == (
        "# Parental leave\n\nIt is 16 weeks.\n\n- More\n\n  Ask Ann.\n\nSince 2025.\n"
    ).replace("- More", "- More" + ("\n  - " if kind == "toggle" else ""))
    assert got.notes == (f"parts of it are missing, since they {why}: 1 × {kind}",)
    assert got.revision == (await listed(a_source()))[path(page)].revision


async def test_what_was_read_of_a_block_before_notion_refused_the_rest_is_kept(
    notion: Notion, a_source: Any
) -> None:
    words = [notion.block("paragraph", words=f"Line {number}") for number in range(5)]
    toggle = notion.block("toggle", *words, words="Open me")
    page = notion.page("Long", toggle)
    notion.fail("start_cursor=2", 400)
    got = await raw(a_source(), page)

    assert read(got) == {(): "- Open me\n\n  Line 0\n\n  Line 1"}
    assert got.notes


async def test_a_kind_that_notion_shows_to_nobody_is_counted(notion: Notion, a_source: Any) -> None:
    page = notion.page("Page", *(notion.block("unsupported") for _ in range(2)), notion.block("divider"))

    assert (await raw(a_source(), page)).notes == (
        "parts of it are missing, since they cannot be read through Notion's API: 2 × unsupported",
    )


@pytest.mark.parametrize("status", [400, 403, 404])
async def test_a_database_whose_rows_may_not_be_listed_leaves_all_other_pages(
    notion: Notion, a_source: Any, status: int
) -> None:
    page = notion.page("Page")
    bad, good = notion.database("Linked elsewhere", page), notion.database("Offices", page)
    rows = [notion.row(bad, "Known to search"), notion.row(good, "Utrecht")]
    notion.fail(f"/data_sources/{bad}/query", status)
    source = a_source()
    refs = await listed(source)

    assert sorted(refs) == sorted([*map(path, [page, *rows]), f"{path(bad)}/"])
    assert "'Linked elsewhere' cannot be listed" in (await failure(source, refs[f"{path(bad)}/"])).reason


async def test_a_page_below_no_root_is_left_out_on_purpose(notion: Notion, a_source: Any) -> None:
    root, other = notion.page("Handbook"), notion.page("Other")
    source = a_source(roots=(root,))
    await listed(source)

    assert (source.withdraws(path(other)), source.withdraws(path(root))) == (True, False)


async def test_an_outage_within_a_page_is_no_shorter_page(notion: Notion, a_source: Any) -> None:
    toggle = notion.block("toggle", notion.block("paragraph", words="x"), words="Open me")
    page = notion.page("Page", toggle)
    notion.fail(f"/blocks/{toggle}/children", *[500] * 6)

    assert not (await reason(a_source(), page)).withdraw


@pytest.mark.parametrize("status", [400, 403, 404])
async def test_a_page_of_which_nothing_can_be_read_is_an_error(
    notion: Notion, a_source: Any, status: int
) -> None:
    page = notion.page("Page", notion.block("paragraph", words="x"))
    notion.fail(f"/blocks/{path(page)}/children", status)

    assert (await reason(a_source(), page)).withdraw == (status != 400)


async def test_words_that_look_like_markdown_or_a_template_stay_words(notion: Notion, a_source: Any) -> None:
    words = [
        "# not a heading",
        "text\n===\nmore\n---\nend",
        "> 5 people, | and - dashes",
        "1. January\n- 5 degrees",
        "    far in\n```\n~~~",
        "[note]: mind-the-gap",
        "Write {{customer}} in the mail; then {% if x %} ok, {: .lead} and \\<word>.",
        "Set image.tag to <tag>, &nbsp; or <%= name %> in <details>.",
    ]
    page = notion.page("Words", *(notion.block("paragraph", words=one) for one in words))
    sections = parse_file(
        (await raw(a_source(), page)).content, path="x", media_type="text/markdown"
    ).sections

    assert [section.path for section in sections] == [()]
    assert {block.kind for block in sections[0].blocks} == {"prose"}
    shown = [html.unescape(re.sub(r"\\(?=[-#>|`~=\[.\\])", "", block.text)) for block in sections[0].blocks]
    assert shown == [one.replace("    far", "far") for one in words]


async def test_relations_rollups_formulas_and_people_say_what_a_reader_sees(
    notion: Notion, a_source: Any
) -> None:
    source_id = notion.database("Plans", notion.page("P"), Share="percent", Fee="euro", Seats="number")
    people = [notion.page(f"Team {number}") for number in range(5)]
    rolled = [
        {"type": "title", "title": text("Oak")},
        {"type": "relation", "relation": [{"id": people[0]}]},
        {"type": "date", "date": {"start": "2026-01-01"}},
        {"type": "number", "number": 2},
    ]
    row = notion.row(
        source_id,
        "Basic",
        Teams={"id": "rel", "type": "relation", "relation": [{"id": one} for one in people]},
        Parts={"type": "rollup", "rollup": {"type": "array", "array": rolled}},
        Last={"type": "rollup", "rollup": {"type": "date", "date": {"start": "2026-02-03"}}},
        Sum={"type": "rollup", "rollup": {"type": "number", "number": 12.5}},
        Open={"type": "formula", "formula": {"type": "boolean", "boolean": False}},
        Label={"type": "formula", "formula": {"type": "string", "string": "Basic (2026)"}},
        Due={"type": "formula", "formula": {"type": "date", "date": {"start": "2026-05-03T09:30:00.000+02:00"}}},
        Owner={"type": "people", "people": [{"id": "1", "name": "Ann"}, {"id": "2"}]},
        By={"type": "created_by", "created_by": {"id": "1", "name": "Bob"}},
        Since={"type": "created_time", "created_time": "2026-01-01T10:00:00.000Z"},
        Share={"type": "number", "number": 0.075},
        Fee={"type": "number", "number": 1249.5},
        Seats={"type": "number", "number": 40},
    )  # fmt: skip

    assert (await raw(a_source(), row)).notes == ()
    assert await content(a_source(), row) == (
        "# Basic\n\n- Teams: Team 0, Team 1, Team 2, Team 3, Team 4\n- Parts: Oak, Team 0, 2026-01-01, 2\n"
        "- Last: 2026-02-03\n- Sum: 12.5\n- Open: no\n- Label: Basic (2026)\n- Due: 2026-05-03 09:30 +02:00\n"
        "- Owner: Ann\n- By: Bob\n- Since: 2026-01-01\n- Share: 7.5%\n- Fee: €1249.50\n- Seats: 40\n"
    )


async def test_a_page_that_is_named_by_its_id_is_asked_for_once_and_named_only_to_who_may_read_it(
    notion: Notion, a_source: Any
) -> None:
    root, secret = notion.page("Handbook"), notion.page("Redundancies 2027")
    below = notion.page("Leave", parent={"type": "page_id", "page_id": root})
    source_id = notion.database("Plans", root)
    related = {"type": "relation", "relation": [{"id": below}, {"id": secret}, {"id": an_id(99)}]}
    links = [notion.block("link_to_page", type="page_id", page_id=one) for one in (below, secret)]
    row = notion.row(source_id, "Row", *links, Related=related)
    rooted = a_source(roots=(root,))
    for _ in range(2):
        got = await raw(rooted, row)

    assert got.content.decode() == (
        f"# Row\n\n- Related: Leave\n\n[Leave](https://www.notion.so/{path(below)})\n"
    )
    assert got.notes == ("3 pages that it links by their id are not named: share them with the integration",)
    assert notion.requests[f"/v1/pages/{below}"] == 1
    assert "Redundancies" in await content(a_source(), row)


async def test_names_and_formats_that_are_not_told_cost_the_page_nothing_else(
    notion: Notion, a_source: Any
) -> None:
    source_id, other = notion.database("Plans", notion.page("P"), Share="percent"), notion.page("Other")
    values: dict[str, Any] = {
        "Share": {"type": "number", "number": 0.075},
        "Related": {"type": "relation", "relation": [{"id": other}]},
    }
    row = notion.row(source_id, "Row", **values)
    listing = await listed(a_source())
    notion.fail(f"/data_sources/{source_id}", 404)
    notion.fail(f"/pages/{other}", *[502] * 6)
    got = await raw(a_source(), row)

    assert got.content.decode() == "# Row\n\n- Share: 0.075\n"
    assert len(got.notes) == 2
    assert got.revision != listing[path(row)].revision, "it is read again when Notion is well"
    again = await raw(a_source(), row)
    assert (again.content.decode(), again.notes) == ("# Row\n\n- Share: 7.5%\n- Related: Other\n", ())
    assert again.revision == listing[path(row)].revision


async def test_attached_files_are_named_and_a_callout_keeps_its_sign(notion: Notion, a_source: Any) -> None:
    page = notion.page(
        "Files",
        notion.block("pdf", type="file", file={"url": "https://x/secret?sig=1"}, name="Terms 2026.pdf"),
        notion.block("file", type="file", file={"url": "https://x/y"}, name="a.docx", caption=text("The form")),
        notion.block("video", type="external", external={"url": "https://film.example/1"}),
        notion.block("callout", words="Never on Friday", icon={"type": "emoji", "emoji": "⚠️"}),
        notion.block("numbered_list_item", words="third", list_start_index=3),
        notion.block("numbered_list_item", words="fourth"),
    )  # fmt: skip

    assert await content(a_source(), page) == (
        "# Files\n\nAttached: Terms 2026.pdf\n\nAttached: a.docx\n\nThe form\n\n<https://film.example/1>\n\n"
        "> ⚠️ Never on Friday\n\n3. third\n4. fourth\n"
    )


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
        Links={"type": "relation", "relation": [{"id": an_id(99)}]},
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


def test_a_backtick_alone_begins_no_code_and_code_may_begin_with_one() -> None:
    bold = {"plain_text": "the `key ", "annotations": {"bold": True}}
    code = {"plain_text": "`a` <!-- b -->", "annotations": {"code": True}}
    assert rich_text([bold, code]) == "**the \\`key** `` `a` <!-- b --> ``"
    assert rich_text([{"plain_text": "two `of` them"}]) == "two `of` them"


@pytest.mark.parametrize(
    ("pieces", "written"),
    [
        (["```", "<!-- b -->"], "`` ```<!-- b --> ``"),
        (["one\n", "\n<!-- two -->"], "`one`\n\n`<!-- two -->`"),
    ],
)
def test_neighbouring_code_is_one_and_an_empty_line_does_not_end_it(pieces: list[str], written: str) -> None:
    code = [{"plain_text": piece, "annotations": {"code": True}} for piece in pieces]
    assert rich_text(code) == written


def test_backticks_that_do_not_pair_begin_no_code() -> None:
    assert rich_text([{"plain_text": "``` `word"}]) == "\\`\\`\\` \\`word"


@pytest.mark.parametrize(
    ("address", "written"),
    [
        ("https://x.example/a b\n(c)", "https://x.example/a%20b%0A%28c%29"),
        (" https://x.example/a ", "https://x.example/a"),
    ],
)
async def test_an_address_with_white_space_or_brackets_is_that_of_a_link(
    notion: Notion, a_source: Any, address: str, written: str
) -> None:
    page = notion.page(
        "Plans",
        notion.block("paragraph", words=text("see", href=address)),
        notion.block("bookmark", url=address, caption=text("A plan")),
    )

    assert await content(a_source(), page) == f"# Plans\n\n[see]({written})\n\n[A plan]({written})\n"


async def test_a_backslash_before_a_bar_is_shown_in_a_cell_and_outside(notion: Notion, a_source: Any) -> None:
    words = [*text("y\\|z"), *text(" "), *text("a\\|b", code=True)]
    head = notion.block("table_row", cells=[text("Path"), text("Use")])
    row = notion.block("table_row", cells=[words, text("grep")])
    page = notion.page("Paths", notion.block("paragraph", words=words), notion.block("table", head, row))

    shown = MarkdownIt().enable("table").render(await content(a_source(), page))

    assert "<p>y\\|z <code>a\\|b</code></p>" in shown
    assert "<td>y\\|z <code>a\\|b</code></td>\n<td>grep</td>" in shown


async def test_a_row_without_cells_is_an_empty_row(notion: Notion, a_source: Any) -> None:
    rows = [notion.block("table_row", cells=cells) for cells in ([text("Alarm")], None, [None])]
    page = notion.page("Codes", notion.block("table", *rows))

    assert await content(a_source(), page) == "# Codes\n\n| Alarm |\n| --- |\n|  |\n|  |\n"


BOLD, ITALIC, BOTH = {"bold": True}, {"italic": True}, {"bold": True, "italic": True}


@pytest.mark.parametrize(
    ("pieces", "written"),
    [
        ([("bold", BOLD), ("both", BOTH)], "<strong>bold<em>both</em></strong>"),
        ([("both", BOTH), ("it", ITALIC)], "<em><strong>both</strong>it</em>"),
        (
            [("bold ", BOLD), ("both", BOTH), (" it", ITALIC)],
            "<strong>bold <em>both</em></strong> <em>it</em>",
        ),
        ([("bold", BOLD), ("it", ITALIC)], "<strong>bold</strong><em>it</em>"),
        ([("a", BOLD), ("\n\n", BOLD), ("b", BOLD)], "<strong>a</strong></p>\n<p><strong>b</strong>"),
        ([("a", BOLD), ("b", {"bold": True, "code": True})], "<strong>a<code>b</code></strong>"),
    ],
)
def test_neighbouring_styles_share_their_marks(
    pieces: list[tuple[str, dict[str, bool]]], written: str
) -> None:
    markdown = rich_text([{"plain_text": words, "annotations": style} for words, style in pieces])

    assert MarkdownIt().render(markdown) == f"<p>{written}</p>\n"


def test_neighbouring_pieces_of_one_link_are_one_link() -> None:
    pieces = [*text("see ", href="/abc"), *text("this", href="/abc", bold=True), *text(" now")]

    assert rich_text(pieces) == "[see **this**](https://www.notion.so/abc) now"
