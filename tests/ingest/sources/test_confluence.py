"""Confluence in both editions, against a server of ours that answers as the published APIs do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import date
from typing import Any

import pytest
from aiohttp import web

from ingest.errors import SourceUnavailableError
from ingest.listing import Listing
from ingest.origin import Origin
from ingest.pipeline import PagePipeline
from ingest.sources.api_responses import ApiError
from ingest.sources.confluence.source import ConfluenceSource
from ingest.sources.json_api import JsonApi
from ingest.sources.port import PageRef
from kb.config.sources import ConfluenceSettings
from kb.retrieval.lexical import LexicalEncoder
from tests.fakes.confluence import Confluence, Page
from tests.fakes.embedder import HashEmbedder
from tests.fakes.listing import failure, listed


@pytest.fixture(params=["cloud", "data_center"])
async def wiki(request: pytest.FixtureRequest) -> AsyncIterator[Confluence]:
    server = Confluence(cloud=request.param == "cloud")
    server.add(
        Page(id="1", title="Leave policy", body="<h2>Carry over</h2><p>Five days.</p>"),
        Page(id="2", title="Pay", parent="1"),
        Page(id="3", title="Old", status="archived"),
        Page(id="4", title="Binned", status="trashed"),
        Page(id="5", space="HR", title="Hiring", labels=("public", "draft")),
        Page(id="6", space="~joe", title="Diary"),
        Page(id="7", title="Tools"),
    )
    async with server:
        yield server


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
async def a_source(wiki: Confluence, pauses: list[float]) -> AsyncIterator[Callable[..., ConfluenceSource]]:
    built: list[ConfluenceSource] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    def build(**settings: Any) -> ConfluenceSource:
        chosen = {
            "url": wiki.url,
            "edition": "cloud" if wiki.cloud else "data_center",
            "token": wiki.token,
            **({"email": wiki.email} if wiki.cloud else {}),
            **settings,
        }
        built.append(
            ConfluenceSource(ConfluenceSettings(kind="confluence", name="wiki", **chosen), sleep=sleep)
        )
        return built[-1]

    yield build
    for source in built:
        await source.close()


async def test_every_current_page_of_the_global_spaces_is_listed_over_all_pages_of_results(
    a_source: Any,
) -> None:
    assert sorted(await listed(a_source())) == ["ENG/1", "ENG/2", "ENG/7", "HR/5"]


async def test_spaces_labels_and_archived_pages_are_chosen_by_settings(a_source: Any) -> None:
    assert sorted(await listed(a_source(spaces=("HR",)))) == ["HR/5"]
    assert sorted(await listed(a_source(spaces=("~joe",)))) == ["~joe/6"]
    assert "ENG/3" in await listed(a_source(archived=True))
    assert sorted(await listed(a_source(labels=("public",)))) == ["HR/5"]
    assert "HR/5" not in await listed(a_source(exclude_labels=("draft",)))


async def test_a_page_is_markdown_with_title_date_and_address(a_source: Any, wiki: Confluence) -> None:
    source = a_source()
    ref = (await listed(source))["ENG/1"]
    raw = await source.fetch(ref)

    anchor = "Carry-over" if wiki.cloud else "Leavepolicy-Carryover"
    assert raw.content.decode() == f"# Leave policy\n\n## Carry over {{#{anchor}}}\n\nFive days.\n"
    assert (raw.revision, raw.edited, raw.audience) == (ref.revision, date(2026, 3, 4), None)
    assert raw.url.startswith(f"{wiki.url}/spaces/ENG/pages/1")
    assert source.url_of("ENG/1") == f"{wiki.url}/pages/viewpage.action?pageId=1"


async def test_a_new_version_a_new_title_and_new_readers_change_the_revision_and_nothing_else_does(
    a_source: Any, wiki: Confluence
) -> None:
    source = a_source(groups={"hr": ("#people-leads",)})
    before = await listed(source)
    assert await listed(source) == before
    wiki.edit("1", body="<p>Six days.</p>")
    wiki.edit("2", version=1, groups=("hr",))
    after = await listed(source)

    assert {path for path in before if before[path] != after[path]} == {"ENG/1", "ENG/2"}


async def test_whom_a_page_mentions_is_named_and_asked_for_once(a_source: Any, wiki: Confluence) -> None:
    wiki.people = {"5": "Ann de Vries"}
    attribute = "ri:account-id" if wiki.cloud else "ri:userkey"
    mention = '<ac:link><ri:user {}="{}"/></ac:link>'
    body = f"<p>Ask {mention.format(attribute, 5)}, not {mention.format(attribute, 6)}.</p>"
    wiki.edit("1", body=body)
    wiki.edit("2", body=body)
    source = a_source()
    refs = await listed(source)
    for path in ("ENG/1", "ENG/2"):
        assert b"Ask Ann de Vries, not ." in (await source.fetch(refs[path])).content

    assert wiki.requests["/rest/api/user"] == 2


async def test_somebody_whose_name_cannot_be_asked_for_costs_the_page_nothing_else(
    a_source: Any, wiki: Confluence
) -> None:
    key = "ri:account-id" if wiki.cloud else "ri:userkey"
    wiki.people = {"5": "Ann"}
    wiki.edit("1", body=f"<p>Ask <ac:link><ri:user {key}='5'/></ac:link> first.</p>")
    source = a_source()
    refs = await listed(source)
    wiki.fail("/user", *[500] * 6)
    raw = await source.fetch(refs["ENG/1"])

    assert raw.content.decode().endswith("\n\nAsk first.\n")
    assert raw.notes == ("Confluence did not say who some of the people are",)
    assert raw.revision != refs["ENG/1"].revision, "it is read again when Confluence is well"
    again = await source.fetch(refs["ENG/1"])
    assert (again.revision, again.notes) == (refs["ENG/1"].revision, ())
    assert "Ask Ann first." in again.content.decode()


async def test_a_page_whose_text_is_not_told_is_no_empty_page(a_source: Any, wiki: Confluence) -> None:
    source = a_source()
    refs = await listed(source)
    wiki.edit("1", body=None)

    error = await failure(source, refs["ENG/1"])
    assert (error.reason, error.withdraw) == ("Confluence did not give the text of the page", False)


async def test_a_page_brings_the_titles_above_it_so_that_one_title_in_two_places_is_told_apart(
    a_source: Any, wiki: Confluence
) -> None:
    wiki.add(
        Page(id="20", title="Offices / sites"),
        Page(id="21", title="Ghent", parent="20"),
        Page(id="22", title="Parking", parent="21", files={"Map.txt": b"Gate 2."}),
    )
    source = a_source(attachments=True)
    refs = await listed(source)
    raw = await source.fetch(refs["ENG/22"])
    (attached,) = [ref for path, ref in refs.items() if path.startswith("ENG/22/")]

    assert raw.parents == ("ENG", "Offices / sites", "Ghent")
    assert (await source.fetch(attached)).parents == ("ENG", "Offices / sites", "Ghent", "Parking")
    assert (await source.fetch(refs["ENG/1"])).parents == ("ENG",)
    pipeline = PagePipeline(embedder=HashEmbedder(), lexical=LexicalEncoder())
    prepared = await pipeline.prepare(raw, Origin.of(source))
    assert prepared.page.heading == "Parking (ENG › Offices sites › Ghent)"


async def test_a_restricted_page_is_for_the_channels_of_its_groups(a_source: Any, wiki: Confluence) -> None:
    wiki.edit("2", groups=("hr", "board"), users=("u1",))
    source = a_source(groups={"hr": ("#people-leads",), "board": ("C0BOARD",)})
    raw = await source.fetch((await listed(source))["ENG/2"])

    assert raw.audience == ("#people-leads", "C0BOARD")


async def test_a_restriction_above_a_page_holds_below_it(a_source: Any, wiki: Confluence) -> None:
    wiki.edit("1", groups=("hr",))
    source = a_source(groups={"hr": ("#people-leads",), "board": ("#board",)})
    assert (await source.fetch((await listed(source))["ENG/2"])).audience == ("#people-leads",)
    wiki.edit("2", groups=("board",))
    assert "ENG/2" not in await listed(source)


@pytest.mark.parametrize("limit", [{"groups": ("unknown",)}, {"users": ("u1",)}])
async def test_a_page_restricted_to_people_without_a_channel_is_left_out_and_withdrawn(
    a_source: Any, wiki: Confluence, limit: dict[str, Any]
) -> None:
    source = a_source(groups={"hr": ("#people-leads",)})
    ref = (await listed(source))["ENG/7"]
    wiki.edit("7", **limit)

    assert "ENG/7" not in await listed(source)
    assert (await failure(source, ref)).withdraw


async def test_a_page_that_the_search_index_does_not_know_yet_is_limited_all_the_same(
    a_source: Any, wiki: Confluence
) -> None:
    if not wiki.cloud:
        pytest.skip("Data Center tells the limits in the listing itself")
    wiki.edit("1", groups=("hr",))
    wiki.unindexed = {"2", "7"}
    source = a_source(groups={"hr": ("#people-leads",)})
    refs = await listed(source)

    assert (await source.fetch(refs["ENG/2"])).audience == ("#people-leads",)
    assert (await source.fetch(refs["ENG/7"])).audience is None


async def test_a_page_whose_limits_may_not_be_asked_for_is_left_out_and_its_space_is_listed(
    a_source: Any, wiki: Confluence
) -> None:
    if not wiki.cloud:
        pytest.skip("Data Center tells the limits in the listing itself")
    wiki.unindexed = {"7"}
    wiki.fail("/restriction/", 404)

    assert sorted(await listed(a_source())) == ["ENG/1", "ENG/2", "HR/5"]


async def test_a_limit_that_a_listing_does_not_expand_is_asked_for_or_closes_the_page(
    a_source: Any, wiki: Confluence
) -> None:
    wiki.edit("1", groups=("hr",))
    wiki.untold = {"1"}  # and with it what is below: "2"
    source = a_source(groups={"hr": ("#people-leads",)})
    refs = await listed(source)

    if wiki.cloud:
        assert (await source.fetch(refs["ENG/2"])).audience == ("#people-leads",)
    else:
        assert sorted(refs) == ["ENG/7", "HR/5"]


async def test_a_deleted_page_is_not_listed_and_says_so_when_it_goes_after_the_listing(
    a_source: Any, wiki: Confluence
) -> None:
    source = a_source()
    ref = (await listed(source))["ENG/7"]
    wiki.edit("7", status="trashed")
    assert "ENG/7" not in await listed(source)
    assert (await failure(source, ref)).withdraw
    del wiki.pages["7"]
    error = await failure(source, ref)
    assert (error.withdraw, error.reason) == (True, "it is gone, or the account may not read it any more")


async def test_a_rate_limit_is_waited_out_for_as_long_as_the_server_says(
    a_source: Any, wiki: Confluence, pauses: list[float]
) -> None:
    wiki.fail("", 429, 503, 429, Retry_After="7")

    assert len(await listed(a_source())) == 4
    assert pauses == [7, 7, 7]


async def test_a_space_that_fails_is_reported_and_keeps_its_pages_while_others_are_listed(
    a_source: Any, wiki: Confluence
) -> None:
    wiki.fail("/pages" if wiki.cloud else "/content", *[500] * 6)
    source = a_source()
    refs = await listed(source)

    assert sorted(refs) == ["ENG/", "HR/5"]
    assert "the space cannot be listed" in (await failure(source, refs["ENG/"])).reason


async def test_a_listing_that_breaks_off_in_the_middle_is_no_listing(a_source: Any, wiki: Confluence) -> None:
    wiki.add(*(Page(id=str(number), title=f"P{number}") for number in range(20, 30)))
    source = a_source(spaces=("ENG",))
    before = wiki.requests.copy()
    await listed(source)
    rounds = wiki.requests - before
    where = "/api/v2/spaces/11/pages" if wiki.cloud else "/rest/api/content"
    assert rounds[where] > 3
    original = Confluence._paged

    def breaks(self: Confluence, request: Any, results: Any, by: str) -> Any:
        if where in request.path and request.query.get(by):
            raise ConnectionResetError
        return original(self, request, results, by)

    wiki._paged = breaks.__get__(wiki)  # type: ignore[method-assign]
    assert sorted(await listed(source)) == ["ENG/"]


async def test_wrong_credentials_say_which_variable_to_set(a_source: Any, wiki: Confluence) -> None:
    with pytest.raises(SourceUnavailableError, match=r"source 'wiki'.*CONFLUENCE_API_TOKEN") as caught:
        await listed(a_source(token="wrong"))
    assert "wrong" not in str(caught.value)
    with pytest.raises(SourceUnavailableError, match="CONFLUENCE_API_TOKEN"):
        await listed(a_source(token=None))


async def test_a_wrong_address_and_a_server_that_is_down_say_what_to_do(
    a_source: Any, wiki: Confluence
) -> None:
    with pytest.raises(SourceUnavailableError, match="correct `url`"):
        await listed(a_source(url=wiki.url + "/wrong"))
    with pytest.raises(SourceUnavailableError, match="cannot be reached"):
        await listed(a_source(url="http://127.0.0.1:1/wiki"))


async def test_a_space_that_the_account_does_not_see_keeps_its_pages(a_source: Any) -> None:
    source = a_source(spaces=("ENG", "SECRET"))
    refs = await listed(source)

    assert sorted(refs) == ["ENG/1", "ENG/2", "ENG/7", "SECRET/"]
    assert "give it access" in (await failure(source, refs["SECRET/"])).reason
    with pytest.raises(SourceUnavailableError, match="sees none of the spaces"):
        await listed(a_source(spaces=("SECRET",)))


async def test_an_unchanged_wiki_costs_no_request_for_a_page(a_source: Any, wiki: Confluence) -> None:
    source = a_source()
    wiki.requests.clear()
    await listed(source)

    assert not [path for path in wiki.requests if path.endswith(("/pages/1", "/content/1"))]


async def test_blog_posts_are_read_where_the_settings_say_so_and_keep_their_limits(
    a_source: Any, wiki: Confluence
) -> None:
    wiki.add(Page(id="20", title="News", body="<p>We moved.</p>", blog=True, labels=("news",)))
    wiki.add(
        Page(id="21", title="Secret news", blog=True, groups=("hr",)), Page(id="22", blog=True, users=("u",))
    )
    assert not [path for path in await listed(a_source()) if "post" in path]
    source = a_source(blog=True, groups={"hr": ("#people-leads",)})
    refs = await listed(source)
    raw = await source.fetch(refs["ENG/post/20"])

    assert {path for path in refs if "post" in path} == {"ENG/post/20", "ENG/post/21"}
    assert (raw.content.decode(), raw.audience) == ("# News\n\nWe moved.\n", None)
    assert (raw.path, raw.revision) == ("ENG/post/20", refs["ENG/post/20"].revision)
    assert (await source.fetch(refs["ENG/post/21"])).audience == ("#people-leads",)
    assert source.withdraws("ENG/post/22")
    assert source.url_of("ENG/post/20").endswith("pageId=20")
    assert "ENG/post/20" in await listed(a_source(blog=True, labels=("news",)))


async def test_an_attached_document_is_a_page_of_its_own_for_the_readers_of_its_page(
    a_source: Any, wiki: Confluence
) -> None:
    files = {"Terms 2026.txt": b"Pay within 30 days.", "Rates.CSV": b"a,b\n1,2\n", "plan.png": b"\x89PNG"}
    wiki.edit("1", files=files)
    wiki.edit("7", files={"secret.txt": b"x"}, groups=("hr",))
    assert not [path for path in await listed(a_source()) if "Terms" in path]
    source = a_source(attachments=True, groups={"hr": ("#people-leads",)})
    refs = await listed(source)
    terms, secret = "ENG/1/100/Terms 2026.txt", "ENG/7/700/secret.txt"

    assert {path for path in refs if path.count("/") > 1} == {terms, "ENG/1/101/Rates.CSV", secret}
    raw = await source.fetch(refs[terms])
    assert (raw.content, raw.path, raw.audience) == (b"Pay within 30 days.", terms, None)
    assert (raw.revision, raw.edited) == (refs[terms].revision, date(2026, 3, 4))
    assert raw.url == f"{wiki.url}/pages/1?preview=0"
    assert (await source.fetch(refs[secret])).audience == ("#people-leads",)
    assert source.url_of(terms).endswith("pageId=1")

    wiki.edit("7", groups=("unknown",))
    refs = await listed(source)
    assert (secret in refs, source.withdraws(secret)) == (False, True)
    error = await failure(source, PageRef(path=secret, revision=None))
    assert error.withdraw, "an attachment is not read past the limits of its page"
    wiki.edit("1", files={})
    assert (await failure(source, PageRef(path=terms, revision=None))).withdraw


async def test_a_document_that_cannot_be_had_or_listed_costs_no_page_anything(
    a_source: Any, wiki: Confluence
) -> None:
    wiki.edit("1", files={"a.txt": b"1", "b.txt": b"2"})
    source = a_source(attachments=True)
    refs = await listed(source)
    wiki.fail("/a.txt", *[500] * 6)
    assert not (await failure(source, refs["ENG/1/100/a.txt"])).withdraw
    assert (await source.fetch(refs["ENG/1/101/b.txt"])).content == b"2"
    assert "Five days." in (await source.fetch(refs["ENG/1"])).content.decode()

    wiki.fail("attachment+and+space", 400)
    refs = await listed(source)
    assert {"ENG/", "ENG/1", "HR/5"} <= set(refs)
    assert "its attachments cannot be listed" in (await failure(source, refs["ENG/"])).reason


async def test_a_download_stays_within_its_size_and_goes_to_other_hosts_over_https_alone() -> None:
    async def file(request: web.Request) -> web.Response:
        return web.Response(body=b"12345")

    async def away(request: web.Request) -> web.Response:
        raise web.HTTPFound(f"http://localhost:{request.url.port}/file")

    async def here(request: web.Request) -> web.Response:
        raise web.HTTPFound("/file")

    async def round_and_round(request: web.Request) -> web.Response:
        raise web.HTTPFound("/round")

    app = web.Application()
    for name, handler in {"file": file, "away": away, "here": here, "round": round_and_round}.items():
        app.router.add_get(f"/{name}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with JsonApi(url, vendor="test", headers={"Authorization": "Bearer x"}, timeout_s=5) as api:
        assert await api.download("/here", max_bytes=5) == b"12345"
        for path, most, reason in [
            ("/file", 4, "larger than"),
            ("/away", 9, "no https"),
            ("/round", 9, "to the next"),
        ]:
            with pytest.raises(ApiError, match=reason):
                await api.download(path, max_bytes=most)
    await runner.cleanup()


async def test_comments_that_are_marked_as_answers_are_read_with_their_page(
    a_source: Any, wiki: Confluence
) -> None:
    comments = {
        "31": "<p>✅ Use the <strong>blue</strong> form.</p>",
        "32": "<p>Thanks!</p>",
        "33": "<p>answer: or mail.</p>",
    }
    wiki.edit("1", comments=comments)
    unread = await a_source().fetch((await listed(a_source()))["ENG/1"])
    source = a_source(answers=("✅", "Answer:"))
    refs = await listed(source)
    raw = await source.fetch(refs["ENG/1"])

    assert "form" not in unread.content.decode()
    assert raw.content.decode() == unread.content.decode() + (
        "\n## Accepted answer\n\n✅ Use the **blue** form.\n\nanswer: or mail.\n"
    )
    assert raw.revision == refs["ENG/1"].revision
    wiki.pages["1"].comments["34"] = "<p>Answer: the green one.</p>"
    after = await listed(source)
    assert [path for path in refs if refs[path].revision != after[path].revision] == ["ENG/1"]

    wiki.fail("comment+and+container", *[500] * 6)
    partly = await source.fetch(after["ENG/1"])
    assert partly.notes == ("its comments could not be read",)
    assert partly.revision != after["ENG/1"].revision


async def test_a_page_that_is_restricted_goes_even_when_something_else_of_its_space_cannot_be_listed(
    a_source: Any, wiki: Confluence
) -> None:
    source = a_source(attachments=True, answers=("✅",))
    before = {path: str(ref.revision) for path, ref in (await listed(source)).items()}
    wiki.edit("1", users=("u1",))
    for part in ("attachment+and+space", "comment+and+space"):
        wiki.fail(part, 400)
        refs = await listed(source)
        assert "ENG/" in refs
        listing = Listing(source=source, refs=refs, indexed=before)
        assert listing.withdrawn == ["ENG/1", "ENG/2"], "a page below it is restricted as well"
        assert listing.deleted == listing.withdrawn, "nothing else goes"
