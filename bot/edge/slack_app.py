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
from datetime import datetime
from functools import partial

from aiohttp import web
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler

from bot.edge.app import Activity, build_app
from bot.edge.backend import Backend
from bot.edge.draining import DrainingApp
from bot.edge.http_receiver import LARGEST, receive
from bot.edge.unprompted import build_corrections, build_digests
from bot.edge.wiring import (
    build_follower,
    build_handler,
    build_handlers,
    build_worker,
)
from bot.listening.channel_settings import ChannelSources
from bot.listening.deferred_messages import DeferredWorker
from bot.listening.prefilter import Prefilter
from bot.notices.corrections import Corrections
from bot.notices.digests import Digests
from bot.questions.handlers import QueueHandler
from bot.questions.question import QuestionWorker
from bot.reindexing.requests import ReindexFollower
from bot.slack.background import Background
from bot.slack.clients import slack_clients, slack_session
from bot.slack.directory import build_directory
from bot.slack.people import Me, People
from kb.config.slack_settings import SlackSettings
from kb.errors import SettingsError
from kb.runtime.tasks import cancelled

logger = logging.getLogger(__name__)

PATH = "/slack/events"
GRACE_S = 10.0
"""How long work that is under way may take to end when the bot is stopped."""


class Edge:
    """See the module. `handler` is the queue's, `worker` its part for
    messages; `activity` tells when Slack was last heard.
    """

    def __init__(
        self,
        *,
        app: DrainingApp,
        worker: QuestionWorker,
        handler: QueueHandler,
        people: People,
        activity: Activity,
        background: Background,
        follower: ReindexFollower,
        digests: Digests,
        corrections: Corrections,
        later: DeferredWorker,
        settings: SlackSettings,
    ) -> None:
        self.app = app
        self.worker = worker
        self.handler = handler
        self.people = people
        self.activity = activity
        self._background = background
        self._follower = follower
        self.digests = digests
        self.corrections = corrections
        self._later = later
        self._settings = settings
        self._by_itself: list[asyncio.Task[None]] = []
        self._socket: AsyncSocketModeHandler | None = None
        self._server: web.AppRunner | None = None

    async def connect(self) -> str:
        """Connects, by Socket Mode where there is an app token, else over HTTP. Returns how, for people to read.

        Raises:
            SettingsError: neither is configured.
            slack_sdk.errors.SlackClientError, aiohttp.ClientError: Slack refuses the token or is not reachable.
        """
        me = await self.people.me()
        how = await self._connected(me)
        self._by_itself = [
            asyncio.create_task(self._follower.take_up(self._background), name="take up"),
            asyncio.create_task(self.digests.run(), name="digests"),
            asyncio.create_task(self.corrections.run(), name="corrections"),
            asyncio.create_task(self._later.run(), name="deferred messages"),
        ]
        return how

    async def _connected(self, me: Me) -> str:
        if self._settings.app_token is not None:
            socket = AsyncSocketModeHandler(self.app, self._settings.app_token.get_secret_value())
            try:
                await socket.connect_async()  # type: ignore[no-untyped-call]
            except BaseException:
                await socket.close_async()  # type: ignore[no-untyped-call]
                raise
            self._socket = socket
            logger.info("slack.connected", extra={"how": "socket", "bot": me.user_id})
            return "Socket Mode"
        if self._settings.signing_secret is not None:
            port = await self._serve_http(self._settings.signing_secret.get_secret_value())
            logger.info("slack.connected", extra={"how": "http", "port": port, "bot": me.user_id})
            return f"HTTP on port {port}, path {PATH}"
        raise SettingsError(
            "Slack cannot reach Footnote: set SLACK_APP_TOKEN for Socket Mode, or SLACK_SIGNING_SECRET for HTTP"
        )

    async def is_connected(self) -> bool:
        """Whether Slack can reach us now, as far as we can tell from here."""
        if self._socket is not None:
            return bool(await self._socket.client.is_connected())
        return self._server is not None

    @property
    def port(self) -> int | None:
        """Where HTTP events are listened for."""
        return self._server.addresses[0][1] if self._server is not None and self._server.addresses else None

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
        await self._background.drain(grace_s=GRACE_S)

    async def _serve_http(self, secret: str) -> int:
        server = web.Application(client_max_size=LARGEST)
        server.router.add_post(PATH, partial(receive, app=self.app, secret=secret))
        self._server = web.AppRunner(server, access_log=None)
        await self._server.setup()
        await web.TCPSite(self._server, self._settings.host, self._settings.port).start()
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
        source_selection = ChannelSources(store=backend.channel_settings, known=backend.reindexer)
        background, activity = Background(), Activity(clock=clock)
        directory = build_directory(
            clients,
            settings,
            clock,
            background=background,
            contacts=backend.contacts,
            source_selection=source_selection,
        )
        follower = build_follower(clients, directory, backend, clock)
        handlers = build_handlers(clients, directory, follower, backend, settings, clock)
        worker = build_worker(clients, directory, backend, background, settings, clock)
        edge = Edge(
            app=build_app(
                settings=settings,
                client=clients.reading,
                people=directory.people,
                handlers=handlers,
                background=background,
                activity=activity,
                prefilter=Prefilter(
                    attention=handlers.listeners.attention, deferred=backend.deferred, noting=activity.event
                ),
            ),
            worker=worker,
            handler=build_handler(
                clients, directory, backend, background, worker, handlers.pane, settings, clock
            ),
            people=directory.people,
            activity=activity,
            background=background,
            follower=follower,
            corrections=build_corrections(clients, directory, backend, clock),
            later=DeferredWorker(
                deferred=backend.deferred,
                judge=handlers.listeners.judge_deferred,
                thread_reads=handlers.listeners.attention.thread_reads,
            ),
            digests=build_digests(clients, directory, backend, handlers.fallback, settings, clock),
            settings=settings,
        )
        try:
            yield edge
        finally:
            await edge.close()
