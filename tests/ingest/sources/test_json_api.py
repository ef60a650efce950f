"""What all clients of a vendor's API share. What each vendor means by its answers is tested with its source."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from pydantic import SecretStr

from ingest.sources.access_tokens import AccessToken, RenewedToken
from ingest.sources.api_responses import ApiError
from ingest.sources.json_api import JsonApi
from tests.fakes.served import Served


class Api(Served):
    """`valid`: the tokens that it accepts. Two pages of results lead to each other."""

    def __init__(self) -> None:
        super().__init__()
        self.valid = {"second"}

    async def __aenter__(self) -> Api:
        app = web.Application()
        app.router.add_get("/private", self._private)
        app.router.add_get("/pages/{number}", self._page)
        app.router.add_get("/away", self._away)
        self.url = await self.serve(app)
        return self

    async def _private(self, request: web.Request) -> web.Response:
        await asyncio.sleep(0.01)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return web.json_response({"token": token}, status=200 if token in self.valid else 401)

    async def _away(self, _: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "http://[x"})

    async def _page(self, request: web.Request) -> web.Response:
        following = 1 - int(request.match_info["number"])
        return web.json_response([following], headers={"Link": f'<{self.url}/pages/{following}>; rel="next"'})


@pytest.fixture
async def server() -> AsyncIterator[Api]:
    async with Api() as server:
        yield server


async def test_requests_that_meet_a_refused_token_together_are_all_asked_again(server: Api) -> None:
    tokens = iter(["first", "second", "second", "second"])

    async def grant() -> AccessToken:
        return AccessToken(secret=SecretStr(next(tokens)), until=10_000)

    credentials = RenewedToken(grant, clock=lambda: 0)
    async with JsonApi(server.url, vendor="test", timeout_s=5, credentials=credentials) as api:
        answers = await asyncio.gather(*(api.get("/private") for _ in range(3)))

    assert answers == [{"token": "second"}] * 3


async def test_pages_of_results_that_lead_in_a_circle_are_an_error(server: Api) -> None:
    async with JsonApi(server.url, vendor="test", timeout_s=5) as api:
        pages = api.pages(f"{server.url}/pages/0")
        assert [await anext(pages), await anext(pages)] == [[1], [0]]
        with pytest.raises(ApiError, match="back to an earlier one"):
            await anext(pages)


async def test_a_redirect_to_what_is_no_address_is_an_error_of_the_api(server: Api) -> None:
    async with JsonApi(server.url, vendor="test", timeout_s=5) as api:
        with pytest.raises(ApiError):
            await api.download("/away", max_bytes=10)
        with pytest.raises(ApiError):
            await api.get("/away", follow_redirects=True)
