"""The session of a command beside a running bot: it asks the process that owns the data folder."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import aiohttp
from pydantic_core import to_jsonable_python

from bot.cli.backups.requests import BackupProgress, BackupRequest
from bot.cli.session.requests import (
    PROGRESS,
    AddKeyRequest,
    AskReply,
    AskRequest,
    ForgetReply,
    ForgetRequest,
    IngestRequest,
)
from kb.errors import FootnoteError, UnavailableError
from kb.jobs import ReindexProgress


class OwnerError(FootnoteError):
    """The owner of the data folder refused or failed; the text is its own."""


class RemoteSession:
    """Talks to the process that owns the data folder: each method is one call of `bot.cli.session.control`."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    async def ask(self, request: AskRequest) -> AskReply:
        return AskReply.model_validate(await self._call("ask", request=request))

    async def ingest(self, request: IngestRequest) -> AsyncGenerator[ReindexProgress]:
        async with aclosing(self._stream("ingest", request=request)) as steps:
            async for step in steps:
                yield PROGRESS.validate_python(step)

    async def forget(self, request: ForgetRequest) -> ForgetReply:
        return ForgetReply.model_validate(await self._call("forget", request=request))

    async def status(self) -> Any:
        return await self._call("status")

    async def syncs(self) -> Any:
        return await self._call("syncs")

    async def offer(self) -> Any:
        return await self._call("offer")

    async def stats(self) -> Any:
        return await self._call("stats")

    async def gaps(self, *, again: bool) -> Any:
        return await self._call("gaps", again=again)

    async def stale(self) -> Any:
        return await self._call("stale")

    async def dead_letters(self) -> Any:
        return await self._call("dead_letters")

    async def retry_dead_letters(self, *, ids: Sequence[str] | None) -> Any:
        return await self._call("retry_dead_letters", ids=ids)

    async def drop_dead_letters(self, *, ids: Sequence[str] | None) -> Any:
        return await self._call("drop_dead_letters", ids=ids)

    async def grow(self, *, private: bool) -> Any:
        return await self._call("grow", private=private)

    async def keys(self) -> Any:
        return await self._call("keys")

    async def add_key(self, request: AddKeyRequest) -> Any:
        return await self._call("add_key", request=request)

    async def revoke_key(self, *, name: str) -> Any:
        return await self._call("revoke_key", name=name)

    async def backup(self, request: BackupRequest) -> AsyncGenerator[BackupProgress]:
        async with aclosing(self._stream("backup", request=request)) as steps:
            async for step in steps:
                yield BackupProgress.model_validate(step)

    async def _call(self, method: str, **arguments: Any) -> Any:
        async with self._asked(method, arguments) as response:
            return _json(await response.text(), response)

    async def _stream(self, method: str, **arguments: Any) -> AsyncGenerator[Any]:
        async with self._asked(method, arguments) as response:
            async for line in response.content:
                step = json.loads(line)
                if "failed" in step:
                    raise OwnerError(step["failed"])
                yield step["step"]

    @asynccontextmanager
    async def _asked(self, method: str, arguments: dict[str, Any]) -> AsyncIterator[aiohttp.ClientResponse]:
        """
        Raises:
            OwnerError: the owner refuses; its words.
        """
        connector = aiohttp.UnixConnector(path=str(self._socket))
        timeout = aiohttp.ClientTimeout(total=None, connect=5)
        body = to_jsonable_python(arguments)
        async with (
            aiohttp.ClientSession("http://footnote", connector=connector, timeout=timeout) as http,
            http.post(f"/control/{method}", json=body) as response,
        ):
            if response.status == HTTPStatus.NOT_FOUND:
                raise OwnerError("the running bot is another version of Footnote: restart it")
            if response.status != HTTPStatus.OK:
                refusal = _json(await response.text(), response)
                raise OwnerError(str(refusal.get("error", f"status {response.status}")))
            yield response


def _json(text: str, response: aiohttp.ClientResponse) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UnavailableError(
            f"the owner of the data folder answered with status {response.status}"
        ) from error
