"""The playground on a free port, and real Bolt apps that talk to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

import pytest
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import SlackLimits, Workspace, sample_workspace
from tests.fakes.playground import Playground

AppOf = Callable[[Playground], AsyncApp]


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self, now: float = 1_790_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def limits() -> SlackLimits:
    """Tests override this fixture, or build their own playground, to meet a limit."""
    return SlackLimits(rate_limited=False, retry_delays_s=(0.0, 0.02, 0.02))


MORE_SCOPES = (
    "im:write",
    "usergroups:read",
    "users:read.email",
    "assistant:write",
)


@pytest.fixture
def workspace() -> Workspace:
    """The sample workspace, its app with every scope that a method of the playground asks for."""
    sample = sample_workspace()
    return replace(sample, scopes=(*sample.scopes, *MORE_SCOPES))


@pytest.fixture
async def playground(
    workspace: Workspace, clock: FakeClock, limits: SlackLimits
) -> AsyncIterator[Playground]:
    async with Playground(workspace, clock=clock, limits=limits) as running:
        yield running


@pytest.fixture
def client(playground: Playground) -> AsyncWebClient:
    return AsyncWebClient(token=playground.workspace.bot_token, base_url=playground.api_url)


def bolt_app(playground: Playground) -> AsyncApp:
    workspace = playground.workspace
    client = AsyncWebClient(token=workspace.bot_token, base_url=playground.api_url)
    return AsyncApp(signing_secret=workspace.signing_secret, client=client)


@asynccontextmanager
async def connected(app: AsyncApp, playground: Playground) -> AsyncIterator[AsyncSocketModeHandler]:
    """The app on one more socket of the playground."""
    handler = AsyncSocketModeHandler(app, playground.workspace.app_token, ping_interval=0.2)
    before = playground.connected
    await handler.connect_async()
    await playground.wait_for(lambda: playground.connected > before)
    try:
        yield handler
    finally:
        await handler.close_async()


@asynccontextmanager
async def over_http(
    app_of: AppOf, *, clock: Callable[[], float], limits: SlackLimits
) -> AsyncIterator[Playground]:
    """A playground that posts its events to the app's own aiohttp server."""
    apps: list[AsyncApp] = []

    async def receive(request: web.Request) -> web.Response:
        reply = await apps[0].async_dispatch(await to_bolt_request(request))
        return await to_aiohttp_response(reply)

    server = web.Application()
    server.router.add_post("/slack/events", receive)
    runner = web.AppRunner(server)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    try:
        async with Playground(sample_workspace(), events_url=url, clock=clock, limits=limits) as running:
            apps.append(app_of(running))
            yield running
    finally:
        await runner.cleanup()


@asynccontextmanager
async def over_sockets(
    app_of: AppOf, *, clock: Callable[[], float], limits: SlackLimits
) -> AsyncIterator[Playground]:
    async with (
        Playground(sample_workspace(), clock=clock, limits=limits) as running,
        connected(app_of(running), running),
    ):
        yield running


@pytest.fixture
def bolt() -> Callable[..., AbstractAsyncContextManager[Playground]]:
    """`bolt("socket mode" | "signed http", register, clock=, limits=)`: a playground with a Bolt app connected."""

    def start(
        way: str, register: Callable[[AsyncApp], None], *, clock: Callable[[], float], limits: SlackLimits
    ):
        def app_of(playground: Playground) -> AsyncApp:
            app = bolt_app(playground)
            register(app)
            return app

        return (over_http if way == "signed http" else over_sockets)(app_of, clock=clock, limits=limits)

    return start


@pytest.fixture
def connect() -> Callable[[AsyncApp, Playground], AbstractAsyncContextManager[AsyncSocketModeHandler]]:
    return connected


@pytest.fixture
def new_app(playground: Playground) -> Callable[[], AsyncApp]:
    return lambda: bolt_app(playground)
