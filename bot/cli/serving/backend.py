"""Implements the ports of the bot's Slack edge by what runs in this process."""

from __future__ import annotations

from functools import partial

from bot.cli.composition.runtime import Runtime, utc_now
from bot.cli.session.source_states import ended_syncs
from bot.edge.backend import Backend, PipelinePort
from bot.listening.channel_settings import ChannelSettings, ChannelSettingsStore
from bot.listening.deferred_messages import DeferredMessages
from bot.listening.exactly_once import ExactlyOnce
from bot.listening.known_threads import KnownThreads
from bot.questions.cited_answers import CitedAnswers
from bot.queue.queue import QuestionQueue
from bot.reindexing.progress_notes import ProgressNotes
from bot.stats.status import StatusReader


def bot_backend(
    runtime: Runtime, queue: QuestionQueue, answers: PipelinePort, status: StatusReader
) -> Backend:
    redis, namespace = runtime.redis, runtime.settings.store.namespace
    defaults = ChannelSettings.of_bot(runtime.settings.slack)
    return Backend(
        queue=queue,
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
        syncs=partial(ended_syncs, redis, namespace=namespace),
        contacts=runtime.sources.contacts,
    )
