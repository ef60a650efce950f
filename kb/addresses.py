"""Addresses as people write them into pages. Python's own parser raises over half an IPv6 address or an odd host."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def split_address(written: str) -> SplitResult:
    """Splits as `urlsplit` does, and never raises: what is not an address becomes a path, without scheme and host."""
    try:
        parts = urlsplit(written)
        parts.port  # noqa: B018 (it too raises: a port that is none makes no address)
    except ValueError:
        return SplitResult(scheme="", netloc="", path=written, query="", fragment="")
    return parts
