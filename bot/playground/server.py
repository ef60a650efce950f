"""Runs the playground: a Slack workspace with one app in it, on this machine, for the browser and for tests.

playground = Playground(sample_workspace())
await playground.start()
client = AsyncWebClient(token=playground.workspace.bot_token, base_url=playground.api_url)

Tests act and look on by `tests.fakes.playground`.
"""

from __future__ import annotations

import logging
import time

from aiohttp import web

from bot.playground.delivery import Delivery, OnAttempt, Transport
from bot.playground.events import Events
from bot.playground.guide import AskGuide
from bot.playground.history import History
from bot.playground.interactions import Interactions
from bot.playground.kb_pages import Pages
from bot.playground.page import Page
from bot.playground.people import UserMessages
from bot.playground.response_urls import ResponseUrls
from bot.playground.slack import Slack
from bot.playground.slack_limits import Clock, SlackLimits
from bot.playground.sockets import Sockets
from bot.playground.state import State
from bot.playground.surfaces import Surfaces
from bot.playground.visitors import LOOPBACK, only_ours
from bot.playground.web_api import OnCall, WebApi
from bot.playground.workspace import Workspace

logger = logging.getLogger(__name__)


class Playground:
    """A local Slack. People are named by id or name, channels by id, name or "dm" (the DM with the bot).

    `transport` brings events to the app; None: Socket Mode. `clock`: seconds since 1970. `pages` opens the
    cited pages under `/kb/`. `history` keeps what is said. `guide` says what a newcomer may try. `api`
    answers the app. `on_call`, `on_attempt`: told each call of the app, and each try to bring it something.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        transport: Transport | None = None,
        clock: Clock = time.time,
        limits: SlackLimits | None = None,
        pages: Pages | None = None,
        history: History | None = None,
        guide: AskGuide | None = None,
        api: type[WebApi] = WebApi,
        on_call: OnCall | None = None,
        on_attempt: OnAttempt | None = None,
    ) -> None:
        self.workspace = workspace
        self.limits = limits or SlackLimits()
        self._host, self._port = host, port
        self._state = State(workspace, clock=clock, limits=self.limits)
        self._sockets = Sockets(app_id=workspace.app_id, limits=self.limits)
        self._delivery = Delivery(transport or self._sockets, self.limits, on_attempt)
        self._slack = Slack(
            state=self._state,
            surfaces=Surfaces(self._state),
            events=Events(self._state, self._delivery),
            sockets=self._sockets,
            origin=lambda: self.url.rstrip("/"),
        )
        self._api = api(self._slack, on_call)
        self._response_urls = ResponseUrls(self._slack)
        self._people = UserMessages(self._slack)
        self._interactions = Interactions(self._slack, self._people, self._delivery, self._response_urls)
        self._page = Page(self._slack, self._people, self._interactions, pages, guide=guide)
        self._history = history
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Begins to listen; with port 0 on a free one.

        Raises:
            OSError: the port is taken.
        """
        self._runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        if self._history is not None:
            await self._history.open(self._state, self.url.rstrip("/"))
        logger.info("playground.started", extra={"url": self.url})

    async def stop(self) -> None:
        await self._delivery.close()
        if self._history is not None:
            await self._history.close()
        await self._sockets.close()
        await self._page.close()
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> Playground:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def url(self) -> str:
        """The web page."""
        return f"http://{self._host}:{self._port}/"

    @property
    def api_url(self) -> str:
        """`base_url` of a Slack client."""
        return f"{self.url}api/"

    def dm(self, user: str) -> str:
        """Returns the id of the person's DM with the bot."""
        return self._state.direct(self._people.person(user).id).id

    def _application(self) -> web.Application:
        app = web.Application(
            client_max_size=4 * 1024 * 1024, middlewares=[only_ours(LOOPBACK | {self._host})]
        )
        app.router.add_route("*", "/api/{method}", self._api.handle)
        app.router.add_get("/link/", self._sockets.handle)
        app.router.add_post("/actions/{token}", self._response_urls.handle)
        self._page.add_routes(app)
        return app
