"""The socket in the data folder: other commands talk to its owner through it.

It is a Unix socket with mode 0600 in a folder with mode 0700: who can connect is the operator, so a channel may be
named here (see `bot.api` for the door that others have, by key).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from aiohttp import web
from pydantic import ValidationError

from bot.cli.backups.requests import BackupProgress, BackupRequest
from bot.cli.session.requests import (
    PROGRESS,
    AddKeyRequest,
    AskRequest,
    DeadLetterRequest,
    ForgetRequest,
    IngestRequest,
    RevokeKeyRequest,
)
from bot.cli.session.session import Session
from kb.errors import FootnoteError

logger = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def control_socket(session: Session, socket: Path) -> AsyncIterator[None]:
    """Serves the session on `socket` while the block runs."""
    app = web.Application(middlewares=[_errors_as_json])
    app.add_routes(_routes(session))
    socket.unlink(missing_ok=True)  # left by a killed owner; we hold the folder's lock
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.UnixSite(runner, str(socket)).start()
    socket.chmod(0o600)
    try:
        yield
    finally:
        await runner.cleanup()
        socket.unlink(missing_ok=True)


def _routes(session: Session) -> list[web.RouteDef]:
    async def ask(request: web.Request) -> web.StreamResponse:
        reply = await session.ask(AskRequest.model_validate_json(await request.read()))
        return web.json_response(reply.model_dump())

    async def ingest(request: web.Request) -> web.StreamResponse:
        wanted = IngestRequest.model_validate_json(await request.read())
        steps = session.ingest(wanted)
        first = await anext(steps)  # before the status line goes out: a refusal is still a refusal
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        await response.write(PROGRESS.dump_json(first) + b"\n")
        async for step in steps:
            await response.write(PROGRESS.dump_json(step) + b"\n")
        return response

    async def forget(request: web.Request) -> web.StreamResponse:
        reply = await session.forget(ForgetRequest.model_validate_json(await request.read()))
        return web.json_response(reply.model_dump())

    async def status(_: web.Request) -> web.StreamResponse:
        return web.json_response(await session.status())

    async def syncs(_: web.Request) -> web.StreamResponse:
        return web.json_response({"syncs": await session.syncs()})

    async def offer(_: web.Request) -> web.StreamResponse:
        return web.json_response({"offer": await session.offer()})

    async def stats(_: web.Request) -> web.StreamResponse:
        return web.json_response(await session.stats())

    async def gaps(request: web.Request) -> web.StreamResponse:
        return web.json_response(await session.gaps(again=bool((await request.json()).get("again"))))

    async def stale(_: web.Request) -> web.StreamResponse:
        return web.json_response({"pages": await session.stale()})

    async def dead_letters(_: web.Request) -> web.StreamResponse:
        return web.json_response({"dead_letters": await session.dead_letters()})

    async def retry_dead_letters(request: web.Request) -> web.StreamResponse:
        wanted = DeadLetterRequest.model_validate_json(await request.read())
        return web.json_response({"ids": await session.retry_dead_letters(wanted.ids)})

    async def drop_dead_letters(request: web.Request) -> web.StreamResponse:
        wanted = DeadLetterRequest.model_validate_json(await request.read())
        return web.json_response({"ids": await session.drop_dead_letters(wanted.ids)})

    async def grow(request: web.Request) -> web.StreamResponse:
        return web.json_response(await session.grow(private=bool((await request.json()).get("private"))))

    async def keys(_: web.Request) -> web.StreamResponse:
        return web.json_response({"keys": await session.keys()})

    async def add_key(request: web.Request) -> web.StreamResponse:
        return web.json_response(
            await session.add_key(AddKeyRequest.model_validate_json(await request.read()))
        )

    async def revoke_key(request: web.Request) -> web.StreamResponse:
        wanted = RevokeKeyRequest.model_validate_json(await request.read())
        return web.json_response({"revoked": await session.revoke_key(wanted)})

    async def backup(request: web.Request) -> web.StreamResponse:
        wanted = BackupRequest.model_validate_json(await request.read())
        async with aclosing(session.backup(wanted)) as steps:
            first = await anext(steps)  # before the status line goes out: a refusal is still a refusal
            response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
            await response.prepare(request)
            await response.write(first.model_dump_json().encode() + b"\n")
            try:
                async for step in steps:
                    await response.write(step.model_dump_json().encode() + b"\n")
            except FootnoteError as error:
                await response.write(BackupProgress(error=str(error)).model_dump_json().encode() + b"\n")
        return response

    return [
        web.post("/control/backup", backup),
        web.get("/control/keys", keys),
        web.post("/control/keys", add_key),
        web.post("/control/keys/revoke", revoke_key),
        web.post("/control/gaps", gaps),
        web.get("/control/dead-letters", dead_letters),
        web.post("/control/dead-letters/retry", retry_dead_letters),
        web.post("/control/dead-letters/drop", drop_dead_letters),
        web.post("/control/grow", grow),
        web.get("/control/stale", stale),
        web.post("/control/ask", ask),
        web.post("/control/ingest", ingest),
        web.post("/control/forget", forget),
        web.get("/control/status", status),
        web.get("/control/syncs", syncs),
        web.get("/control/offer", offer),
        web.get("/control/stats", stats),
    ]


@web.middleware
async def _errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except ValidationError as error:
        return web.json_response(
            {"error": str(error.errors(include_url=False, include_input=False))}, status=400
        )
    except FootnoteError as error:
        return web.json_response({"error": str(error)}, status=409)
    except (web.HTTPException, asyncio.CancelledError):
        raise
    except Exception:  # the process edge: the command gets a sentence, the log the trace
        logger.exception("control.failed", extra={"path": request.path})
        return web.json_response({"error": "the owner of the data folder failed; see its log"}, status=500)
