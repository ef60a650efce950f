"""Serves the API in the bot's own event loop, and lets open requests end when the bot is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.types import ASGIApp

from kb.config.server_settings import ApiSettings
from kb.errors import SettingsError

logger = logging.getLogger(__name__)

GRACE_S = 10
"""As long as Slack's questions have to end."""
CONNECTIONS = 500
"""Open at the same time; more are told 503. A question takes one, and most wait for the next."""


class _Server(uvicorn.Server):
    """Signals are the bot's: it stops this server itself."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def listening(app: ASGIApp, settings: ApiSettings) -> AsyncIterator[str]:
    """Serves while the block runs, and yields the address.

    Raises:
        SettingsError: the address cannot be listened on.
    """
    assert settings.port is not None
    opened = _listener(settings.host, settings.port)
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        server_header=False,
        lifespan="off",
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=GRACE_S,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[opened]), name="api")
    host, port = opened.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    logger.info("api.listening", extra={"address": address})
    try:
        yield address
    finally:
        server.should_exit = True
        await serving
        opened.close()


def _listener(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise SettingsError(
            f"the HTTP API cannot listen on {host} port {port} ({error.strerror or error}): set "
            f"another FOOTNOTE_API__PORT "
            "or FOOTNOTE_API__HOST"
        ) from error
