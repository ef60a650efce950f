"""Words a reindex: its progress bar, its end, its diff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.messages.catalog import Messages
from bot.rendering.mrkdwn import escape
from bot.slack.page_names import Naming
from kb.jobs import ReindexProgress, SyncReport

BAR = 10
SHOWN = 5
"""Pages named of each kind."""


def progress_text(step: ReindexProgress, what: str, messages: Messages) -> str:
    if step.phase == "queued":
        return messages.reindex_queued.format(what=what)
    if step.phase == "swapping":
        return messages.reindex_swapping.format(what=what)
    if step.total <= 0:
        return messages.reindex_reading.format(what=what)
    share = min(1.0, step.done / step.total)
    text = messages.reindexing.format(
        what=what,
        bar="▓" * round(share * BAR) + "░" * (BAR - round(share * BAR)),
        percent=messages.percent(share),
        done=messages.number(step.done),
        pages=messages.counted(messages.pages, step.total),
    )
    if step.seconds_left is None:
        return text
    return f"{text} · {messages.about_left.format(time=messages.lasting(step.seconds_left))}"


def end_text(
    step: ReindexProgress,
    what: str,
    messages: Messages,
    *,
    user: str,
    now: datetime,
    naming: Naming | None = None,
) -> str:
    """Words how it ended, in full for the admin; with `naming` for a place where others read along.

    `user` is the id of who asked for it.

    Why a rebuild was refused, and what looked wrong with it, quotes pages and questions: it is for the admin.
    """
    if step.refusal is not None:
        if naming is None:
            return messages.reindex_refused.format(what=what, reason=escape(step.refusal))
        return messages.reindex_refused_openly.format(what=what)
    if step.phase != "done" or step.report is None:
        return messages.reindex_failed.format(what=what)
    seconds = step.report.seconds or (now - step.started_at).total_seconds()
    asked = {"what": what, "person": f"<@{user}>", "time": messages.lasting(seconds)}
    return _diff_text(step.report, messages, asked=asked, naming=naming)


def _diff_text(
    report: SyncReport, messages: Messages, *, asked: Mapping[str, str], naming: Naming | None
) -> str:
    """Words the counts and the failures by name; what a dry run would change by name too, which nothing else would
    show.
    """
    name = naming or report.named
    if report.added or report.changed or report.removed or report.failed:
        done = messages.reindex_would if report.dry_run else messages.reindex_done
        text = done.format(counts=_counts(report, messages, name), **asked)
    else:
        done = messages.reindex_would_nothing if report.dry_run else messages.reindex_nothing
        text = done.format(pages=messages.counted(messages.pages, report.unchanged), **asked)
    lines = [text]
    if naming is None:
        lines += [f"⚠ {escape(doubt)}" for doubt in report.doubts]
    elif report.doubts:
        lines.append(f"⚠ {messages.reindex_doubts.format(number=messages.number(len(report.doubts)))}")
    named = (("+", report.added), ("~", report.changed), ("−", report.removed)) if report.dry_run else ()
    for mark, paths in named:
        if paths:
            names = [escape(page) for page in map(name, paths) if page is not None]
            lines.append(f"{mark} {_some(names, len(paths), messages)}")
    return "\n".join(lines)


def _counts(report: SyncReport, messages: Messages, name: Naming) -> str:
    counts = messages.counts(
        added=len(report.added),
        changed=len(report.changed),
        removed=len(report.removed),
        unchanged=report.unchanged,
        failed=len(report.failed),
    )
    if not report.failed:
        return counts
    failed = [(name(page.path), page.reason) for page in report.failed]
    names = [f"{escape(page)}: {escape(reason)}" for page, reason in failed if page is not None]
    return f"{counts} ({_some(names, len(failed), messages)})"


def _some(names: Sequence[str], pages: int, messages: Messages) -> str:
    """Lists the first few names, and counts the pages that have none here."""
    shown = [", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")] if names else []
    if pages > len(names):
        shown.append(messages.not_named.format(number=messages.number(pages - len(names))))
    return "; ".join(shown)
