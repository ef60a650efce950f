"""Serves the Web API: checks the token, keeps the rate limit, calls the method."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from bot.playground.arguments import Arguments, read_arguments
from bot.playground.methods import METHODS
from bot.playground.refusal import Refused
from bot.playground.slack import Method, Slack
from bot.playground.slack_limits import RateLimiter

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A call of the app. `response` is what it was sent, or None when the connection was cut."""

    method: str
    arguments: Mapping[str, Any]
    status: int
    response: Mapping[str, Any] | None
    at: float

    @property
    def ok(self) -> bool:
        return self.response is not None and bool(self.response.get("ok"))


OnCall = Callable[[Call], None]


class WebApi:
    """Answers `/api/{method}`. `on_call` is told each call; nothing is kept of them."""

    def __init__(self, slack: Slack, on_call: OnCall | None = None) -> None:
        self._slack = slack
        self._limiter = RateLimiter(slack.state.limits, slack.state.now)
        self._on_call = on_call

    async def handle(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        args, answer, status, headers = Arguments({}), dict[str, Any](), 200, dict[str, str]()
        try:
            args, token = await read_arguments(request)
            answer, status, headers = self._answer(name, args, bearer(request) or token)
        except Refused as refusal:
            answer = {"ok": False, "error": refusal.code}
        self._record(name, args, status, answer)
        return web.json_response(answer, status=status, headers=headers)

    def _answer(
        self, name: str, args: Arguments, token: str | None
    ) -> tuple[dict[str, Any], int, dict[str, str]]:
        try:
            method = self._authorized(name, token)
            wait = self._limiter.seconds_to_wait(name, method.tier, args.text("channel") or None)
            if wait:
                return {"ok": False, "error": "ratelimited"}, 429, {"Retry-After": str(wait)}
            answer = {"ok": True, **method.call(self._slack, args)}
        except Refused as refusal:
            logger.debug("playground.api.refused", extra={"method": name, "error": refusal.code})
            answer = {"ok": False, "error": refusal.code, **refusal.details}
        headers = {}
        if token == self._slack.workspace.bot_token:
            headers["x-oauth-scopes"] = ",".join(self._slack.workspace.scopes)
        return answer, 200, headers

    def _authorized(self, name: str, token: str | None) -> Method:
        """Returns the method of that name, if the token and the app's scopes allow it."""
        workspace = self._slack.workspace
        method = METHODS.get(name)
        if method is None:
            raise Refused("unknown_method", req_method=name)
        if not token:
            raise Refused("not_authed")
        if token not in (workspace.bot_token, workspace.app_token):
            raise Refused("invalid_auth")
        if method.app_token is not (token == workspace.app_token):
            raise Refused("not_allowed_token_type")
        if method.scopes and not set(method.scopes) & set(workspace.scopes):
            provided = ",".join(workspace.scopes)
            raise Refused("missing_scope", needed=method.scopes[0], provided=provided)
        return method

    def _record(self, name: str, args: Arguments, status: int, answer: dict[str, Any] | None) -> None:
        if self._on_call is None:
            return
        self._on_call(
            Call(
                method=name,
                arguments=deepcopy(dict(args)),
                status=status,
                response=deepcopy(answer),
                at=self._slack.state.now(),
            )
        )


def bearer(request: web.Request) -> str | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
