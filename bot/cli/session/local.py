"""The session of the process that owns the data folder."""

from __future__ import annotations

import dataclasses
import logging
import uuid
from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta
from typing import Any

from bot.api.keys import ApiKeys, KeyInUse
from bot.cli.backups.requests import BackupProgress, BackupRequest
from bot.cli.backups.writing import write_backup
from bot.cli.composition.runtime import Runtime, utc_now
from bot.cli.session.index_details import current_offer, other_embedder
from bot.cli.session.metrics import measured
from bot.cli.session.replies import gaps_as_json, grown_as_json, key_as_json, letter_as_json, stale_as_json
from bot.cli.session.requests import (
    AddKeyRequest,
    AskReply,
    AskRequest,
    ForgetReply,
    ForgetRequest,
    IngestRequest,
)
from bot.cli.session.source_states import source_states, state_as_json
from bot.edge.slack_app import Edge
from bot.messages.catalog import messages_in
from bot.questions.cited_answers import CitedAnswers
from bot.rendering.disambiguation import disambiguated
from bot.rendering.render import answer_markdown, answer_warnings
from bot.stats.grown_cases import CaseGrower
from bot.stats.stale import StalePages
from bot.stats.status import offer_line
from kb.answering.answer_json import answer_as_json, trace_as_json
from kb.errors import IndexDamagedError, SettingsError, StoreUnavailableError, UnavailableError
from kb.jobs import ReindexProgress, ReindexRequest
from kb.models import Audience, Question, ThreadKey, Turn
from kb.pages.freshness import PRECEDENCE
from kb.runtime.tracing import note, span

logger = logging.getLogger(__name__)

TERMINAL = "terminal"
"""Stands for the Slack team in the keys of conversations that are held in a terminal."""


NO_SOURCES = (
    "there is nothing to read yet: name a folder (`footnote ingest FOLDER`), add [[sources]] to footnote.toml "
    "(docs/sources.md), or try `footnote ingest --sample`"
)


class LocalSession:
    """`edge`: where Slack is served as well."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.edge: Edge | None = None

    async def ask(self, request: AskRequest) -> AskReply:
        runtime = self._runtime
        key = ThreadKey(team=TERMINAL, channel=request.channel or TERMINAL, thread=request.thread or "")
        turns = await self._history(key) if request.thread else []
        question = Question(id=uuid.uuid4().hex, text=request.question, audience=audience_of(request.channel))
        with span("question", door="terminal", question_id=question.id):
            answer = await runtime.pipeline.answer(question, turns or [])
            note(outcome=answer.outcome)
        try:
            if request.thread:
                await runtime.conversations.append(key, runtime.pipeline.turn(answer))
            await runtime.analytics.record(question.id, answer)
        except StoreUnavailableError as error:  # the answer stands without being remembered
            logger.warning("answer.not_remembered", extra={"question_id": question.id, "cause": str(error)})
        if turns is None:
            answer = dataclasses.replace(answer, notes=(*answer.notes, "history unavailable"))
        return AskReply(
            answer=answer_as_json(disambiguated(answer), text=answer_markdown(answer)),
            trace=trace_as_json(answer),
            warnings=tuple(answer_warnings(answer, utc_now().date())),
        )

    async def _history(self, key: ThreadKey) -> list[Turn] | None:
        """Loads the thread so far; None where the store is down."""
        try:
            return await self._runtime.conversations.load(key)
        except StoreUnavailableError as error:
            logger.warning("history.unavailable", extra={"cause": str(error)})
            return None

    async def ingest(self, request: IngestRequest) -> AsyncGenerator[ReindexProgress]:
        runtime = self._runtime
        named = [runtime.sources.add(path).name for path in request.paths]
        if request.sample:
            named.append(runtime.sources.add_sample().name)
        if not runtime.sources.all():
            raise SettingsError(NO_SOURCES)
        source = request.source or (named[0] if len(named) == 1 else None)
        wanted = ReindexRequest(
            requested_by=TERMINAL,
            source=source,
            full=request.full,
            dry_run=request.dry_run,
            force=request.force,
            rollback=request.rollback,
        )
        async for step in runtime.reindexer.reindex(wanted):
            yield step

    async def forget(self, request: ForgetRequest) -> ForgetReply:
        reindexer = self._runtime.reindexer
        if request.undo:
            return ForgetReply(pages=tuple(await reindexer.remember(request.address)))
        pages = await reindexer.forget(request.address)
        return ForgetReply(pages=tuple(f"{page.title} ({page.url})" for page in pages))

    async def status(self) -> dict[str, Any]:
        runtime = self._runtime
        status: dict[str, Any] = {
            "status": "ok",
            "data": str(runtime.folder.path),
            "running": owner.command if (owner := runtime.folder.owner()) else None,
            "playground": owner.playground if owner else None,
            "sources": [source.name for source in runtime.sources.all()],
            "embedder": runtime.settings.embed.model,
            "reranker": runtime.settings.rerank.model if runtime.ranker.available else runtime.ranker.reason,
            "model": runtime.model.name if runtime.model else "none: extractive",
            "event_loop_late_s": round(runtime.watch.lag.longest, 3),
        }
        try:
            counts = await runtime.index.counts()
            status |= {"pages": counts.pages, "passages": counts.chunks}
            manifest = await runtime.index.manifest()
            status["index_embedder"] = manifest.embedder if manifest else None
            if matter := other_embedder(manifest, runtime.settings.embed):
                status["rebuild"] = matter
            calibration = await runtime.index.calibration()
            status["calibration"] = calibration.model_dump(mode="json") if calibration else None
            status["workers"] = await runtime.page_jobs.workers()
            depth, reasons = await runtime.queue.depth(), await runtime.dead_letters.reasons()
            status |= {
                "questions_waiting": depth.waiting,
                "threads_waiting_for_slack": depth.for_slack,
                "dead_letters": sum(reasons.values()),
                "dead_letter_reasons": reasons,
            }
        except UnavailableError as error:
            status |= {"status": "unavailable", "error": str(error)}
            if isinstance(error, SettingsError):
                status["mend"] = (
                    "set QDRANT_API_KEY to the server's key, or unset it where the server has none"
                )
            if isinstance(error, IndexDamagedError):
                status["mend"] = (
                    "run `footnote reindex --full`; a running bot does so at its next sync of all sources"
                )
        status["freshness_by"] = list(PRECEDENCE)
        return status

    async def dead_letters(self) -> list[dict[str, Any]]:
        return [letter_as_json(letter) for letter in await self._runtime.dead_letters.all()]

    async def retry_dead_letters(self, *, ids: Sequence[str] | None) -> list[str]:
        return await self._runtime.dead_letters.revive(await self._letters_of(ids))

    async def drop_dead_letters(self, *, ids: Sequence[str] | None) -> list[str]:
        return await self._runtime.dead_letters.drop(await self._letters_of(ids))

    async def _letters_of(self, ids: Sequence[str] | None) -> Sequence[str]:
        """Returns `ids`, or where it is None the ids of all dead letters, oldest first."""
        if ids is not None:
            return ids
        return [letter.id for letter in reversed(await self._runtime.dead_letters.all())]

    async def syncs(self) -> list[dict[str, Any]]:
        return [state_as_json(state) for state in await source_states(self._runtime)]

    async def offer(self) -> str:
        offer = await current_offer(self._runtime)
        return offer_line(offer, messages_in("en")) if offer else ""

    async def metrics(self) -> str:
        """Returns the metrics in the text format of Prometheus."""
        return await measured(self._runtime, self.edge)

    async def stats(self) -> dict[str, Any]:
        stats = await self._runtime.analytics.stats()
        return {
            **dataclasses.asdict(stats),
            "rewrite_rate": stats.rewrite_rate,
            "satisfaction": stats.satisfaction,
        }

    async def gaps(self, *, again: bool) -> dict[str, Any]:
        gaps = self._runtime.gaps
        closed_now = await gaps.look_again(self._runtime.pipeline) if again else 0
        found = gaps_as_json(await gaps.open(), await gaps.closed(), messages_in("en"))
        return found | {"closed_now": closed_now}

    async def grow(self, *, private: bool) -> dict[str, Any]:
        runtime = self._runtime
        grower = CaseGrower(
            records=runtime.analytics,
            gaps=runtime.gaps,
            cited=CitedAnswers(runtime.redis, namespace=runtime.namespace),
            conversations=runtime.conversations,
            index=runtime.index,
            answerer=runtime.pipeline,
            today=utc_now().date(),
        )
        return grown_as_json(await grower.grow(private=private))

    async def stale(self) -> list[dict[str, Any]]:
        runtime = self._runtime
        pages = StalePages(index=runtime.index, citations=runtime.analytics, clock=utc_now)
        return [stale_as_json(page) for page in await pages.all()]

    async def keys(self) -> list[dict[str, Any]]:
        return [key_as_json(key_in_use) for key_in_use in await self._keys.all()]

    async def add_key(self, request: AddKeyRequest) -> dict[str, Any]:
        days = request.expires_in_days
        key, whole = await self._keys.add(
            request.name,
            audience=request.audience,
            sources=request.sources,
            per_minute=request.per_minute,
            expires_in=timedelta(days=days) if days is not None else None,
        )
        return key_as_json(KeyInUse(key=key, last_used=None)) | {"key": whole}

    async def revoke_key(self, *, name: str) -> bool:
        return await self._keys.revoke(name)

    def backup(self, request: BackupRequest) -> AsyncGenerator[BackupProgress]:
        runtime = self._runtime
        return write_backup(
            request, runtime.settings, folder=runtime.folder, index=runtime.index, redis=runtime.redis
        )

    @property
    def _keys(self) -> ApiKeys:
        return ApiKeys(self._runtime.redis, namespace=self._runtime.namespace, clock=utc_now)


def audience_of(channel: str | None) -> Audience:
    """Returns what a question asked "in" a channel may read; `channel` is an id or a name, with or without the hash."""
    if channel is None:
        return Audience()
    return Audience(channels=frozenset({channel, f"#{channel.removeprefix('#')}"}))
