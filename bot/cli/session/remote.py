"""The session of a command beside a running bot: it asks the process that owns the data folder."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import aiohttp

from bot.cli.backups.requests import BackupProgress, BackupRequest
from bot.cli.session.requests import (
    PROGRESS,
    AddKeyRequest,
    AskReply,
    AskRequest,
    DeadLetterRequest,
    ForgetReply,
    ForgetRequest,
    IngestRequest,
    RevokeKeyRequest,
)
from kb.errors import FootnoteError, UnavailableError
from kb.jobs import ReindexProgress


class OwnerError(FootnoteError):
    """The owner of the data folder refused or failed; the text is its own."""


class RemoteSession:
    """Talks to the process that owns the data folder."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    async def ask(self, request: AskRequest) -> AskReply:
        async with self._http() as http, http.post("/control/ask", json=request.model_dump()) as response:
            return AskReply.model_validate(await _told(response))

    async def ingest(self, request: IngestRequest) -> AsyncIterator[ReindexProgress]:
        body = request.model_dump(mode="json")
        async with self._http() as http, http.post("/control/ingest", json=body) as response:
            if response.status != 200:
                await _told(response)
            async for line in response.content:
                yield PROGRESS.validate_json(line)

    async def forget(self, request: ForgetRequest) -> ForgetReply:
        async with self._http() as http, http.post("/control/forget", json=request.model_dump()) as response:
            return ForgetReply.model_validate(await _told(response))

    async def status(self) -> dict[str, Any]:
        async with self._http() as http, http.get("/control/status") as response:
            return await _told(response)

    async def syncs(self) -> list[dict[str, Any]]:
        async with self._http() as http, http.get("/control/syncs") as response:
            syncs: list[dict[str, Any]] = (await _told(response))["syncs"]
            return syncs

    async def offer(self) -> str:
        async with self._http() as http, http.get("/control/offer") as response:
            return str((await _told(response))["offer"])

    async def stats(self) -> dict[str, Any]:
        async with self._http() as http, http.get("/control/stats") as response:
            return await _told(response)

    async def gaps(self, *, again: bool) -> dict[str, Any]:
        body = {"again": again}
        async with self._http() as http, http.post("/control/gaps", json=body) as response:
            return await _told(response)

    async def stale(self) -> list[dict[str, Any]]:
        async with self._http() as http, http.get("/control/stale") as response:
            pages: list[dict[str, Any]] = (await _told(response))["pages"]
            return pages

    async def dead_letters(self) -> list[dict[str, Any]]:
        async with self._http() as http, http.get("/control/dead-letters") as response:
            letters: list[dict[str, Any]] = (await _told(response))["dead_letters"]
            return letters

    async def retry_dead_letters(self, ids: Sequence[str] | None) -> list[str]:
        return await self._dead_letters("retry", ids)

    async def drop_dead_letters(self, ids: Sequence[str] | None) -> list[str]:
        return await self._dead_letters("drop", ids)

    async def _dead_letters(self, what: str, ids: Sequence[str] | None) -> list[str]:
        body = DeadLetterRequest(ids=None if ids is None else tuple(ids)).model_dump()
        async with self._http() as http, http.post(f"/control/dead-letters/{what}", json=body) as response:
            return list((await _told(response))["ids"])

    async def grow(self, *, private: bool) -> dict[str, Any]:
        body = {"private": private}
        async with self._http() as http, http.post("/control/grow", json=body) as response:
            return await _told(response)

    async def keys(self) -> list[dict[str, Any]]:
        async with self._http() as http, http.get("/control/keys") as response:
            keys: list[dict[str, Any]] = (await _told(response))["keys"]
            return keys

    async def add_key(self, request: AddKeyRequest) -> dict[str, Any]:
        body = request.model_dump(mode="json")
        async with self._http() as http, http.post("/control/keys", json=body) as response:
            return await _told(response)

    async def revoke_key(self, request: RevokeKeyRequest) -> bool:
        async with (
            self._http() as http,
            http.post("/control/keys/revoke", json=request.model_dump()) as response,
        ):
            return bool((await _told(response))["revoked"])

    async def backup(self, request: BackupRequest) -> AsyncGenerator[BackupProgress]:
        body = request.model_dump(mode="json")
        async with self._http() as http, http.post("/control/backup", json=body) as response:
            if response.status != 200:
                await _told(response)
            async for line in response.content:
                step = BackupProgress.model_validate_json(line)
                if step.error:
                    raise OwnerError(step.error)
                yield step

    def _http(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            "http://footnote",
            connector=aiohttp.UnixConnector(path=str(self._socket)),
            timeout=aiohttp.ClientTimeout(total=None, connect=5),
        )


async def _told(response: aiohttp.ClientResponse) -> dict[str, Any]:
    try:
        body: dict[str, Any] = json.loads(await response.text())
    except ValueError as error:
        raise UnavailableError(
            f"the owner of the data folder answered with status {response.status}"
        ) from error
    if response.status != 200:
        raise OwnerError(str(body.get("error", f"status {response.status}")))
    return body
