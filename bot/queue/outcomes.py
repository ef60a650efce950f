"""Defines how an attempt at a question may fail, as a handler tells the queue.

NotNowError            something is away: the question waits first in its thread, for as long as it takes
UndeliverableError     Slack will not take it until somebody changes something: a dead letter at once
anything else          a fault of ours: a few more attempts, then an apology and a dead letter
"""

from __future__ import annotations

from kb.errors import FootnoteError, UnavailableError


class NotNowError(UnavailableError):
    """`cause`: one word, for the log. `after_s`: how long Slack asks us to wait at least, in seconds."""

    def __init__(self, cause: str, *, after_s: float = 0.0) -> None:
        super().__init__(cause)
        self.cause = cause
        self.after_s = after_s


class UndeliverableError(FootnoteError):
    """`code`: Slack's word for why. `clean`: neither placeholder nor status is left in Slack."""

    def __init__(self, code: str, *, clean: bool = False) -> None:
        super().__init__(code)
        self.code = code
        self.clean = clean
