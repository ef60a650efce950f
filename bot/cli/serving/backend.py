"""Implements the ports of the bot's Slack edge by what runs in this process."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from bot.cli.composition.runtime import Runtime, utc_now
from bot.cli.session.index_details import current_offer
from bot.cli.session.source_states import ended_syncs, source_states
from bot.edge.app import Activity
from bot.edge.backend import Backend
from bot.listening.channel_settings import ChannelSettings, ChannelSettingsStore
from bot.listening.deferred_messages import DeferredMessages
from bot.listening.exactly_once import ExactlyOnce
from bot.listening.known_threads import KnownThreads
from bot.questions.cited_answers import CitedAnswers
from bot.questions.ports import PipelinePort
from bot.reindexing.progress_notes import ProgressNotes
from bot.stats.status import BotStatus
from kb.errors import UnavailableError

logger = logging.getLogger(__name__)
_T = TypeVar("_T")


def bot_backend(runtime: Runtime, answers: PipelinePort, status: RuntimeStatus) -> Backend:
    redis, namespace = runtime.redis, runtime.namespace
    defaults = ChannelSettings.of_bot(runtime.settings.slack)
    return Backend(
        queue=runtime.queue,
        conversations=runtime.conversations,
        pipeline=answers,
        reindexer=runtime.reindexer,
        pages=runtime.index,
        notes=ProgressNotes(redis, namespace=namespace),
        analytics=runtime.analytics,
        status=status,
        channel_settings=ChannelSettingsStore(redis, namespace=namespace, defaults=defaults),
        known_threads=KnownThreads(redis=redis, namespace=namespace, clock=utc_now),
        deferred=DeferredMessages(redis, namespace=namespace, clock=utc_now),
        gaps=runtime.gaps,
        exactly_once=ExactlyOnce(redis, namespace=namespace),
        cited=CitedAnswers(redis, namespace=namespace),
        syncs=partial(ended_syncs, runtime),
        contacts=runtime.sources.contacts,
    )


class RuntimeStatus:
    """What `/kb status` tells."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.activity: Activity | None = None

    async def status(self) -> BotStatus:
        runtime = self._runtime
        counts = await or_none(runtime.index.counts)
        depth = await or_none(runtime.queue.depth)
        return BotStatus(
            pages=counts.pages if counts else None,
            passages=counts.chunks if counts else None,
            waiting=depth.waiting if depth else None,
            dead_letters=sum((await or_none(runtime.dead_letters.reasons) or {}).values()),
            model=runtime.model.name if runtime.model else None,
            reranker=runtime.ranker.available,
            last_event=self.activity.last_event if self.activity else None,
            workers=await or_none(runtime.page_jobs.workers) or 0,
            sources=await source_states(runtime),
            offer=await current_offer(runtime),
        )


async def or_none(ask: Callable[[], Awaitable[_T]]) -> _T | None:
    """Returns None in place of what does not answer."""
    try:
        return await ask()
    except UnavailableError:
        logger.warning("status.unavailable", exc_info=True)
        return None
