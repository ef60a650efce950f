"""A reindex in words: its bar, its end, its diff."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.messages import Messages
from bot.mrkdwn import escape
from bot.page_names import Naming
from kb.jobs import ReindexProgress, SyncReport

BAR = 10
SHOWN = 5
"""Pages named of each kind."""


def progress_text(step: ReindexProgress, what: str, words: Messages) -> str:
    if step.phase == "queued":
        return words.reindex_queued.format(what=what)
    if step.phase == "swapping":
        return words.reindex_swapping.format(what=what)
    if step.total <= 0:
        return words.reindex_reading.format(what=what)
    share = min(1.0, step.done / step.total)
    told = words.reindexing.format(
        what=what,
        bar="▓" * round(share * BAR) + "░" * (BAR - round(share * BAR)),
        percent=words.percent(share),
        done=words.number(step.done),
        total=words.number(step.total),
    )
    if step.seconds_left is None:
        return told
    return f"{told} · {words.about_left.format(time=words.lasting(step.seconds_left))}"


def end_text(
    step: ReindexProgress, what: str, words: Messages, *, now: datetime, naming: Naming | None = None
) -> str:
    """How it ended, as the admin alone is told; with `naming` as it is told where others read along.

    Why a rebuild was refused, and what looked wrong with it, quotes pages and questions: it is for the admin.
    """
    if step.refusal is not None:
        if naming is None:
            return words.reindex_refused.format(what=what, reason=escape(step.refusal))
        return words.reindex_refused_openly.format(what=what)
    if step.phase != "done" or step.report is None:
        return words.reindex_failed.format(what=what)
    seconds = step.report.seconds or (now - step.started_at).total_seconds()
    return _diff_text(step.report, words, seconds=seconds, naming=naming)


def _diff_text(report: SyncReport, words: Messages, *, seconds: float, naming: Naming | None) -> str:
    """The counts and the failures by name; what a dry run would change by name too, which nothing else would show."""
    done = words.reindex_would if report.dry_run else words.reindex_done
    told = done.format(
        time=words.lasting(seconds),
        added=words.number(len(report.added)),
        changed=words.number(len(report.changed)),
        removed=words.number(len(report.removed)),
        unchanged=words.number(report.unchanged),
        failed=words.number(len(report.failed)),
    )
    name = naming or report.named
    if report.failed:
        failed = [(name(page.path), page.reason) for page in report.failed]
        known = [f"{escape(page)}: {escape(reason)}" for page, reason in failed if page is not None]
        told += f" ({_some(known, len(failed), words)})"
    lines = [told]
    if naming is None:
        lines += [f"⚠ {escape(doubt)}" for doubt in report.doubts]
    elif report.doubts:
        lines.append(f"⚠ {words.reindex_doubts.format(number=words.number(len(report.doubts)))}")
    named = (("+", report.added), ("~", report.changed), ("−", report.removed)) if report.dry_run else ()
    for mark, paths in named:
        if paths:
            known = [escape(page) for page in map(name, paths) if page is not None]
            lines.append(f"{mark} {_some(known, len(paths), words)}")
    return "\n".join(lines)


def _some(known: Sequence[str], pages: int, words: Messages) -> str:
    """The first few names, and how many pages have none here."""
    shown = [", ".join(known[:SHOWN]) + (", …" if len(known) > SHOWN else "")] if known else []
    if pages > len(known):
        shown.append(words.not_named.format(number=words.number(pages - len(known))))
    return "; ".join(shown)
