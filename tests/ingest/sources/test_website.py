"""Websites, with the traps that real ones have."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from yarl import URL

from ingest.errors import PageError, SourceUnavailableError
from ingest.parsers.formats import parse_file
from ingest.sources.port import PageRef, RawPage
from ingest.sources.web.addresses import is_public
from ingest.sources.web.source import WebsiteSource
from kb.config.sources import WebsiteSettings
from tests.fakes.listing import reason
from tests.fakes.website import (
    Names,
    Website,
    article,
    bomb,
    busy,
    endless,
    moved,
    stalls,
    web_text,
)

LONG = "Everybody who works here has a right to twenty-five days of paid leave in each calendar year, and may take them."


def only_loopback(address: str) -> bool:
    return address == "127.0.0.1"


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def a_source(tmp_path: Path, pauses: list[float]) -> Callable[..., WebsiteSource]:
    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    def build(
        site: Website, *, names: Names | None = None, reach: Any = only_loopback, **settings: object
    ) -> Any:
        chosen = {"start": f"{site.url}/docs/", "delay_s": 0, "timeout_s": 5, **settings}
        return WebsiteSource(
            WebsiteSettings(kind="website", name="site", **chosen),  # type: ignore[arg-type]
            tmp_path / "memory",
            may_reach=reach,
            sleep=sleep,
            resolver=names,
        )

    return build


async def listed(source: WebsiteSource) -> dict[str, PageRef]:
    """Path without the host -> what was listed."""
    return {ref.path.partition("/")[2]: ref async for ref in source.discover()}


async def text_of(source: WebsiteSource, ref: PageRef) -> str:
    return (await source.fetch(ref)).content.decode()


def a_site(**more: object) -> Website:
    return Website(
        {
            "/docs/": article(
                "Docs", LONG, '<p><a href="leave">Leave</a> <a href="/docs/pay#top">Pay</a></p>'
            ),
            "/docs/leave": article(
                "Leave", LONG, '<h2 id="carry">Carry over</h2>', f"<p>Five days carry over. {LONG}</p>"
            ),
            "/docs/pay": article("Pay", f"Band 3 earns 60,000. {LONG}"),
            "/pricing": article("Pricing", LONG),
            **more,  # type: ignore[dict-item]
        }
    )


async def test_pages_are_found_along_links_and_in_sitemaps_below_the_start_alone(a_source: Any) -> None:
    sitemap = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{}</urlset>"
    async with a_site() as site:
        site.pages["/robots.txt"] = web_text(f"User-agent: *\nSitemap: {site.url}/maps.xml")
        site.pages["/maps.xml"] = web_text(
            f"<sitemapindex xmlns='x'><sitemap><loc>{site.url}/map.xml</loc></sitemap></sitemapindex>"
        )
        site.pages["/map.xml"] = web_text(
            sitemap.format(
                f"<url><loc>{site.url}/docs/hidden</loc></url><url><loc>{site.url}/pricing</loc></url>"
                "<url><loc>http://other.example/docs/</loc></url>"
            )
        )
        site.pages["/docs/hidden"] = article("Only in the sitemap", LONG)
        source = a_source(site)
        refs = await listed(source)

        assert sorted(refs) == ["docs/hidden", "docs/index", "docs/leave", "docs/pay"]
        raw = await source.fetch(refs["docs/leave"])
        assert (raw.url, raw.revision, raw.media_type) == (
            f"{site.url}/docs/leave",
            refs["docs/leave"].revision,
            "text/markdown",
        )
        assert source.url_of(refs["docs/index"].path) == f"{site.url}/docs/"
        assert "/pricing" not in site.requests
        assert all("Footnote" in agent for agent in site.agents)


async def test_the_text_is_the_main_content_with_the_page_s_own_anchors(a_source: Any) -> None:
    async with a_site() as site:
        source = a_source(site)
        raw = await source.fetch((await listed(source))["docs/leave"])
        page = parse_file(raw.content, path="leave.md", media_type=raw.media_type)

        assert page.title == "Leave"
        assert [(section.path, section.anchor) for section in page.sections] == [
            ((), None),
            (("Carry over",), "carry"),
        ]
        assert "Pricing" not in raw.content.decode()
        assert "Cookie" not in raw.content.decode()


async def test_links_in_the_text_lead_where_a_browser_would_go(a_source: Any) -> None:
    links = '<p>{} See <a href="carry">carry over</a>, <a href="../pay">pay</a> and <a href="#top">above</a>. {}</p>'
    async with a_site() as site:
        site.pages["/docs/leave"] = article("Leave", LONG, links.format(LONG, LONG))
        site.pages["/docs/pay"] = article(
            "Pay", LONG, links.format(LONG, LONG), head=f'<base href="{site.url}/other/place/">'
        )
        source = a_source(site)
        refs = await listed(source)
        leave, pay = await text_of(source, refs["docs/leave"]), await text_of(source, refs["docs/pay"])

        assert f"[carry over]({site.url}/docs/carry), [pay]({site.url}/pay)" in leave
        assert f"[carry over]({site.url}/other/place/carry), [pay]({site.url}/other/pay)" in pay


async def test_what_no_visitor_sees_is_no_text_of_the_page(a_source: Any) -> None:
    hidden = [
        '<p STYLE="DISPLAY:NONE">Secret of the first kind. {}</p>',
        '<div style="color: white"><p>Secret of the second kind. {}</p></div>',
        '<p style="position:absolute; left:-9999px">Secret of the third kind. {}</p>',
        "<p hidden>Secret of the fourth kind. {}</p>",
        "<template><p>Secret of the fifth kind. {}</p></template>",
        '<span style="background: navy; color: white">A badge stays.</span>',
        '<div role="tabpanel" hidden><p>On Windows it is otherwise. {}</p></div>',
    ]
    async with a_site() as site:
        site.pages["/docs/leave"] = article("Leave", LONG, *(one.format(LONG) for one in hidden), LONG)
        source = a_source(site)
        text = await text_of(source, (await listed(source))["docs/leave"])

        assert "Secret" not in text
        assert "A badge stays." in text
        assert "On Windows it is otherwise." in text


async def test_a_second_visit_asks_with_validators_and_changes_nothing(a_source: Any) -> None:
    async with a_site() as site:
        before = await listed(a_source(site))
        site.requests.clear()
        after = await listed(a_source(site))

        assert after == before
        assert site.unchanged == {"/docs/": 1, "/docs/leave": 1, "/docs/pay": 1}
        site.pages["/docs/pay"] = article("Pay", f"Band 3 earns 65,000. {LONG}")
        changed = await listed(a_source(site))
        assert {path for path in changed if changed[path] != before[path]} == {"docs/pay"}


async def test_a_page_that_another_machine_listed_is_read_from_the_site(
    a_source: Any, tmp_path: Path
) -> None:
    async with a_site() as site:
        ref = (await listed(a_source(site)))["docs/pay"]
        (tmp_path / "memory" / "site.visits").unlink()
        raw: RawPage = await a_source(site).fetch(ref)

        assert "Band 3 earns 60,000." in raw.content.decode()
        assert raw.revision == ref.revision


async def test_robots_rules_keep_pages_out_and_slow_the_crawl(a_source: Any, pauses: list[float]) -> None:
    async with a_site() as site:
        site.pages["/robots.txt"] = web_text(
            "User-agent: Footnote\nDisallow: /docs/pay\nCrawl-delay: 7\n\nUser-agent: *\nDisallow: /"
        )
        refs = await listed(a_source(site))

        assert sorted(refs) == ["docs/index", "docs/leave"]
        assert "/docs/pay" not in site.requests
        assert pauses[0] == pytest.approx(7, abs=1)


async def test_a_site_that_forbids_everything_or_whose_rules_fail_is_unavailable(a_source: Any) -> None:
    async with a_site() as site:
        site.pages["/robots.txt"] = web_text("User-agent: *\nDisallow: /")
        with pytest.raises(SourceUnavailableError, match=r"robots\.txt asks to stay away"):
            await listed(a_source(site))
        site.pages["/robots.txt"] = web_text("", status=500)
        with pytest.raises(SourceUnavailableError, match=r"its robots\.txt cannot be read"):
            await listed(a_source(site))
        assert "/docs/" not in site.requests
        site.pages["/robots.txt"] = web_text("", status=403)
        assert "docs/leave" in await listed(a_source(site))


async def test_noindex_pages_are_not_listed_and_nofollow_links_not_followed(a_source: Any) -> None:
    async with a_site() as site:
        site.pages["/docs/leave"] = article("Leave", LONG, head='<meta name="robots" content="noindex">')
        site.pages["/docs/pay"] = article(
            "Pay", LONG, '<p><a href="/docs/far">far</a></p>', head='<meta name="ROBOTS" content="NoFollow">'
        )
        site.pages["/docs/far"] = article("Far", LONG)

        assert sorted(await listed(a_source(site))) == ["docs/index", "docs/pay"]


async def test_a_page_that_hides_and_shows_itself_again_unchanged_goes_and_comes_back(a_source: Any) -> None:
    header = {"ETag": '"1"'}

    async def page(request: web.Request) -> web.Response:
        if request.headers.get("If-None-Match") == '"1"':
            return web.Response(status=304, headers=header)
        return web.Response(text=article("Pay", LONG), content_type="text/html", headers=header)

    async with a_site() as site:
        site.pages["/docs/pay"] = page
        assert "docs/pay" in await listed(a_source(site))
        header["X-Robots-Tag"] = "noindex"
        assert "docs/pay" not in await listed(a_source(site))
        assert "docs/pay" not in await listed(a_source(site))
        del header["X-Robots-Tag"]
        assert "docs/pay" in await listed(a_source(site))


async def test_pages_with_one_canonical_address_are_one_page(a_source: Any) -> None:
    async with a_site() as site:
        canonical = f'<link rel="canonical" href="{site.url}/docs/leave">'
        site.pages["/docs/"] = article(
            "Docs", LONG, '<a href="/docs/leave?print=1">p</a> <a href="/docs/leave?utm_source=x">u</a>'
        )
        site.pages["/docs/leave?print=1"] = article("Leave, printed", LONG, head=canonical)
        site.pages["/docs/leave"] = article("Leave", LONG, head=canonical)

        assert sorted(await listed(a_source(site))) == ["docs/index", "docs/leave"]


async def test_a_canonical_address_that_does_not_exist_or_points_back_hides_nothing(a_source: Any) -> None:
    async with a_site() as site:
        site.pages["/docs/leave"] = article("Leave", LONG, head='<link rel="canonical" href="/docs/gone">')
        site.pages["/docs/pay"] = article("Pay", LONG, head='<link rel="canonical" href="/docs/pay2">')
        site.pages["/docs/pay2"] = article("Pay2", LONG, head='<link rel="canonical" href="/docs/pay">')

        assert sorted(await listed(a_source(site))) == ["docs/index", "docs/leave", "docs/pay", "docs/pay2"]


async def test_a_redirect_within_the_site_lists_its_end_under_its_own_address(a_source: Any) -> None:
    async with a_site() as site:
        site.pages["/docs/leave"] = moved("/docs/holiday", status=301)
        site.pages["/docs/holiday"] = article("Holiday", LONG)

        assert sorted(await listed(a_source(site))) == ["docs/holiday", "docs/index", "docs/pay"]


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/latest/",
        "http://[::ffff:169.254.169.254]/",
        "http://localhost:9/",
        "http://user:pw@127.0.0.1/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
    ],
)
async def test_a_redirect_to_another_host_is_not_followed(a_source: Any, target: str) -> None:
    async with a_site() as site:
        site.pages["/docs/pay"] = moved(target)
        source = a_source(site)
        refs = await listed(source)

        assert refs["docs/pay"].revision is None
        assert "it redirects to" in await reason(source, refs["docs/pay"])


async def test_an_allowed_host_whose_name_leads_to_a_private_address_is_not_fetched(a_source: Any) -> None:
    async with a_site() as site:
        source = a_source(
            site,
            names=Names(docs_example=["169.254.169.254"]),
            reach=is_public,
            start=f"http://docs.example:{site.port}/docs/",
        )
        with pytest.raises(SourceUnavailableError, match="leads to a private or local address: not fetched"):
            await listed(source)
        with pytest.raises(SourceUnavailableError, match="private or local"):
            await listed(a_source(site, reach=is_public))
        assert site.requests == []


async def test_a_name_that_leads_elsewhere_later_is_checked_at_that_very_connection(a_source: Any) -> None:
    async with a_site() as site:
        names = Names(docs_example=["127.0.0.1", "127.0.0.2"])
        source = a_source(site, names=names, start=f"http://docs.example:{site.port}/docs/")

        assert "docs/leave" in await listed(source)
        with pytest.raises(SourceUnavailableError, match="private or local"):
            await listed(source)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("100.64.0.1", False),
        ("169.254.169.254", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("2002:7f00:0001::", False),
    ],
)
def test_public_addresses_are_told_from_all_others(address: str, public: bool) -> None:
    assert is_public(address) is public


async def test_loops_and_endless_addresses_end(a_source: Any) -> None:
    async with a_site() as site:

        async def calendar(request: Any) -> Any:
            month = int(request.query.get("month", "0"))
            return web.Response(
                text=article(
                    f"Month {month}", LONG, f'<a href="?month={month + 1}">next</a> <a href="deep/">d</a>'
                ),
                content_type="text/html",
            )

        site.pages["/docs/"] = article(
            "Docs", LONG, '<a href="a">a</a> <a href="/docs/">self</a> <a href="cal/">c</a>'
        )
        site.pages["/docs/a"] = moved("/docs/b")
        site.pages["/docs/b"] = moved("/docs/a")
        site.pages["/docs/cal/"] = calendar
        for month in range(200):
            site.pages[f"/docs/cal/?month={month}"] = calendar
        path = "/docs/cal/"
        for _ in range(20):
            path += "deep/"
            site.pages[path] = calendar
        source = a_source(site)
        refs = await listed(source)

        assert "redirects more than 5 times" in await reason(source, refs["docs/a"])
        assert len([path for path in refs if "month" in path]) == 50
        assert "docs/cal/deep/deep/deep/deep/index" not in refs


async def test_a_crawl_that_reaches_its_limit_says_so_and_counts_nothing_as_deleted(a_source: Any) -> None:
    async with a_site() as site:
        source = a_source(site, max_pages=2)
        refs = await listed(source)

        assert sum(ref.revision is not None for ref in refs.values()) == 2
        assert "raise max_pages" in await reason(source, refs[""])
        assert refs[""].path == f"127.0.0.1:{site.port}/"


async def test_slow_and_huge_pages_fail_alone(a_source: Any) -> None:
    async with a_site() as site:
        site.pages["/docs/"] = article(
            "Docs",
            LONG,
            '<a href="slow">s</a> <a href="huge">h</a> <a href="bomb">b</a> <a href="leave">l</a>',
        )
        site.pages |= {"/docs/slow": stalls, "/docs/huge": endless, "/docs/bomb": bomb(50)}
        source = a_source(site, timeout_s=0.5)
        refs = await listed(source)

        assert refs["docs/leave"].revision is not None
        assert "took too long" in await reason(source, refs["docs/slow"])
        assert "larger than 5 MB" in await reason(source, refs["docs/huge"])
        assert "larger than 5 MB" in await reason(source, refs["docs/bomb"])


async def test_a_busy_site_is_asked_again_after_the_pause_that_it_names(
    a_source: Any, pauses: list[float]
) -> None:
    async with a_site() as site:
        site.pages["/docs/pay"] = busy(1, article("Pay", LONG), status=429, after="17")
        refs = await listed(a_source(site))

        assert refs["docs/pay"].revision is not None
        assert 17 in pauses


async def test_a_page_that_fails_today_keeps_its_place_and_the_way_through_it(a_source: Any) -> None:
    async with a_site() as site:
        site.pages["/docs/"] = article("Docs", LONG, '<a href="hub">hub</a>')
        site.pages["/docs/hub"] = article("Hub", LONG, '<a href="leave">leave</a>')
        before = await listed(a_source(site))
        site.pages["/docs/hub"] = web_text("", status=500)
        source = a_source(site)
        after = await listed(source)

        assert sorted(after) == sorted(before) == ["docs/hub", "docs/index", "docs/leave"]
        assert after["docs/leave"] == before["docs/leave"]
        assert "the site answers 500" in await reason(source, after["docs/hub"])


@pytest.mark.parametrize(
    "now",
    [
        web_text("", status=401),
        web_text("", status=403),
        moved("https://login.example/?from=hub", status=302),
    ],
    ids=["401", "403", "a redirect to a login elsewhere"],
)
async def test_the_earlier_text_of_a_page_that_is_no_longer_public_goes(a_source: Any, now: Any) -> None:
    async with a_site() as site:
        site.pages["/docs/"] = article("Docs", LONG, '<a href="hub">hub</a>')
        site.pages["/docs/hub"] = article("Hub", LONG, '<a href="leave">leave</a>')
        await listed(a_source(site))
        site.pages["/docs/hub"] = now
        for _ in range(2):
            source = a_source(site)
            refs = await listed(source)

            assert refs["docs/leave"].revision is not None  # the way through it is still known
            with pytest.raises(PageError) as caught:
                await source.fetch(refs["docs/hub"])
            assert caught.value.withdraw
        with pytest.raises(PageError) as caught:  # where another process made the listing
            await a_source(site).fetch(refs["docs/hub"])
        assert caught.value.withdraw


async def test_a_new_failing_page_does_not_lose_what_was_known_before(a_source: Any) -> None:
    async with a_site() as site:
        before = await listed(a_source(site))
        site.pages["/docs/"] = article("Docs", LONG, '<a href="menu">the links are there now</a>')
        site.pages["/docs/menu"] = web_text("", status=502)
        after = await listed(a_source(site))

        assert {path: after[path] for path in ("docs/leave", "docs/pay")} == {
            path: before[path] for path in ("docs/leave", "docs/pay")
        }


async def test_a_first_visit_with_failures_counts_nothing_as_deleted(a_source: Any) -> None:
    async with a_site() as site:
        site.pages["/docs/leave"] = web_text("", status=500)
        source = a_source(site)
        refs = await listed(source)

        assert "only reached through them" in await reason(source, refs[""])


async def test_a_page_that_is_gone_or_no_longer_linked_is_not_listed(a_source: Any) -> None:
    async with a_site() as site:
        await listed(a_source(site))
        del site.pages["/docs/leave"]
        assert sorted(await listed(a_source(site))) == ["docs/index", "docs/pay"]
        site.pages["/docs/"] = article("Docs", LONG)
        assert sorted(await listed(a_source(site))) == ["docs/index"]


async def test_a_site_that_is_down_is_unavailable_and_not_empty(a_source: Any) -> None:
    async with a_site() as site:
        await listed(a_source(site))
        site.pages = {"/robots.txt": web_text("")}
        with pytest.raises(SourceUnavailableError, match="correct `start`"):
            await listed(a_source(site))
        source = a_source(site)
    with pytest.raises(SourceUnavailableError, match="cannot be reached"):
        await listed(source)


async def test_text_survives_whatever_encoding_the_page_claims(a_source: Any) -> None:
    sentence = f"Der Prüfer hört für 30 € zu. {LONG}"
    html = article("Prüfung", sentence)
    claims = {
        "/docs/honest": ("utf-8", html, "utf-8"),
        "/docs/liar": ("iso-8859-1", html, "utf-8"),
        "/docs/old": ("iso-8859-1", html, "windows-1252"),
        "/docs/silent": (None, html.replace("<head>", '<head><meta charset="windows-1252">'), "windows-1252"),
        "/docs/wide": (None, html, "utf-16"),
        "/docs/unknown": ("x-nonsense", html, "utf-8"),
    }
    async with a_site() as site:
        links = "".join(f'<a href="{path}">x</a>' for path in claims)
        site.pages["/docs/"] = article("Docs", LONG, f"<p>{links}</p>")
        for path, (claimed, text, encoding) in claims.items():
            kind = f"text/html; charset={claimed}" if claimed else "text/html"
            site.pages[path] = web.Response(body=text.encode(encoding), headers={"Content-Type": kind})
        source = a_source(site)
        refs = await listed(source)

        for path in claims:
            assert "Der Prüfer hört für 30 € zu." in await text_of(source, refs[path.lstrip("/")]), path


async def test_only_a_declared_date_is_a_page_s_date(a_source: Any) -> None:
    async with a_site() as site:
        site.pages["/docs/pay"] = article(
            "Pay", LONG, head='<meta property="article:modified_time" content="2026-03-04T10:00:00+00:00">'
        )
        site.pages["/docs/leave"] = article("Leave", f"Copyright 2019. {LONG}")
        source = a_source(site)
        refs = await listed(source)

        assert (await source.fetch(refs["docs/pay"])).edited == date(2026, 3, 4)
        assert (await source.fetch(refs["docs/leave"])).edited is None


async def test_files_of_known_kinds_are_handed_on_as_they_are(a_source: Any) -> None:
    async with a_site() as site:
        site.pages["/docs/"] = article(
            "Docs", LONG, '<a href="a.pdf">a</a> <a href="b.png">b</a> <a href="c.bin">c</a>'
        )
        for name, kind in (
            ("a.pdf", "application/pdf"),
            ("b.png", "image/png"),
            ("c.bin", "application/octet-stream"),
        ):
            site.pages[f"/docs/{name}"] = web.Response(body=b"%PDF-1.7", content_type=kind)
        source = a_source(site)
        refs = await listed(source)

        assert sorted(refs) == ["docs/a.pdf", "docs/index"]
        raw = await source.fetch(refs["docs/a.pdf"])
        assert (raw.content, raw.media_type) == (b"%PDF-1.7", "application/pdf")
        assert "/docs/b.png" not in site.requests


async def test_an_xml_bomb_in_a_sitemap_does_not_go_off(a_source: Any) -> None:
    bomb_xml = (
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
        '<!ENTITY c SYSTEM "file:///etc/passwd">]><urlset><url><loc>&b;&c;</loc></url></urlset>'
    )
    async with a_site() as site:
        site.pages["/sitemap.xml"] = web_text(bomb_xml)

        assert sorted(await listed(a_source(site))) == ["docs/index", "docs/leave", "docs/pay"]


def test_paths_and_addresses_lead_to_each_other() -> None:
    from ingest.sources.web.scope import Scope

    scope = Scope(WebsiteSettings(kind="website", name="s", start=("https://docs.example/guide/",)))  # type: ignore[arg-type]
    for address in (
        "https://docs.example/",
        "https://docs.example/guide/",
        "https://docs.example/a%20b?x=1&y=%C3%BC",
    ):
        assert scope.url_of(scope.path_of(URL(address))) == address
