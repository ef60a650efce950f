"""Parses addresses as pages, sitemaps and headers write them; what is not an address becomes None, never an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from yarl import URL


def written_address(written: str, base: URL | None = None) -> URL | None:
    """Reads an absolute address with a host; `base`: what a relative one is relative to.

    yarl looks at some parts of an address only when it is asked for them
    (a host in punycode, a port), so all of them are.
    """
    try:
        url = URL(written.strip())
        url = base.join(url) if base is not None else url
        parts = (url.host, url.port, url.path, url.query, str(url), url.with_fragment(None))
    except Exception:  # noqa: BLE001 (ValueError and its kin, and what the libraries below raise over odd hosts)
        return None
    return url if parts[0] else None


def written_addresses(written: Iterable[str]) -> Iterator[URL]:
    return filter(None, map(written_address, written))
