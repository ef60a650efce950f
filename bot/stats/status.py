"""Words the status of Footnote for `/kb status`: its parts, then each source and its syncs."""

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
    """The status of Footnote. None: unknown, because its source does not answer, or it never happened yet."""

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


def status_lines(status: BotStatus, messages: Messages, now: datetime) -> list[str]:
    lines = [
        messages.status_index_down
        if status.pages is None or status.passages is None
        else messages.status_pages.format(
            pages=messages.number(status.pages), passages=messages.counted(messages.passages, status.passages)
        ),
        messages.status_store_down
        if status.waiting is None
        else messages.status_waiting.format(number=messages.number(status.waiting)),
        *(
            [messages.status_dead_letters.format(number=messages.number(status.dead_letters))]
            if status.dead_letters
            else []
        ),
        messages.status_model.format(model=escape(status.model))
        if status.model
        else messages.status_extractive,
        messages.status_reranker_on if status.reranker else messages.status_reranker_off,
        messages.status_last_event.format(ago=time_ago(status.last_event, messages, now))
        if status.last_event
        else messages.status_no_event,
        *([messages.status_workers.format(number=messages.number(status.workers))] if status.workers else []),
        *([offer_line(status.offer, messages)] if status.offer else []),
        *(_source_line(source, messages, now) for source in status.sources),
    ]
    return [f"• {line}" for line in lines]


def offer_line(offer: LanguageOffer, messages: Messages) -> str:
    """Words the offer of another embedder: "14 of the last 50 questions were Dutch; ..."."""
    form = messages.offer_questions if offer.of == "questions" else messages.offer_pages
    return form.format(
        number=messages.number(offer.number),
        total=messages.number(offer.total),
        languages=messages.languages(offer.languages, join=messages.or_else),
        model=offer.model,
    )


def _source_line(source: SourceState, messages: Messages, now: datetime) -> str:
    pages = (
        messages.pages[1].format(n="?")
        if source.pages is None
        else messages.counted(messages.pages, source.pages)
    )
    return messages.status_source.format(
        source=escape(source.name),
        pages=pages,
        last=_last(source.last, messages, now),
        next=_next(source, messages),
    )


def _last(last: SyncRecord | None, messages: Messages, now: datetime) -> str:
    if last is None:
        return messages.sync_never
    ago = time_ago(last.at, messages, now)
    if not last.ok:
        return messages.sync_failed.format(ago=ago)
    form = messages.sync_done if last.alone else messages.sync_done_along
    counts = messages.counts(added=last.added, changed=last.changed, removed=last.removed, failed=last.failed)
    return form.format(ago=ago, counts=counts or messages.sync_nothing)


def _next(source: SourceState, messages: Messages) -> str:
    if source.every is None:
        return messages.sync_on_request
    hourly = source.every == timedelta(hours=1)  # "every 1 hour" is right in no language
    every = (
        messages.counted(messages.minute, 60) if hourly else messages.lasting(source.every.total_seconds())
    )
    if source.next_in is None:
        return messages.sync_due.format(every=every)
    return messages.sync_every.format(every=every, time=messages.lasting(source.next_in.total_seconds()))


def time_ago(then: datetime, messages: Messages, now: datetime) -> str:
    """Words how long ago a moment was: "2 hours ago", "3 days ago"."""
    if now - then >= timedelta(hours=HOURS_TOLD):
        return messages.since(then.date(), now.date())
    return messages.ago.format(time=messages.lasting((now - then).total_seconds()))
