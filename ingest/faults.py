"""Turns unexpected errors into the failure of one page or one source, so that the others go on.

The report gets a sentence, the log the places in code: an exception's own text may hold words of a page.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from ingest.errors import TOO_MUCH_MEMORY, PageError, SourceUnavailableError
from kb.errors import FootnoteError, UnavailableError
from kb.runtime.faults import is_disk_full, is_fault, trace_of

logger = logging.getLogger(__name__)

DISK_FULL = "the disk is full: free some space, then sync again"


@contextmanager
def as_page_failure(source: str, path: str, *, doing: str = "it broke the parser") -> Iterator[None]:
    """Words whatever the block raises over a page.

    Args:
        doing: how the sentence begins where nothing better is known.

    Raises:
        PageError: whatever the page's fetching, reading or linking raised, in a sentence.
        UnavailableError: unchanged. Something that the whole sync needs does not answer; the page is not to blame.
    """
    try:
        yield
    except (PageError, UnavailableError):
        raise
    except BaseException as error:
        if not is_fault(error):
            raise
        logger.error("page.broke", extra={"source": source, "path": path, "trace": trace_of(error)})  # noqa: TRY400
        raise PageError(_why(error, doing)) from error


@contextmanager
def as_source_failure(name: str) -> Iterator[None]:
    """Words whatever the block raises over a source.

    Raises:
        SourceUnavailableError: whatever the source's listing raised, in a sentence.
    """
    try:
        yield
    except SourceUnavailableError:
        raise
    except BaseException as error:
        if not is_fault(error):
            raise
        if not isinstance(error, FootnoteError):
            logger.error("source.broke", extra={"source": name, "trace": trace_of(error)})  # noqa: TRY400
        raise SourceUnavailableError(f"source {name!r}: {_why_unlisted(error)}") from error


def _why(error: BaseException, doing: str) -> str:
    if isinstance(error, FootnoteError):
        return str(error)
    if isinstance(error, MemoryError):
        return TOO_MUCH_MEMORY
    if isinstance(error, RecursionError):
        return "it is nested too deeply to be read: save it in a plainer form"
    if isinstance(error, UnicodeError):
        return "it holds characters that are none: save it as UTF-8"
    if is_disk_full(error):
        return DISK_FULL
    return f"{doing} ({type(error).__name__}); the log says where"


def _why_unlisted(error: BaseException) -> str:
    if isinstance(error, FootnoteError):
        return str(error)
    if is_disk_full(error):
        return DISK_FULL
    if isinstance(error, OSError):
        return f"it cannot be listed: the system says {error.strerror or type(error).__name__}"
    return f"it cannot be listed: Footnote itself failed over it ({type(error).__name__}); the log says where"
