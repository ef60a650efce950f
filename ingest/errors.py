"""Every error that ingestion raises on purpose.

    FootnoteError
    └── IngestError
        ├── PageError               one page cannot be indexed; the sync goes on without it
        ├── SourceUnavailableError  a source cannot be listed; nothing of it is removed
        ├── ForgetRefusedError      several pages are meant; none is forgotten
        └── SyncRefusedError        carrying on would damage the index; it is left as it was

`PageError.reason` is written for the admin who reads the diff in Slack; the other texts are for operators.
"""

from kb.errors import FootnoteError

TOO_MUCH_MEMORY = "it needs too much memory to be read: split it, or save it with fewer pictures"
"""Why a page fails whose parser ran out of memory, here or in a process of its own."""


class IngestError(FootnoteError):
    """Base of every error that ingestion raises on purpose."""


class PageError(IngestError):
    """One page cannot be indexed.

    `withdraw`: the page's text in the index must go, because its author emptied the page or restricted its readers.
    Otherwise the earlier text stays: a page that cannot be read today was not deleted.
    `left_out`: its author wants it so (a draft). The report names it, but not as a failure.
    """

    def __init__(self, reason: str, *, withdraw: bool = False, left_out: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.withdraw = withdraw
        self.left_out = left_out


class SourceUnavailableError(IngestError):
    """A source cannot be listed: its root is missing or cannot be read."""


class SyncRefusedError(IngestError):
    """The sync stopped because its result would damage the index."""


class ForgetRefusedError(IngestError):
    """It is unclear which page is to be forgotten; the message names the candidates."""
