"""One page of a website has many addresses, and a start leads where it
leads: each page is listed once, and none is lost.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from yarl import URL

from ingest.errors import PageError, SourceUnavailableError
from ingest.sources.web.scope import Scope, spelling, tidy
from ingest.sources.web.source import WebsiteSource
from kb.config.sources import WebsiteSettings
from tests.fakes.listing import reason
from tests.fakes.website import Names, Page, Website, article, moved, web_text

LONG = "Everybody who works here has a right to twenty-five days of paid leave in each calendar year, and may take them."
XML = "<?xml version='1.0' encoding='UTF-8'?>\n<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{}</urlset>"

Build = Callable[..., WebsiteSource]


@pytest.fixture
def a_source(tmp_path: Path) -> Build:
    async def sleep(_: float) -> None:
        await asyncio.sleep(0)

    def build(site: Website, *, names: Names | None = None, **settings: object) -> WebsiteSource:
        chosen = {"start": f"{site.url}/docs/", "delay_s": 0, "timeout_s": 5, **settings}
        return WebsiteSource(
            WebsiteSettings(kind="website", name="site", **chosen),  # type: ignore[arg-type]
            tmp_path / "memory",
            may_reach=lambda address: address == "127.0.0.1",
            sleep=sleep,
            resolver=names,
        )

    return build


async def listed(source: WebsiteSource) -> list[str]:
    """Paths of what can be read."""
    return sorted([ref.path async for ref in source.discover() if ref.revision is not None])


async def shown(source: WebsiteSource) -> list[str]:
    """Paths without the host."""
    return [path.partition("/")[2] for path in await listed(source)]


def links(*addresses: str) -> str:
    return "<p>" + " ".join(f'<a href="{address}">x</a>' for address in addresses) + "</p>"


def by_host(**answers: Page) -> Callable[[web.Request], Any]:
    """A page that each host of the server answers otherwise; dots of a host as underscores."""

    async def answer(request: web.Request) -> web.Response:
        page = answers[request.host.partition(":")[0].replace(".", "_")]
        if isinstance(page, web.Response):
            return web.Response(status=page.status, headers=page.headers)
        return web.Response(text=str(page), content_type="text/html")

    return answer


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(("start", "home"), [("acme.test", "www.acme.test"), ("www.acme.test", "acme.test")])
async def test_a_start_that_redirects_to_the_site_s_other_host_is_followed_there(
    a_source: Build, status: int, start: str, home: str
) -> None:
    async with Website() as site:
        name, other = start.replace(".", "_"), home.replace(".", "_")
        to = f"http://{home}:{site.port}"
        page = article(
            "Docs", LONG, links(f"{to}/docs/pay", f"http://{start}:{site.port}/docs/leave", "sick")
        )
        site.pages["/docs/"] = by_host(**{name: moved(f"{to}/docs/", status=status), other: page})
        for path in ("pay", "leave", "sick"):
            site.pages[f"/docs/{path}"] = by_host(
                **{name: moved(f"{to}/docs/{path}", status=status), other: article(path.title(), LONG)}
            )
        names = Names(**{name: ["127.0.0.1"], other: ["127.0.0.1"]})
        source = a_source(site, names=names, start=f"http://{start}:{site.port}/docs/")

        host = f"{home}:{site.port}"
        assert await listed(source) == [f"{host}/docs/{one}" for one in ("index", "leave", "pay", "sick")]
        assert source.url_of(f"{host}/docs/pay") == f"http://{host}/docs/pay"


async def test_a_page_of_the_other_host_is_read_by_a_source_that_made_no_listing(
    a_source: Build, tmp_path: Path
) -> None:
    async with Website() as site:
        to = f"http://www.acme.test:{site.port}/docs/"
        site.pages["/docs/"] = by_host(acme_test=moved(to, status=301), www_acme_test=article("Docs", LONG))
        build = lambda: a_source(  # noqa: E731
            site,
            names=Names(acme_test=["127.0.0.1"], www_acme_test=["127.0.0.1"]),
            start=f"http://acme.test:{site.port}/docs/",
        )
        (ref,) = [ref async for ref in build().discover()]
        (tmp_path / "memory" / "site.visits").unlink()

        assert (await build().fetch(ref)).revision == ref.revision


async def test_a_site_that_moved_to_a_host_below_its_own_is_followed_and_one_beside_it_is_named(
    a_source: Build,
) -> None:
    async with Website() as site:
        names = Names(acme_test=["127.0.0.1"], docs_acme_test=["127.0.0.1"], other_test=["127.0.0.1"])
        for host in ("docs.acme.test", "other.test"):
            page = by_host(
                acme_test=moved(f"http://{host}:{site.port}/docs/", status=301),
                docs_acme_test=article("Docs", LONG, links("pay")),
                other_test=article("Other", LONG),
            )
            site.pages |= {"/docs/": page, "/docs/pay": article("Pay", LONG)}
            source = a_source(site, names=names, start=f"http://acme.test:{site.port}/docs/")
            if host == "docs.acme.test":
                assert await listed(source) == [
                    f"{host}:{site.port}/docs/index",
                    f"{host}:{site.port}/docs/pay",
                ]
                continue
            with pytest.raises(
                SourceUnavailableError, match=rf"redirects to http://other\.test:{site.port}/docs/.*`start`"
            ):
                await listed(source)


@pytest.mark.parametrize("status", [301, 302])
@pytest.mark.parametrize(
    ("start", "target", "found"),
    [
        ("/handbook/", "/en/handbook/", ["en/handbook/index", "en/handbook/leave"]),
        ("/handbook", "/handbook/", ["handbook/index", "handbook/leave"]),
        ("/handbook/", "/handbook/intro/welcome", ["handbook/intro/welcome", "handbook/leave"]),
        ("/handbook/", "/welcome", ["handbook/leave", "welcome"]),
        ("/", "/en/", ["en/index", "handbook/leave"]),
    ],
)
async def test_the_scope_is_where_the_start_leads_and_never_less_than_what_was_named(
    a_source: Build, status: int, start: str, target: str, found: list[str]
) -> None:
    async with Website() as site:
        leave = f"{target}leave" if target.endswith("/handbook/") else "/handbook/leave"
        site.pages[start] = moved(target, status=status)
        site.pages[target] = article("Start", LONG, links(leave, "/pricing"))
        site.pages[leave] = article("Leave", LONG)
        if start != "/":
            site.pages["/pricing"] = article("Pricing", LONG)

        assert await shown(a_source(site, start=f"{site.url}{start}")) == found


@pytest.mark.parametrize(
    "page",
    [
        '<meta http-equiv="refresh" content="0; url=/en/docs/"><p>Redirecting…</p>',
        "<META HTTP-EQUIV='Refresh' CONTENT='3;URL=/en/docs/'>",
        '<script>window.location.replace("/en/docs/")</script>',
        '<link rel="canonical" href="/en/docs/"><a href="/en/docs/">moved</a>',
    ],
)
async def test_a_page_that_only_redirects_is_no_page_and_its_target_is(a_source: Build, page: str) -> None:
    async with Website() as site:
        stub = f"<!doctype html><html><head><title>Moved</title></head><body>{page}</body></html>"
        site.pages |= {
            "/docs/": stub,
            "/en/docs/": article("Docs", LONG, links("/en/docs/old")),
            "/en/docs/old": stub.replace("/en/docs/", "/en/docs/new"),
            "/en/docs/new": article("New", LONG),
        }
        source = a_source(site)

        assert await shown(source) == ["en/docs/index", "en/docs/new"]
        assert [ref.revision async for ref in source.discover() if ref.revision is None] == []
        assert source.withdraws(f"127.0.0.1:{site.port}/en/docs/old")


@pytest.mark.parametrize(
    "target",
    ["/login?next=/docs/", "/users/sign_in", "http://login.acme.test/?from=docs", "/sso/saml?RelayState=x"],
)
async def test_a_start_that_leads_to_a_login_is_a_failure_that_says_so(a_source: Build, target: str) -> None:
    async with Website() as site:
        login = '<html><body><h1>Sign in</h1><form><input type="password" name="p"></form></body></html>'
        site.pages |= {"/docs/": moved(target), URL(target).raw_path_qs: login}

        with pytest.raises(SourceUnavailableError, match="leads to a login page"):
            await listed(a_source(site))


async def test_a_page_behind_the_site_s_own_login_is_withdrawn_and_one_about_logins_is_not(
    a_source: Build,
) -> None:
    async with Website() as site:
        site.pages |= {
            "/docs/": article("Docs", LONG, links("pay", "/docs/sign-in")),
            "/docs/pay": moved("/login?next=/docs/pay"),
            "/login?next=/docs/pay": '<html><body>Sign in <input type="password"></body></html>',
            "/docs/sign-in": moved("/docs/login/"),
            "/docs/login/": article("How to sign in", *[LONG] * 9),
        }
        source = a_source(site)
        refs = {ref.path.partition("/")[2]: ref async for ref in source.discover()}

        assert refs["docs/login/index"].revision is not None
        with pytest.raises(PageError, match="asks for a login") as caught:
            await source.fetch(refs["docs/pay"])
        assert caught.value.withdraw
        with pytest.raises(PageError, match="asks for a login"):  # where another process made the listing
            await a_source(site).fetch(refs["docs/pay"])


SPELLINGS = [
    "/docs/leave", "/docs/leave/", "/docs/leave/index.html", "/docs/leave.html", "/docs//leave", "/docs/Leave",
    "/docs/leave?ref=nav", "/docs/leave?utm_source=mail&utm_medium=x", "/docs/leave?gclid=1", "/docs/leave#carry",
    "/docs/leave;jsessionid=0A1B", "/docs/leave?print=1", "/docs/%6Ceave", "/docs/leave/?ref=foot#carry",
]  # fmt: skip


async def test_one_page_under_many_addresses_is_one_page_and_its_links_are_followed(a_source: Build) -> None:
    async with Website() as site:
        page = article("Leave", LONG, '<p>See <a href="/docs/pay">pay</a> and <a href="more">more</a>.</p>')
        site.pages["/docs/"] = article("Docs", LONG, links(*SPELLINGS))
        site.pages |= {address.partition("#")[0]: page for address in SPELLINGS}
        site.pages |= {"/docs/pay": article("Pay", LONG), "/docs/more": article("More", LONG)}
        source = a_source(site)

        assert await shown(source) == ["docs/index", "docs/leave", "docs/more", "docs/pay"]
        for other in ("docs/leave/index", "docs/leave/index.html", "docs/leave?print=1", "docs/Leave"):
            assert source.withdraws(f"127.0.0.1:{site.port}/{other}"), other
        assert not source.withdraws(f"127.0.0.1:{site.port}/docs/gone")


async def test_addresses_alike_whose_pages_differ_are_pages_of_their_own(a_source: Build) -> None:
    async with Website() as site:
        site.pages |= {
            "/docs/": article(
                "Docs", LONG, links("api", "api/", "list?page=1", "list?page=2", "v1/x", "v2/x")
            ),
            "/docs/api": article("API", f"One. {LONG}"),
            "/docs/api/": article("API", f"Two. {LONG}"),
            "/docs/list?page=1": article("List", f"First page. {LONG}"),
            "/docs/list?page=2": article("List", f"Second page. {LONG}"),
            "/docs/v1/x": article("X", LONG),
            "/docs/v2/x": article("X", LONG),
        }

        assert await shown(a_source(site)) == [
            "docs/api", "docs/api/index", "docs/index", "docs/list?page=1", "docs/list?page=2", "docs/v1/x", "docs/v2/x",
        ]  # fmt: skip


async def test_a_query_that_made_no_difference_three_times_is_not_asked_for_again(a_source: Build) -> None:
    async with Website() as site:
        names = [f"p{number}" for number in range(30)]
        site.pages["/docs/"] = article("Docs", LONG, links(*names, *(f"{one}?ref=nav" for one in names)))
        for one in names:
            site.pages |= {f"/docs/{one}": article(one, LONG), f"/docs/{one}?ref=nav": article(one, LONG)}
        for at, tongue in enumerate(["en"] * 4 + ["nl"]):
            other = {"en": "English", "nl": "Nederlands"}[tongue]
            way = links(f"t{at}?lang={tongue}")
            site.pages[f"/docs/t{at}"] = article(f"T{at}", f"English. {LONG}", way)
            site.pages[f"/docs/t{at}?lang={tongue}"] = article(f"T{at}", f"{other}. {LONG}", way)
        site.pages["/docs/p0"] = article("p0", LONG, links(*(f"t{number}" for number in range(5))))
        site.pages["/docs/p0?ref=nav"] = site.pages["/docs/p0"]
        found = await shown(a_source(site))

        assert len([one for one in found if "ref=" in one]) == 0
        assert len([one for one in site.requests if "ref=nav" in one]) == 3
        assert [one for one in found if "lang=" in one] == ["docs/t4?lang=nl"]


async def test_a_proper_address_is_believed_in_any_spelling_and_not_where_it_names_another_text(
    a_source: Build,
) -> None:
    async with Website() as site:
        canonical = '<link rel="canonical" href="{}">'
        other = "Our parking garage opens at seven, bicycles stand behind the hall, and visitors report to the desk first."
        host = f"127.0.0.1:{site.port}"
        site.pages |= {
            "/docs/": article("Docs", LONG, links("leave?print=1", "pay")),
            "/docs/leave?print=1": article(
                "Leave, printed",
                LONG,
                head=canonical.format(f"http://www.{host}/docs/leave?utm_campaign=x#top"),
            ),
            "/docs/leave": article("Leave", LONG, head=canonical.format("https://prod.example/docs/leave")),
            "/docs/pay": article("Parking", other, head=canonical.format("/docs/")),
        }

        assert await shown(a_source(site)) == ["docs/index", "docs/leave", "docs/pay"]


@pytest.mark.parametrize(
    "kind", ["xml", "text", "text with a mark", "gzip", "index", "redirect", "feed", "atom", "relative"]
)
@pytest.mark.parametrize("place", ["/sitemap.xml", "robots", "settings"])
async def test_sitemaps_of_every_kind_bring_their_pages(a_source: Build, kind: str, place: str) -> None:
    async with Website() as site:
        at = {"/sitemap.xml": "/sitemap.xml", "robots": "/maps/all", "settings": "/other.txt"}[place]
        url = f"{site.url}/docs/hidden?utm_source=map"
        entries = XML.format(f"<url><loc>\n {url} \n</loc></url>")
        content: Page = {
            "xml": b"\n" + entries.encode(),
            "text": f"{url}\n\n{site.url}/docs/hidden/\n{site.url}/pricing\n".encode(),
            "text with a mark": f"\ufeff# pages\r\n{url}\r\n".encode(),
            "gzip": gzip.compress(f"{url}\n".encode()),
            "index": f"<sitemapindex xmlns='x'><sitemap><loc>{site.url}/one.xml.gz</loc></sitemap></sitemapindex>".encode(),
            "redirect": moved("/real.xml", status=301),
            "feed": f"<rss><channel><link>{site.url}/</link><item><link>{url}</link></item></channel></rss>".encode(),
            "atom": f"<feed xmlns='a'><link href='{site.url}/'/><entry><link href='{url}'/></entry></feed>".encode(),
            "relative": XML.format("<url><loc>/docs/hidden</loc></url>").encode(),
        }[kind]
        site.pages |= {
            at: content,
            "/one.xml.gz": gzip.compress(entries.encode()),
            "/real.xml": entries.encode(),
            "/docs/": article("Docs", LONG),
            "/docs/hidden": article("Hidden", LONG),
            "/docs/hidden/": article("Hidden", LONG),
        }
        if place == "robots":
            site.pages["/robots.txt"] = web_text(f"User-agent: *\nAllow: /\nSitemap: {site.url}{at}")
        named = {"sitemaps": f"{site.url}{at}"} if place == "settings" else {}

        assert await shown(a_source(site, **named)) == ["docs/hidden", "docs/index"]


@pytest.mark.parametrize("name", ["/sitemap_index.xml", "/sitemap.txt"])
async def test_a_sitemap_at_another_usual_place_is_found(a_source: Build, name: str) -> None:
    async with Website() as site:
        site.pages |= {
            name: f"{site.url}/docs/hidden\n".encode(),
            "/docs/": article("Docs", LONG),
            "/docs/hidden": article("Hidden", LONG),
        }

        assert await shown(a_source(site)) == ["docs/hidden", "docs/index"]


@pytest.mark.parametrize(
    "page",
    [
        '<div id="root"></div><noscript>You need to enable JavaScript to run this app.</noscript><script src="a.js"></script>',
        '<div id="app">Loading...</div><script type="module" src="/a.js"></script>',
        "<app-root></app-root><script src='main.js'></script>",
        "<div id='__next'></div><script>self.x=1</script>",
        "<p>Please enable JavaScript to continue.</p><script src='a.js'></script>",
    ],
)
async def test_a_site_that_needs_javascript_is_a_failure_with_that_reason(a_source: Build, page: str) -> None:
    shell = f"<!doctype html><html><head><title>Docs</title></head><body>{page}</body></html>"
    async with Website() as site:
        site.pages |= {"/docs/": shell, "/docs/pay": shell, "/sitemap.xml": f"{site.url}/docs/pay".encode()}
        with pytest.raises(SourceUnavailableError, match="needs JavaScript"):
            await listed(a_source(site))

        site.pages["/docs/"] = article("Docs", LONG, links("pay"), "<script src='menu.js'></script>")
        source = a_source(site)
        refs = {ref.path.partition("/")[2]: ref async for ref in source.discover()}
        assert refs["docs/index"].revision is not None
        assert "needs JavaScript" in await reason(source, refs["docs/pay"])


async def test_maintenance_under_every_address_changes_nothing_however_often_it_is_met(
    a_source: Build,
) -> None:
    pages = {f"/docs/p{number}": article(f"Page {number}", LONG) for number in range(12)}
    pages["/docs/"] = article("Docs", LONG, links(*pages))
    async with Website(dict(pages)) as site:
        before = await listed(a_source(site))
        closed = article(
            "Back soon", "We are working on our site. It will be back on Monday, thank you for waiting."
        )
        for sitemap in (web_text("", status=404), f"{site.url}/docs/p1\n{site.url}/docs/p2".encode(), closed):
            site.pages |= dict.fromkeys(pages, closed) | {"/sitemap.xml": sitemap}
            for _ in range(2):
                with pytest.raises(SourceUnavailableError, match=r"one and the same text.*maintenance"):
                    await listed(a_source(site))
        site.pages |= dict.fromkeys(pages, moved("/maintenance")) | {"/maintenance": closed}
        del site.pages["/sitemap.xml"]
        with pytest.raises(SourceUnavailableError, match="maintenance"):
            await listed(a_source(site))
        site.pages |= pages

        assert await listed(a_source(site)) == before


async def test_a_front_page_that_lost_its_links_while_the_rest_is_down_counts_nothing_as_gone(
    a_source: Build,
) -> None:
    pages: dict[str, Page] = {f"/docs/p{number}": article(f"Page {number}", LONG) for number in range(12)}
    async with Website({**pages, "/docs/": article("Docs", LONG, links(*pages))}) as site:
        await listed(a_source(site))
        site.pages |= {"/docs/": article("Back soon", LONG), **dict.fromkeys(pages, web_text("", status=503))}
        source = a_source(site)
        refs = {ref.path.partition("/")[2]: ref async for ref in source.discover()}

        assert "nothing leads any more to 12 pages" in await reason(source, refs[""])


async def test_pages_that_went_behind_a_login_are_withdrawn_though_nothing_leads_to_them(
    a_source: Build,
) -> None:
    pages: dict[str, Page] = {f"/docs/p{number}": article(f"Page {number}", LONG) for number in range(12)}
    async with Website({**pages, "/docs/": article("Docs", LONG, links(*pages))}) as site:
        await listed(a_source(site))
        site.pages |= {
            "/docs/": article("Please sign in", LONG),
            **dict.fromkeys(pages, web_text("", status=401)),
        }
        source = a_source(site)
        refs = [ref async for ref in source.discover() if ref.path.rpartition("/")[2].startswith("p")]

        assert len(refs) == 12
        for ref in refs:
            with pytest.raises(PageError) as caught:
                await source.fetch(ref)
            assert caught.value.withdraw


async def test_what_hides_itself_or_is_gone_for_good_goes_and_what_is_not_found_is_only_missing(
    a_source: Build,
) -> None:
    async with Website() as site:
        names = ["a", "b", "c", "d"]
        site.pages["/docs/"] = article("Docs", LONG, links(*names))
        site.pages |= {f"/docs/{one}": article(one, LONG) for one in names}
        await listed(a_source(site))
        site.pages["/docs/a"] = article("a", LONG, head='<meta name="robots" content="noindex">')
        site.pages["/docs/b"] = web_text("", status=410)
        site.pages["/docs/c"] = web_text("", status=404)
        site.pages["/robots.txt"] = web_text("User-agent: *\nDisallow: /docs/d")
        source = a_source(site)

        assert await shown(source) == ["docs/index"]
        told = {one: source.withdraws(f"127.0.0.1:{site.port}/docs/{one}") for one in names}
        assert told == {"a": True, "b": True, "c": False, "d": True}


def a_scope(start: str, **settings: Any) -> Scope:
    return Scope(WebsiteSettings(kind="website", name="s", start=(start,), **settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "address",
    [
        "http://docs.example/guide/x",
        "https://www.docs.example/guide/x",
        "https://docs.example:443/guide/x",
        "http://docs.example:80/guide/x#part",
        "HTTPS://DOCS.EXAMPLE/guide/x",
        "https://docs.example./guide/x",
        "https://docs.example/guide/./x",
        "https://docs.example/guide/%78",
        "https://docs.example/guide/x?utm_source=a&fbclid=b",
        "https://docs.example/guide/x;jsessionid=12",
    ],
)
def test_an_address_has_one_spelling(address: str) -> None:
    scope = a_scope("https://docs.example/guide/")

    assert str(scope.spelled(URL(address))) == "https://docs.example/guide/x"
    assert scope.holds(URL(address))


def test_a_scope_follows_its_start_to_https_and_keeps_the_old_spelling_as_another_one() -> None:
    scope = a_scope("http://acme.example/docs/")
    scope.leads(URL("http://acme.example/docs/"), URL("https://www.acme.example/docs/"))

    assert str(scope.spelled(URL("http://acme.example/docs/x?a=1"))) == "https://www.acme.example/docs/x?a=1"
    assert scope.holds(URL("http://acme.example/docs/x"))
    assert not scope.holds(URL("https://www.acme.example/pricing"))
    assert scope.foreign(URL("https://other.example/docs/")) is not None


@pytest.mark.parametrize(
    ("start", "target", "may"),
    [
        ("https://acme.example/", "https://www.acme.example/", True),
        ("https://acme.example/", "http://acme.example/", True),
        ("https://acme.example/docs", "https://docs.acme.example/", True),
        ("https://docs.acme.example/", "https://acme.example/docs", True),
        ("https://docs.acme.example/", "https://example/", False),
        ("https://docs.acme.example/", "https://login.acme.example/", False),
        ("https://acme.example/", "https://notacme.example/", False),
        ("https://acme.example/", "https://acme.example:8443/", False),
        ("https://acme.example/", "https://u:p@acme.example/", False),
        ("https://acme.example/", "ftp://acme.example/", False),
    ],
)
def test_a_start_may_lead_to_its_own_site_alone(start: str, target: str, may: bool) -> None:
    assert a_scope(start).may_lead(URL(start), URL(target)) is may


def test_spellings_of_a_path_and_what_is_kept_of_a_query() -> None:
    alike = [
        "h/a/b",
        "h/a/b/",
        "h/a/b/index",
        "h/a/b/index.html",
        "h/A/b.html",
        "h/a//b.php?x=1",
        "h/a/b/Default.aspx",
    ]
    assert len({spelling(path) for path in alike}) == 1
    assert spelling("h/a/b") != spelling("h/a/c")
    assert spelling("h/index") == spelling("h/index.html")
    assert str(tidy(URL("https://h/a?b=1&utm_term=x&c=2#d"))) == "https://h/a?b=1&c=2"
