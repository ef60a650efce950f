"""Modern pages of SharePoint sites: what of them is read, and what is none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.graph import GraphServer
from tests.fakes.graph_drive import modern_page
from tests.fakes.listing import failure, listed, reason
from tests.fakes.sharepoint_office import LEAVE, SITE, Office


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with GraphServer() as graph:
        office = Office(graph, tmp_path)
        yield office
        await office.close()


async def test_pages_that_are_refused_do_not_keep_the_libraries_from_being_read(office: Office) -> None:
    leave = office.documents.add("Leave.md", LEAVE)
    home = office.pages.add("Home.aspx", b"", page=modern_page("Home", f"<p>{LEAVE}</p>"))
    office.graph.fail("/lists", 403, "accessDenied")
    source = office.source()
    refs = await listed(source)

    assert sorted(refs) == sorted([office.path(leave), f"{SITE}/"])
    assert "pages cannot be listed" in await reason(source, refs[f"{SITE}/"])
    assert not source.withdraws(office.path(home, office.pages))


async def test_modern_pages_are_read_with_the_texts_of_all_their_parts(office: Office) -> None:
    quick = {
        "@odata.type": "#microsoft.graph.standardWebPart",
        "data": {
            "serverProcessedContent": {
                "htmlStrings": [{"key": "a", "value": "<p>A <b>hero</b></p>"}],
                "searchablePlainTexts": [{"key": "items[0].title", "value": "Forms <& more>"}],
            }
        },
    }
    aside = {"verticalSection": {"webparts": [quick]}}
    page = office.pages.add(
        "Leave.aspx", b"", page=modern_page("Leave & rest", f"<p>{LEAVE}</p>", "<p>Right.</p>", **aside)
    )
    office.pages.add("Forms", None)
    source = office.source()
    refs = await listed(source)
    raw = await source.fetch(refs[office.path(page, office.pages)])

    html = raw.content.decode()
    assert "<h1>Leave &amp; rest</h1>" in html
    assert [
        html.index(text) for text in (LEAVE, "Right.", "A <b>hero</b>", "Forms &lt;&amp; more&gt;")
    ] == sorted(html.index(text) for text in (LEAVE, "Right.", "A <b>hero</b>", "Forms &lt;&amp; more&gt;"))
    assert (raw.media_type, raw.revision) == ("text/html", refs[raw.path].revision)
    assert raw.parents == ("Human Resources", "Site Pages")


async def test_templates_and_files_beside_the_pages_are_no_pages_and_pages_may_be_switched_off(
    office: Office,
) -> None:
    templates = office.pages.add("Templates", None)
    office.pages.add("Blank.aspx", b"", into=templates, page=modern_page("Blank", ""))
    office.pages.add("note.md", LEAVE)
    home = office.pages.add("Home.aspx", b"", page=modern_page("Home", f"<p>{LEAVE}</p>"))
    path = office.path(home, office.pages)

    assert list(await listed(office.source())) == [path]
    without = office.source(pages=False)
    assert await listed(without) == {}
    assert without.withdraws(path)


async def test_a_draft_is_left_out_and_an_edit_that_is_not_published_keeps_the_earlier_text(
    office: Office,
) -> None:
    draft = office.pages.add("New.aspx", b"", page=modern_page("New", "x", level="draft", version="0.3"))
    edited = office.pages.add("Old.aspx", b"", page=modern_page("Old", "x", level="checkout", version="2.1"))
    classic = office.pages.add("Wiki.aspx", b"")
    source = office.source()
    refs = await listed(source)

    new, old, wiki = [
        await failure(source, refs[office.path(one, office.pages)]) for one in (draft, edited, classic)
    ]
    assert (new.left_out, new.withdraw) == (True, True)
    assert (old.left_out, old.withdraw) == (False, False)
    assert "not published" in old.reason
    assert "classic" in wiki.reason
