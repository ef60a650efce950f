"""Streams an answer as server-sent events while it is written.
https://html.spec.whatwg.org/multipage/server-sent-events.html

stage       {"stage": "searching" | "reading" | "writing" | "checking", "pages": 0}
citation    as in an answer: before the first sentence that cites it
sentence    {"index": 0, "text": "...", "citations": [1]}: it is what its pages say, by the letter
removed     {"index": 0}: the last check took this sentence back
warning     as in an answer
answer      the whole answer; it counts, whatever came before. The last event
error       {"code": "unavailable" | "busy" | "failed", "message": "..."}. The last event, instead of an answer
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from pydantic import BaseModel
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from bot.api import schemas
from bot.api.errors import ApiError
from bot.api.responses import citation_of, sentence_of
from kb.answer import Citation, Sentence
from kb.answering.progress import Stage
from kb.runtime.tasks import cancelled

logger = logging.getLogger(__name__)

KEEP_ALIVE_S = 15.0
"""Proxies cut connections on which nothing was said for some 30 s or more."""
FAILED = "Footnote failed at this; its log says why."
EVENTS = 64
"""Events that wait for a slow reader: a longer queue would keep its answer in memory, so the writing waits instead."""


class EventStream(StreamingResponse):
    """`answering` is given whom to tell, and returns the answer. It is cancelled when the reader is gone."""

    def __init__(self, answering: Callable[[_EventWriter], Awaitable[schemas.Answer]]) -> None:
        self._events: asyncio.Queue[bytes | None] = asyncio.Queue(EVENTS)
        self._answering = answering
        super().__init__(self._as_sent(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        work = asyncio.create_task(self._work())
        try:
            await super().__call__(scope, receive, send)
        finally:
            await cancelled(work)

    async def _work(self) -> None:
        writer = _EventWriter(self._events)
        try:
            await writer.finish(await self._answering(writer))
        except ApiError as error:
            await writer.event("error", {"code": error.code, "message": error.message})
        # The process edge of a stream that has begun: its reader gets a code, the log the trace.
        except Exception:
            logger.exception("api.stream_broke")
            await writer.event("error", {"code": "failed", "message": FAILED})
        await self._events.put(None)

    async def _as_sent(self) -> AsyncIterator[bytes]:
        while True:
            try:
                event = await asyncio.wait_for(self._events.get(), KEEP_ALIVE_S)
            except TimeoutError:
                event = KEEPALIVE_COMMENT
            if event is None:
                return
            yield event


class _EventWriter:
    """A `kb.answering.progress.Progress` that sends what is new."""

    def __init__(self, events: asyncio.Queue[bytes | None]) -> None:
        self._events = events
        self._sentences: list[str] = []
        self._cited: set[int] = set()

    async def event(self, name: str, payload: BaseModel | dict[str, object]) -> None:
        data = payload.model_dump_json() if isinstance(payload, BaseModel) else json.dumps(payload)
        await self._events.put(format_sse_event(event=name, data_str=data))

    async def stage(self, stage: Stage, *, pages: int = 0) -> None:
        await self.event("stage", {"stage": stage, "pages": pages})

    async def written(self, sentences: Sequence[Sentence], citations: Sequence[Citation]) -> None:
        new = sentences[len(self._sentences) :]
        await self._new(list(map(sentence_of, new)), list(map(citation_of, citations)))

    async def finish(self, answer: schemas.Answer) -> None:
        final = [sentence.text for sentence in answer.sentences]
        removed = [index for index, text in enumerate(self._sentences) if text not in final]
        for index in removed:
            await self.event("removed", {"index": index})
        if not removed:  # else its citations are numbered anew
            unsaid = [sentence for sentence in answer.sentences if sentence.text not in self._sentences]
            await self._new(unsaid, answer.citations)
        for warning in answer.warnings:
            await self.event("warning", warning)
        await self.event("answer", answer)

    async def _new(
        self, sentences: Sequence[schemas.Sentence], citations: Sequence[schemas.Citation]
    ) -> None:
        for citation in citations:
            if citation.n not in self._cited:
                self._cited.add(citation.n)
                await self.event("citation", citation)
        for sentence in sentences:
            await self.event("sentence", {"index": len(self._sentences), **sentence.model_dump()})
            self._sentences.append(sentence.text)
