"""Runs the Slack app: builds it, connects by Socket Mode or signed HTTP, and stops it without losing work.

async with open_edge(settings=..., backend=..., clock=...) as edge:
    await edge.connect()
    await queue.run(edge.handler, workers=settings.workers, on_giving_up=edge.handler.on_giving_up)
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from aiohttp import web
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler

from bot.edge.app import Activity, build_app
from bot.edge.backend import Backend
from bot.edge.draining import DrainingApp
from bot.edge.handlers import build_handlers
from bot.edge.http_receiver import LARGEST, receive
from bot.edge.wiring import Wiring
from bot.listening.deferred_messages import DeferredWorker
from bot.listening.prefilter import Prefilter
from bot.questions.handlers import QueueHandler
from bot.slack.clients import slack_clients, slack_session
from bot.slack.people import Me
from kb.config.slack_settings import SlackSettings
from kb.errors import SettingsError
from kb.runtime.tasks import cancelled

logger = logging.getLogger(__name__)

PATH = "/slack/events"
GRACE_S = 10.0
"""How long work that is under way may take to end when the bot is stopped."""


@dataclass(kw_only=True)
class Edge:
    """See the module. `wiring` has the app's parts; `activity` tells when Slack was last heard."""

    app: DrainingApp
    wiring: Wiring
    activity: Activity
    _by_itself: list[asyncio.Task[None]] = field(default_factory=list, init=False)
    _socket: AsyncSocketModeHandler | None = field(default=None, init=False)
    _server: web.AppRunner | None = field(default=None, init=False)

    @property
    def handler(self) -> QueueHandler:
        """Returns the handler of the queue."""
        return self.wiring.queue_handler

    async def connect(self) -> str:
        """Connects, by Socket Mode where there is an app token, else over HTTP. Returns how, for people to read.

        Raises:
            SettingsError: neither is configured.
            slack_sdk.errors.SlackClientError, aiohttp.ClientError: Slack refuses the token or is not reachable.
        """
        me = await self.wiring.people.me()
        how = await self._connected(me)
        listeners = self.wiring.listeners
        later = DeferredWorker(
            deferred=listeners.deferred,
            judge=listeners.judge_deferred,
            thread_reads=listeners.decider.thread_reads,
        )
        self._by_itself = [
            asyncio.create_task(self.wiring.follower.take_up(self.wiring.background), name="take up"),
            asyncio.create_task(self.wiring.digests.run(), name="digests"),
            asyncio.create_task(self.wiring.corrections.run(), name="corrections"),
            asyncio.create_task(later.run(), name="deferred messages"),
        ]
        return how

    async def _connected(self, me: Me) -> str:
        settings = self.wiring.settings
        if settings.app_token is not None:
            socket = AsyncSocketModeHandler(self.app, settings.app_token.get_secret_value())
            try:
                await socket.connect_async()  # type: ignore[no-untyped-call]
            except BaseException:
                await socket.close_async()  # type: ignore[no-untyped-call]
                raise
            self._socket = socket
            logger.info("slack.connected", extra={"how": "socket", "bot": me.user_id})
            return "Socket Mode"
        if settings.signing_secret is not None:
            port = await self._serve_http(settings.signing_secret.get_secret_value())
            logger.info("slack.connected", extra={"how": "http", "port": port, "bot": me.user_id})
            return f"HTTP on port {port}, path {PATH}"
        raise SettingsError(
            "Slack cannot reach Footnote: set SLACK_APP_TOKEN for Socket Mode, or SLACK_SIGNING_SECRET for HTTP"
        )

    async def is_connected(self) -> bool:
        """Tells whether Slack can reach us now, as far as we can tell from here."""
        if self._socket is not None:
            return bool(await self._socket.client.is_connected())
        return self._server is not None

    async def close(self) -> None:
        """Takes nothing new, then lets what is under way end."""
        await self.app.drain(grace_s=GRACE_S)
        if self._socket is not None:
            await self._socket.close_async()  # type: ignore[no-untyped-call]
        if self._server is not None:
            await self._server.cleanup()
        self._socket = self._server = None
        for task in self._by_itself:
            await cancelled(task)
        await self.wiring.background.drain(grace_s=GRACE_S)

    async def _serve_http(self, secret: str) -> int:
        server = web.Application(client_max_size=LARGEST)
        server.router.add_post(PATH, partial(receive, app=self.app, secret=secret))
        self._server = web.AppRunner(server, access_log=None)
        await self._server.setup()
        settings = self.wiring.settings
        await web.TCPSite(self._server, settings.host, settings.port).start()
        return int(self._server.addresses[0][1])


@asynccontextmanager
async def open_edge(
    *, settings: SlackSettings, backend: Backend, clock: Callable[[], datetime]
) -> AsyncIterator[Edge]:
    """Builds the edge and closes it again. It hears nothing before `connect`.

    Raises:
        SettingsError: there is no bot token.
    """
    if settings.bot_token is None:
        raise SettingsError("Footnote cannot speak in Slack: set SLACK_BOT_TOKEN")
    async with slack_session() as session:
        clients = slack_clients(settings, session)
        wiring = Wiring(clients=clients, settings=settings, backend=backend, clock=clock)
        activity = Activity(clock=clock)
        app = build_app(
            settings=settings,
            client=clients.reading,
            people=wiring.people,
            handlers=build_handlers(wiring),
            background=wiring.background,
            activity=activity,
            prefilter=Prefilter(
                decider=wiring.listeners.decider, deferred=backend.deferred, noting=activity.event
            ),
        )
        edge = Edge(app=app, wiring=wiring, activity=activity)
        try:
            yield edge
        finally:
            await edge.close()
