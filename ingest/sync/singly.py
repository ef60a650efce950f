"""What broke over many pages at once is done again page by page, so that only the page that it is about fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from ingest.errors import PageError
from ingest.faults import as_page_failure
from ingest.listing import Work
from ingest.pipeline import PreparedPage
from kb.errors import FootnoteError
from kb.runtime.faults import is_disk_full, is_fault

T = TypeVar("T")

Ready = tuple[Work, PreparedPage]


async def each_alone(
    pages: Sequence[Ready], work: Callable[[PreparedPage], Awaitable[T]], error: BaseException
) -> list[tuple[Ready, T | PageError]]:
    """What comes of each page by itself. `error`: what all of them together came to.

    Raises:
        BaseException: `error`, where it is no fault over a page: an outage, a full disk, an order to stop, or
        all pages fail.
    """
    if isinstance(error, FootnoteError) or not is_fault(error) or is_disk_full(error):
        raise error
    done: list[tuple[Ready, T | PageError]] = []
    for item, page in pages:
        try:
            with as_page_failure(item.listing.source.name, item.ref.path, doing="indexing it failed"):
                done.append(((item, page), await work(page)))
        except PageError as failure:
            done.append(((item, page), failure))
    if len(pages) > 1 and all(isinstance(result, PageError) for _, result in done):
        raise error
    return done
