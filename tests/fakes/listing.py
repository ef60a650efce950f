"""What a source lists, and why it does not give a page."""

from __future__ import annotations

import pytest

from ingest.errors import PageError
from ingest.sources.port import PageRef, Source


async def listed(source: Source) -> dict[str, PageRef]:
    """Path -> what was listed."""
    return {ref.path: ref async for ref in source.discover()}


async def failure(source: Source, ref: PageRef) -> PageError:
    with pytest.raises(PageError) as caught:
        await source.fetch(ref)
    return caught.value


async def reason(source: Source, ref: PageRef) -> str:
    return (await failure(source, ref)).reason
