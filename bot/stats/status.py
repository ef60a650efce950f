"""How Footnote is doing, as `/kb status` tells it: the parts, then each source and its syncs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.messages.catalog import Messages
from bot.messages.formats import HOURS_TOLD
from bot.rendering.mrkdwn import escape
from kb.answering.language_offer import LanguageOffer
from kb.jobs import SourceState, SyncRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class BotStatus:
    """How Footnote is doing. None: cannot be told, because what would
    tell it does not answer (or never happened yet).
    """

    pages: int | None
    passages: int | None
    waiting: int | None
    model: str | None
    """The answering model's name; None in extractive mode."""
    reranker: bool
    last_event: datetime | None
    dead_letters: int = 0
    """Questions that Slack would not take the answers of (`bot.queue.dead_letters`)."""
    workers: int = 0
    """Processes of `footnote worker` that were heard of lately."""
    sources: Sequence[SourceState] = ()
    offer: LanguageOffer | None = None


class StatusReader(Protocol):
    """Never raises for an outage: what cannot be told is None."""

    async def status(self) -> BotStatus: ...


def status_lines(status: BotStatus, words: Messages, now: datetime) -> list[str]:
    lines = [
        words.status_index_down
        if status.pages is None or status.passages is None
        else words.status_pages.format(
            pages=words.number(status.pages), passages=words.counted(words.passages, status.passages)
        ),
        words.status_store_down
        if status.waiting is None
        else words.status_waiting.format(number=words.number(status.waiting)),
        *(
            [words.status_dead_letters.format(number=words.number(status.dead_letters))]
            if status.dead_letters
            else []
        ),
        words.status_model.format(model=escape(status.model)) if status.model else words.status_extractive,
        words.status_reranker_on if status.reranker else words.status_reranker_off,
        words.status_last_event.format(ago=time_ago(status.last_event, words, now))
        if status.last_event
        else words.status_no_event,
        *([words.status_workers.format(number=words.number(status.workers))] if status.workers else []),
        *([offer_line(status.offer, words)] if status.offer else []),
        *(_source_line(source, words, now) for source in status.sources),
    ]
    return [f"• {line}" for line in lines]


def offer_line(offer: LanguageOffer, words: Messages) -> str:
    """ "14 of the last 50 questions were Dutch; ..."."""
    form = words.offer_questions if offer.of == "questions" else words.offer_pages
    return form.format(
        number=words.number(offer.number),
        total=words.number(offer.total),
        languages=words.languages(offer.languages, join=words.or_else),
        model=offer.model,
    )


def _source_line(source: SourceState, words: Messages, now: datetime) -> str:
    pages = words.pages[1].format(n="?") if source.pages is None else words.counted(words.pages, source.pages)
    return words.status_source.format(
        source=escape(source.name),
        pages=pages,
        last=_last(source.last, words, now),
        next=_next(source, words),
    )


def _last(last: SyncRecord | None, words: Messages, now: datetime) -> str:
    if last is None:
        return words.sync_never
    ago = time_ago(last.at, words, now)
    if not last.ok:
        return words.sync_failed.format(ago=ago)
    form = words.sync_done if last.alone else words.sync_done_along
    counts = words.counts(added=last.added, changed=last.changed, removed=last.removed, failed=last.failed)
    return form.format(ago=ago, counts=counts or words.sync_nothing)


def _next(source: SourceState, words: Messages) -> str:
    if source.every is None:
        return words.sync_on_request
    hourly = source.every == timedelta(hours=1)  # "every 1 hour" is right in no language
    every = words.counted(words.minute, 60) if hourly else words.lasting(source.every.total_seconds())
    if source.next_in is None:
        return words.sync_due.format(every=every)
    return words.sync_every.format(every=every, time=words.lasting(source.next_in.total_seconds()))


def time_ago(then: datetime, words: Messages, now: datetime) -> str:
    """How long ago a moment was: "2 hours ago", "3 days ago"."""
    if now - then >= timedelta(hours=HOURS_TOLD):
        return words.since(then.date(), now.date())
    return words.ago.format(time=words.lasting((now - then).total_seconds()))
