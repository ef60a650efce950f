"""A website that never ends, or that writes addresses which are none, costs little and stops nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from ingest.sources.port import PageRef
from ingest.sources.web.document import read_document
from ingest.sources.web.source import WebsiteSource
from kb.config.sources import WebsiteSettings
from tests.fakes.listing import reason
from tests.fakes.website import Website, article, web_text

LONG = "Everybody who works here has a right to twenty-five days of paid leave in each calendar year, and may take them."
ODD = (
    "http://[x", "//[::1", "http://℀.com/", "http://xn--a/", "http://127.0.0.1:99999/", "http://127.0.0.1:x/", "http://a..b/",
    "http://%zz/", "http://\u2028/", "///", "http:", "mailto:x", "http://[fe80::1%25eth0]/", "http://user:@/", "?" + "a" * 5000,
)  # fmt: skip


@pytest.fixture
def a_source(tmp_path: Path) -> Callable[..., WebsiteSource]:
    def build(site: Website, **settings: object) -> WebsiteSource:
        chosen = {"start": f"{site.url}/docs/", "delay_s": 0, "timeout_s": 5, **settings}
        return WebsiteSource(
            WebsiteSettings(kind="website", name="site", **chosen),  # type: ignore[arg-type]
            tmp_path / "memory",
            may_reach=lambda address: address == "127.0.0.1",
            sleep=lambda seconds: asyncio.sleep(0),
        )

    return build


async def listed(source: WebsiteSource) -> dict[str, PageRef]:
    return {ref.path.partition("/")[2]: ref async for ref in source.discover()}


def links(*targets: str) -> str:
    return "<p>" + " ".join(f'<a href="{target}">x</a>' for target in targets) + "</p>"


@pytest.mark.parametrize("base", ["", *ODD])
async def test_a_link_or_base_that_is_no_address_costs_nothing_but_itself(a_source: Any, base: str) -> None:
    head = f'<base href="{base}"><link rel="canonical" href="http://[x">' if base else ""
    pages = {
        "/docs/": article("Docs", LONG, links(*ODD, "/docs/pay"), head=head),
        "/docs/pay": article("Pay", LONG + " Band 3."),
    }
    async with Website(pages) as site:
        refs = await listed(a_source(site, start=(f"{site.url}/docs/", f"{site.url}/docs/pay")))

    assert {path for path, ref in refs.items() if ref.revision} == {"docs/index", "docs/pay"}


@pytest.mark.parametrize("odd", ODD)
async def test_a_redirect_to_what_is_no_address_is_that_pages_failure(a_source: Any, odd: str) -> None:
    async def leads_nowhere(_: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": odd.encode().decode("latin-1")})

    pages = {
        "/docs/": article("Docs", LONG, links("/docs/odd", "/docs/pay")),
        "/docs/pay": article("Pay", LONG + " Band 3."),
        "/docs/odd": leads_nowhere,
        "/docs/meta": f'<html><meta http-equiv="refresh" content="0; url={odd}"></html>',
    }
    async with Website(pages) as site:
        source = a_source(site)
        refs = await listed(source)

        assert {path for path, ref in refs.items() if ref.revision} == {"docs/index", "docs/pay"}
        if "docs/odd" in refs:
            assert "redirects" in await reason(source, refs["docs/odd"])


async def test_what_robots_names_as_a_sitemap_and_is_none_is_told_by_name(a_source: Any) -> None:
    async with Website({"/docs/": article("Docs", LONG)}) as site:
        lines = "\n".join(f"Sitemap: {odd}" for odd in ("http://[x", "http://127.0.0.1:99999/map.xml"))
        site.pages["/robots.txt"] = web_text(f"User-agent: *\nAllow: /\n{lines}")
        source = a_source(site)
        refs = await listed(source)

        assert refs["docs/index"].revision
        assert (await reason(source, refs["robots.txt"])).startswith(
            "it names a sitemap that is no address: http://"
        )


async def test_a_sitemap_that_breaks_us_fails_alone_and_the_log_has_no_text_of_it(
    a_source: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(*_: object) -> None:
        raise RecursionError("secret words of the sitemap")

    monkeypatch.setattr("ingest.sources.web.sitemaps._xml", breaks)
    async with Website({"/docs/": article("Docs", LONG), "/map.xml": "<urlset/>"}) as site:
        source = a_source(site, sitemaps=(f"{site.url}/map.xml",))
        with caplog.at_level(logging.DEBUG):
            refs = await listed(source)
        why = await reason(source, refs["map.xml"])

    assert refs["docs/index"].revision
    assert why == "a sitemap: the sitemap cannot be read (RecursionError; the log says where)"
    broke = next(one for one in caplog.records if one.getMessage() == "web.broke")
    assert any("sitemaps.py" in line for line in broke.trace)  # type: ignore[attr-defined]
    assert "secret" not in str([vars(one) for one in caplog.records])


@pytest.mark.parametrize("error", [RecursionError("x"), KeyError("x"), UnicodeError("x"), MemoryError()])
async def test_a_page_that_breaks_us_fails_alone(
    a_source: Any, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def breaks(answer: Any) -> Any:
        if answer.url.path == "/docs/pay":
            raise error
        return read_document(answer)

    monkeypatch.setattr("ingest.sources.web.reader.read_document", breaks)
    pages = {
        "/docs/": article("Docs", LONG, links("/docs/pay", "/docs/leave")),
        "/docs/pay": article("Pay", LONG),
        "/docs/leave": article("Leave", LONG + " Five days."),
    }
    async with Website(pages) as site:
        source = a_source(site)
        refs = await listed(source)

        assert {path for path, ref in refs.items() if ref.revision} == {"docs/index", "docs/leave"}
        assert type(error).__name__ in await reason(source, refs["docs/pay"])


async def test_dead_addresses_of_a_sitemap_end_the_visit_soon_and_nothing_is_removed_for_it(
    a_source: Any,
) -> None:
    async with Website({"/docs/": article("Docs", LONG)}) as site:
        urls = "".join(f"<url><loc>{site.url}/docs/dead-{n}</loc></url>" for n in range(40_000))
        site.pages["/sitemap.xml"] = web_text(f"<urlset>{urls}</urlset>")
        source = a_source(site, max_pages=30)
        refs = await listed(source)

        assert len(site.requests) <= 330
        assert refs["docs/index"].revision
        assert "max_requests" in await reason(source, refs[""])


@pytest.mark.parametrize("kind", ["noindex", "calendar", "empty", "redirects", "blocked"])
async def test_pages_without_end_that_are_none_end_the_visit_soon(a_source: Any, kind: str) -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        number = int(request.path.rpartition("-")[2] or 0)
        following = f"/docs/day-{number + 1}"
        if kind == "redirects":
            raise web.HTTPFound(following)
        head = '<meta name="robots" content="noindex">' if kind in ("noindex", "calendar") else ""
        targets = [f"/docs/day-{number + step}" for step in range(1, 60 if kind == "calendar" else 2)]
        body = article(f"Day {number}", "" if kind == "empty" else LONG, links(*targets), head=head)
        return web.Response(text=body, content_type="text/html")

    class Endless(dict[str, Any]):
        def get(self, path: str, default: Any = None) -> Any:
            return endless if "/day-" in path else super().get(path, default)

    start = article("Docs", LONG, links(*(f"/docs/day-{n}" for n in range(3))))
    async with Website({"/docs/": start}) as site:
        if kind == "blocked":
            site.pages["/robots.txt"] = web_text("User-agent: *\nDisallow: /docs/day-")
            site.pages["/docs/"] = article("Docs", LONG, links(*(f"/docs/day-{n}" for n in range(1_000))))
        site.pages = Endless(site.pages)
        source = a_source(site, max_pages=30, max_requests=60)
        refs = await listed(source)

        assert len(site.requests) <= 70
        assert refs["docs/index"].revision
        if kind != "blocked":
            assert refs[""].revision is None  # a part of the site is not known


async def test_a_page_of_thousands_of_dead_links_ends_soon(a_source: Any) -> None:
    body = article("Docs", LONG, links(*(f"/docs/dead-{n}" for n in range(3_000))))
    async with Website({"/docs/": body}) as site:
        source = a_source(site, max_pages=5)
        refs = await listed(source)

        assert len(site.requests) <= 230
        assert refs["docs/index"].revision
        assert "raise max_requests" in await reason(source, refs[""])


async def test_sitemaps_within_sitemaps_without_end_are_bounded(a_source: Any) -> None:
    async def nest(request: web.Request) -> web.StreamResponse:
        number = int(request.path.removesuffix(".xml").rpartition("-")[2])
        inner = "".join(f"<sitemap><loc>/map-{number * 10 + one}.xml</loc></sitemap>" for one in range(1, 10))
        return web.Response(text=f"<sitemapindex>{inner}</sitemapindex>", content_type="text/xml")

    class Nest(dict[str, Any]):
        def get(self, path: str, default: Any = None) -> Any:
            return nest if "/map-" in path else super().get(path, default)

    async with Website({"/docs/": article("Docs", LONG)}) as site:
        site.pages = Nest(site.pages)
        source = a_source(site, sitemaps=(f"{site.url}/map-1.xml",))
        refs = await listed(source)

        assert len(site.requests) <= 110
        assert refs["docs/index"].revision
        assert "sitemaps" in await reason(source, refs[""])


async def test_a_visit_that_takes_too_long_is_told(a_source: Any) -> None:
    async def slow(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.4)
        return web.Response(text=article("Slow", LONG), content_type="text/html")

    pages = {"/docs/": article("Docs", LONG, links("/docs/a", "/docs/b", "/docs/c")), "/docs/a": slow}
    async with Website(pages) as site:
        source = a_source(site, max_minutes=0.005)
        refs = await listed(source)

        assert "max_minutes" in await reason(source, refs[""])


async def test_a_memory_that_is_damaged_is_made_anew(a_source: Any, tmp_path: Path) -> None:
    async with Website({"/docs/": article("Docs", LONG)}) as site:
        await listed(a_source(site))
        (tmp_path / "memory" / "site.visits").write_bytes(b"SQLite format 3\0" + b"\xff" * 3_000)

        assert (await listed(a_source(site)))["docs/index"].revision
