"""Addresses as people write them: none of them may end more than the look at itself."""

from __future__ import annotations

import pytest

from kb.addresses import split_address
from kb.models import Page
from kb.pages.versions import as_name, names_of

ODD = [
    "http://[x",
    "//[::1",
    "http://℀.com",
    "http://[::1]]/x",
    "https://kb.example:99999/a",
    "https://kb.example:port/",
    "http://\ud800/",
    "http://a\x00b/",
    "[http://x](",
    "\\\\server\\share",
    "http://xn--a/",
]


@pytest.mark.parametrize("written", ODD)
def test_an_address_that_is_none_is_a_path_without_a_host(written: str) -> None:
    parts = split_address(written)

    assert parts.scheme in ("", "http")
    assert isinstance(parts.hostname, str | None)
    assert isinstance(parts.port, int | None)


@pytest.mark.parametrize("written", ODD)
def test_a_page_can_be_named_by_what_is_no_address(written: str) -> None:
    page = Page(
        id="kb:a.md", source="kb", path="a.md", title="A", url=written, language="en", revision="1",
        superseded_by=written,
    )  # fmt: skip

    assert "a" in names_of(page)
    assert isinstance(as_name(written), str)


def test_an_address_is_split_as_ever() -> None:
    parts = split_address("https://kb.example:8080/a/b?x=1#y")

    assert (parts.scheme, parts.hostname, parts.port, parts.path) == ("https", "kb.example", 8080, "/a/b")
