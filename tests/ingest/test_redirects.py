"""Pages that only lead on are told from pages, in every form that generators leave them in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.parsers.redirects import needs_javascript, redirect_of
from ingest.sync.sync import Sync
from kb.index.embedded.index import EdgeIndex

from .conftest import write

HUGO = (
    '<!DOCTYPE html><html lang="en"><head><title>/new/</title><link rel="canonical" href="/new/">'
    '<meta name="robots" content="noindex"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/new/"></head></html>'
)
JEKYLL = (
    '<!DOCTYPE html>\n<html lang="en-US">\n<meta charset="utf-8">\n<title>Redirecting&hellip;</title>\n'
    '<link rel="canonical" href="/new/">\n<script>location="/new/"</script>\n<meta http-equiv="refresh" content="0; url=/new/">\n'
    '<h1>Redirecting&hellip;</h1>\n<a href="/new/">Click here if you are not redirected.</a>\n</html>'
)
WORDS = (
    "The office opens at seven and visitors report to the desk, where a badge is made for each of them. " * 6
)


@pytest.mark.parametrize(
    "text",
    [
        HUGO,
        JEKYLL,
        '<HTML><HEAD><META CONTENT="5;URL=\'/new/\'" HTTP-EQUIV="Refresh"></HEAD><BODY>This page has moved.</BODY></HTML>',
        '<meta http-equiv="refresh" content="0;/new/">',
        '<html><head><script>window.location.replace("/new/")</script></head><body></body></html>',
        "<script>document.location.href = '/new/';</script>",
        "<script>top.location.assign(`/new/`)</script><noscript>Please go to the new page.</noscript>",
        '<html><head><link rel="canonical" href="/new/"></head><body></body></html>',
        "<html><head><link rel=canonical href=/new/></head><body><a href=/new/>Moved here</a></body></html>",
        "---\nredirect_to: /new/\n---\n<html><body>Old</body></html>",
    ],
)
@pytest.mark.parametrize("where", [{"path": "old/index.html"}, {"path": "old", "media_type": "text/html"}])
def test_an_html_page_that_only_redirects(text: str, where: dict[str, str]) -> None:
    assert redirect_of(text.encode(), **where) == "/new/"


@pytest.mark.parametrize(
    "text",
    [
        "---\nredirect_to: /new/\n---\n",
        "---\r\ntitle: Old\r\nredirect_to: /new/ # since May\r\n---\r\n",
        "---\nlayout: redirect\nredirect_to:\n  - /new/\n---\n# Old\n\nA body that nobody sees.",
        "---\nredirect_to: ['/new/']\n---\n",
        '---\n"redirect-to": "/new/"\n---',
        '+++\nredirect_to = "/new/"\n+++\n',
        '{\n  "title": "Old",\n  "redirect_to": "/new/"\n}\n',
        "---\nredirect: /new/\n---\n\n",
        "---\ntitle: Old\nredirect_url: /new/\n---\n",
        '<meta http-equiv="refresh" content="0; url=/new/">',
        "import {Redirect} from '@docusaurus/router';\n\n<Redirect to=\"/new/\" />",
        "const Old = () => {\n  return <Redirect to={'/new/'} />;\n};",
    ],
)
def test_a_markdown_page_that_only_redirects(text: str) -> None:
    assert redirect_of(text.encode(), path="old.mdx") == "/new/"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "---\nredirect_from: /old/\n---\nHere."),
        ("a.md", "---\naliases: [/old/]\n---\nHere."),
        ("a.md", "---\nredirect_to: false\n---\nHere."),
        ("a.md", "---\nredirect: /login\n---\nWhoever is not logged in is sent to the login."),
        (
            "a.md",
            "# Redirects\n\nWrite `redirect_to: /new/` at the top.\n\n```yaml\n---\nredirect_to: /new/\n---\n```",
        ),
        ("a.md", "---\ntitle: How to redirect\n---\nSet `location.href = '/new/'`."),
        (
            "a.html",
            f'<html><head><meta http-equiv="refresh" content="300"></head><body>{WORDS}</body></html>',
        ),
        (
            "a.html",
            f'<html><head><meta http-equiv="refresh" content="30; url=/home">.</head><body>{WORDS}</body></html>',
        ),
        ("a.html", f"<html><body>{WORDS}<script>if (old) location.href = '/new/'</script></body></html>"),
        (
            "a.html",
            '<html><body><noscript><meta http-equiv="refresh" content="0;url=/plain"></noscript><p>Hello.</p></body></html>',
        ),
        (
            "a.html",
            '<html><head><link rel="canonical" href="/a"></head><body><h1>A</h1><p>Open from nine to five.</p></body></html>',
        ),
        ("a.txt", "redirect_to: /new/"),
        ("a.csv", "redirect_to,/new/"),
        ("a.md", ""),
    ],
)
def test_a_page_that_says_something_is_a_page(path: str, text: str) -> None:
    assert redirect_of(text.encode(), path=path) is None


def test_a_page_of_restructured_text_that_only_redirects() -> None:
    text = ".. meta::\n   :http-equiv=refresh: 0; url=/new/\n"
    assert redirect_of(text.encode(), path="old.rst") == "/new/"
    assert redirect_of((text + WORDS).encode(), path="old.rst") is None


def test_an_empty_frame_is_told_from_a_short_page() -> None:
    frame = b"<html><body><div id=root></div><script src=a.js></script></body></html>"
    short = b"<html><body><p>Closed on Mondays.</p><script src=a.js></script></body></html>"
    drawn = (
        b"<html><body><div id=root><p>Closed on Mondays.</p></div><script src=a.js></script></body></html>"
    )
    assert needs_javascript(frame)
    assert not needs_javascript(short)
    assert not needs_javascript(drawn)
    assert not needs_javascript(b"<html><body></body></html>")


async def test_a_redirect_in_a_folder_is_neither_a_failure_nor_a_page_and_takes_its_earlier_text_along(
    a_sync: Callable[..., Sync], pages: Path, index: EdgeIndex
) -> None:
    write(pages, "new.md", "The office opens at seven.")
    write(pages, "old.md", "The office opens at eight.")
    await a_sync().run()
    write(pages, "old.md", "---\nredirect_to: /new\n---\n")
    write(pages, "older.html", HUGO)

    report = await a_sync().run()

    assert (report.failed, report.added, report.removed, report.unchanged) == ([], [], ["old.md"], 1)
    assert {one.path: one.reason for one in report.warned} == {
        "old.md": "it only redirects, to /new: nothing of it is indexed",
        "older.html": "it only redirects, to /new/: nothing of it is indexed",
    }
    assert list(await index.revisions()) == ["handbook:new.md"]


async def test_a_rebuild_leaves_redirects_out(
    a_sync: Callable[..., Sync], pages: Path, index: EdgeIndex
) -> None:
    write(pages, "new.md", "The office opens at seven.")
    write(pages, "old.md", "The office opens at eight.")
    await a_sync().run()
    write(pages, "old.md", "---\nredirect_to: /new\n---\n")

    report = await a_sync().run(full=True)

    assert (report.failed, report.removed, len(report.warned)) == ([], ["old.md"], 1)
    assert list(await index.revisions()) == ["handbook:new.md"]
