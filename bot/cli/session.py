"""What the commands can do to a knowledge base, whoever owns its data folder.

Two implementations: `LocalSession` works on the folder that this process owns; `RemoteSession` asks the owner over the
socket in the folder. A command uses whichever `open_session` hands it and cannot tell them apart.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import aiohttp
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from bot.api.keys import MOST_PER_MINUTE, PER_MINUTE
from kb.errors import FootnoteError, UnavailableError
from kb.jobs import ReindexProgress

PROGRESS: TypeAdapter[ReindexProgress] = TypeAdapter(ReindexProgress)


class AskRequest(BaseModel):
    """`thread` and `channel` are names of the caller's choosing; a channel's name also says what may be read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(min_length=1, max_length=4000)
    thread: str | None = None
    channel: str | None = None


class AskReply(BaseModel):
    """`answer` and `trace` as `kb.answering.answer_json` writes them."""

    model_config = ConfigDict(frozen=True)

    answer: dict[str, Any]
    trace: dict[str, Any]


class IngestRequest(BaseModel):
    """Which pages to read: folders given now (and remembered), the sample, or the sources known already."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paths: tuple[Path, ...] = ()
    sample: bool = False
    source: str | None = None
    full: bool = False
    dry_run: bool = False
    force: bool = False
    rollback: bool = False


class ForgetRequest(BaseModel):
    """`address`: a page's URL, path or id. `undo`: let the next sync find it again."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    address: str = Field(min_length=1, max_length=2000)
    undo: bool = False


class ForgetReply(BaseModel):
    """The pages by title and address; with `undo`, by their ids. Empty: there is none."""

    model_config = ConfigDict(frozen=True)

    pages: tuple[str, ...]


class AddKeyRequest(BaseModel):
    """A key of the HTTP API, as `bot.api.keys.ApiKeys.add` takes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    audience: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    per_minute: int = Field(default=PER_MINUTE, ge=1, le=MOST_PER_MINUTE)
    expires_in_days: int | None = Field(default=None, ge=1, le=3650)


class RevokeKeyRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str


class BackupRequest(BaseModel):
    """`file`: absolute, in a folder that is there. `settings`: those of
    the caller as TOML, without secrets; "": there are none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: Path
    settings: str = ""


class BackupReply(BaseModel):
    """`pages` and `passages` of the live generation; `keys` of the store."""

    model_config = ConfigDict(frozen=True)

    file: Path
    bytes: int
    pages: int
    passages: int
    generations: int
    keys: int


class BackupProgress(BaseModel):
    """`done` of `total` passages of a generation ("live" or "previous"). The last one has the reply, or an error."""

    model_config = ConfigDict(frozen=True)

    generation: str = ""
    done: int = 0
    total: int = 0
    reply: BackupReply | None = None
    error: str = ""


class DeadLetterRequest(BaseModel):
    """`ids`: None means all."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ids: tuple[str, ...] | None


class Session(Protocol):
    async def ask(self, request: AskRequest) -> AskReply: ...

    def ingest(self, request: IngestRequest) -> AsyncIterator[ReindexProgress]: ...

    async def forget(self, request: ForgetRequest) -> ForgetReply: ...

    async def status(self) -> dict[str, Any]:
        """Whether it is well, and what it is made of. Cheap, however many
        pages there are: a container asks it twice a minute.
        """

    async def syncs(self) -> list[dict[str, Any]]:
        """How each source stands, as `bot.cli.source_states` writes it. Reads the revision of every page."""

    async def offer(self) -> str:
        """A sentence for the operator, where another embedder would read
        what is asked or written; "" where none would.
        """

    async def stats(self) -> dict[str, Any]: ...

    async def gaps(self, *, again: bool) -> dict[str, Any]:
        """What the pages lack, as `bot.cli.gap_commands` writes it. `again`: the questions are asked anew first."""

    async def stale(self) -> list[dict[str, Any]]: ...

    async def dead_letters(self) -> list[dict[str, Any]]:
        """As `bot.cli.dead_letter_commands` writes them."""

    async def retry_dead_letters(self, ids: Sequence[str] | None) -> list[str]:
        """None: all. Returns those that there were; so for the next."""

    async def drop_dead_letters(self, ids: Sequence[str] | None) -> list[str]: ...

    async def grow(self, *, private: bool) -> dict[str, Any]:
        """Cases of what people asked, as `bot.cli.evaluation.grow` writes them."""

    async def keys(self) -> list[dict[str, Any]]:
        """Lists the keys of the HTTP API, as `bot.cli.key_commands` writes them."""

    async def add_key(self, request: AddKeyRequest) -> dict[str, Any]:
        """The new key as `keys` tells it, and "key": the only copy of what its holder sends."""

    async def revoke_key(self, request: RevokeKeyRequest) -> bool:
        """Whether there was one."""

    def backup(self, request: BackupRequest) -> AsyncGenerator[BackupProgress]:
        """Between two syncs, beside questions. The last step has the reply."""


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
            told: list[dict[str, Any]] = (await _told(response))["syncs"]
            return told

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
        told: dict[str, Any] = json.loads(await response.text())
    except ValueError as error:
        raise UnavailableError(
            f"the owner of the data folder answered with status {response.status}"
        ) from error
    if response.status != 200:
        raise OwnerError(str(told.get("error", f"status {response.status}")))
    return told
