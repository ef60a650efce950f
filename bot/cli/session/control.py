"""The socket in the data folder: other commands talk to its owner through it.

It is a Unix socket with mode 0600 in a folder with mode 0700: who can connect is the operator, so a channel may be
named here (see `bot.api` for the door that others have, by key).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from pydantic import ValidationError, validate_call
from pydantic_core import to_json, to_jsonable_python

from bot.cli.session.session import Session
from kb.errors import FootnoteError

logger = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

CALLS = (
    "ask",
    "forget",
    "status",
    "syncs",
    "offer",
    "stats",
    "gaps",
    "stale",
    "dead_letters",
    "retry_dead_letters",
    "drop_dead_letters",
    "grow",
    "keys",
    "add_key",
    "revoke_key",
)
STREAMS = ("ingest", "backup")
"""The methods of a session that can be called through the socket."""


@asynccontextmanager
async def control_socket(session: Session, socket: Path) -> AsyncIterator[None]:
    """Serves the session on `socket` while the block runs."""
    app = web.Application(middlewares=[_errors_as_json])
    app.add_routes([web.post(f"/control/{name}", _call(getattr(session, name))) for name in CALLS])
    app.add_routes([web.post(f"/control/{name}", _stream(getattr(session, name))) for name in STREAMS])
    # left by a killed owner; we hold the folder's lock
    socket.unlink(missing_ok=True)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.UnixSite(runner, str(socket)).start()
    socket.chmod(0o600)
    try:
        yield
    finally:
        await runner.cleanup()
        socket.unlink(missing_ok=True)


def _call(method: Callable[..., Awaitable[Any]]) -> Handler:
    """Returns a handler that takes the method's arguments as JSON and responds with its result."""
    checked = validate_call(method)

    async def handle(request: web.Request) -> web.StreamResponse:
        return web.json_response(to_jsonable_python(await checked(**await request.json())))

    return handle


def _stream(method: Callable[..., AsyncGenerator[Any]]) -> Handler:
    """Returns a handler that responds with a line for each step, and one for an error that ends them."""
    checked = validate_call(method)

    async def handle(request: web.Request) -> web.StreamResponse:
        async with aclosing(checked(**await request.json())) as steps:
            first = await anext(steps)  # before the status line goes out: a refusal is still a refusal
            response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
            await response.prepare(request)
            await response.write(_line(step=first))
            try:
                async for step in steps:
                    await response.write(_line(step=step))
            except FootnoteError as error:
                await response.write(_line(failed=str(error)))
        return response

    return handle


def _line(**fields: Any) -> bytes:
    return to_json(fields) + b"\n"


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
