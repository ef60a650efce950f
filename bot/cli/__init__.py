"""Every command of `footnote`. This package is the composition root: the only place that knows all three rooms.

Exit codes: 0 done, 1 an error that the message explains, 2 wrong usage; `ask` also 3 not in
the knowledge base (or only something near), 4 unclear, 5 something is down; `ingest` and
`reindex` also 3 some pages could not be read; `doctor` and `eval` 1 when a check fails.
"""

from __future__ import annotations

from bot.cli.commands import main

__all__ = ["main"]
