"""A sync's diff as text for the terminal; the Slack edge words its own."""

from __future__ import annotations

from collections.abc import Sequence

from kb.jobs import SyncReport

_SHOWN = 10
"""Pages named under each heading; the rest is counted."""


def summary(report: SyncReport) -> str:
    """One line: "Done in 1 min 48 s: 12 added, 5 changed, 2 removed, 271 unchanged, 1 failed (Travel.md: ...)"."""
    counts = [
        f"{len(report.added)} added",
        f"{len(report.changed)} changed",
        f"{len(report.removed)} removed",
        f"{report.unchanged} unchanged",
    ]
    if report.failed:
        first = report.failed[0]
        more = f" and {len(report.failed) - 1} more" if len(report.failed) > 1 else ""
        counts.append(f"{len(report.failed)} failed ({report.named(first.path)}: {first.reason}{more})")
    return f"Done in {duration(report.seconds)}: {', '.join(counts)}"


def diff(report: SyncReport, *, shown: int = _SHOWN) -> str:
    """The summary and, below it, the pages by name: + added, ~ changed, - removed, ! failed, ? with a note."""
    lines = [summary(report)]
    lines += _named("+", [report.named(path) for path in report.added], shown)
    lines += _named("~", [report.named(path) for path in report.changed], shown)
    lines += _named("-", [report.named(path) for path in report.removed], shown)
    lines += _named("!", [f"{report.named(page.path)}: {page.reason}" for page in report.failed], shown)
    lines += _named("?", [f"{report.named(page.path)}: {page.reason}" for page in report.warned], shown)
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """ "0.4 s", "48 s", "1 min 48 s", "1 h 2 min"."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _named(mark: str, names: Sequence[str], shown: int) -> list[str]:
    lines = [f"  {mark} {name}" for name in names[:shown]]
    if len(names) > shown:
        lines.append(f"  {mark} ... and {len(names) - shown} more")
    return lines
