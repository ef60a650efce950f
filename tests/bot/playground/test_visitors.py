"""What other sites, open in the same browser, can do to the playground: nothing, whatever the path."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest
import pytest_asyncio
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import sample_workspace
from tests.fakes.playground import Playground

SECRET = "The salary bands of 2026"
EVIL = {"Origin": "https://evil.example"}
REBOUND = {"Host": "evil.example"}
EMBEDDED = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
OPENED = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
FRAMED = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
POST_MESSAGE = "/api/chat.postMessage"
FORGED = {"token": "xoxb-playground", "channel": "C0GENERAL", "text": "forged"}


async def page(path: str) -> str | None:
    return f"# {SECRET}\n" if path == "pay.md" else None


@pytest_asyncio.fixture
async def slack() -> AsyncIterator[Playground]:
    async with Playground(sample_workspace(), pages=page) as playground:
        yield playground


@pytest_asyncio.fixture
async def browser(slack: Playground) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(slack.url) as session:
        yield session


@pytest.mark.parametrize("headers", [EVIL, REBOUND, EMBEDDED, FRAMED, {"Origin": "null"}])
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/kb/pay.md",
        "/static/app.js",
        "/page/workspace?user=U0ALICE",
        "/page/messages?user=U0ALICE",
        "/archives/C0GENERAL/p1",
    ],
)
async def test_another_site_reads_nothing(
    browser: aiohttp.ClientSession, path: str, headers: dict[str, str]
) -> None:
    async with browser.get(path, headers=headers) as response:
        assert response.status == 403
        assert SECRET not in await response.text()


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "127.0.0.1@evil.example",
        "[::1",
        "",
    ],
)
async def test_a_name_that_resolves_here_is_not_ours(browser: aiohttp.ClientSession, host: str) -> None:
    async with browser.get("/kb/pay.md", headers={"Host": host}) as response:
        assert response.status in (400, 403)
        assert SECRET not in await response.text()


@pytest.mark.parametrize("headers", [EVIL, REBOUND, EMBEDDED, OPENED])
async def test_another_site_does_not_speak_as_the_app(
    browser: aiohttp.ClientSession, slack: Playground, headers: dict[str, str]
) -> None:
    """By a form, by a picture's address, or by a page that it opens."""
    async with browser.post(POST_MESSAGE, data=FORGED, headers=headers) as response:
        assert response.status == 403
    async with browser.get(POST_MESSAGE, params=FORGED, headers=headers) as response:
        assert response.status == 403
    async with browser.post("/actions/anything", json={"text": "forged"}, headers=headers) as response:
        assert response.status == 403
    assert slack.messages("#general") == []


async def test_another_site_gets_no_socket(browser: aiohttp.ClientSession) -> None:
    for path in ("/link/?ticket=1", "/page/feed?user=U0ALICE"):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await browser.ws_connect(path, headers=EVIL)
        assert refused.value.status == 403
    async with browser.post(
        "/api/apps.connections.open", data={"token": "xapp-playground"}, headers=EVIL
    ) as response:
        assert response.status == 403


@pytest.mark.parametrize("path", ["/", "/kb/pay.md"])
async def test_a_link_to_the_playground_can_be_followed(browser: aiohttp.ClientSession, path: str) -> None:
    async with browser.get(path, headers=OPENED) as response:
        assert response.status == 200


async def test_its_own_page_and_programs_here_go_on(
    browser: aiohttp.ClientSession, slack: Playground
) -> None:
    own = {"Origin": slack.url.rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    said = {"user": "U0ALICE", "channel": "C0GENERAL", "text": "hello"}
    async with browser.post("/page/say", json=said, headers=own) as response:
        assert response.status == 200
    named = slack.url.replace("127.0.0.1", "localhost")
    async with aiohttp.ClientSession() as session, session.get(named) as response:
        assert response.status == 200
    client = AsyncWebClient(token="xoxb-playground", base_url=slack.api_url)
    await client.chat_postMessage(channel="C0GENERAL", text="from the app")
    assert [one["text"] for one in slack.messages("#general")] == ["hello", "from the app"]
