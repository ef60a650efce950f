"""Describes an unexpected error at a terminal in one sentence, without a trace and without anybody's values."""

from __future__ import annotations

from kb.runtime.faults import is_disk_full, trace_of

VERBOSE = frozenset({"--verbose", "-v"})
"""With this flag the whole trace is shown instead."""


def describe_fault(error: BaseException) -> str:
    """Returns what happened and what to do, for a person."""
    if is_disk_full(error):
        return (
            "the disk is full: free some space on the disk with the data folder, or move that folder (--data); "
            "what was indexed before is still there"
        )
    if isinstance(error, MemoryError):
        return "there is not enough memory: end other programs, or give this one more"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}. Look at its permissions and at the disk, then try again"
    *_, place, kind = ["", *trace_of(error)]
    return f"Footnote itself failed ({kind} at {place}): try again; with --verbose it shows all that is known of it"
