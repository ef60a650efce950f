"""Injects faults: what the Web API does wrong the next times that a method is called."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from bot.playground.arguments import Arguments, read_arguments
from bot.playground.refusal import Refused
from bot.playground.web_api import WebApi, bearer


@dataclass(frozen=True, kw_only=True, slots=True)
class InjectedFault:
    """`after`: the call is carried out first, and only then does the answer go wrong or come late (a lost reply).

    `drop` cuts the connection instead of answering. `delay` is in seconds. `body` is sent as it is, as `content_type`.
    """

    method: str
    error: str | None = None
    status: int | None = None
    retry_after: int | None = None
    delay: float = 0.0
    after: bool = False
    drop: bool = False
    body: bytes | None = None
    content_type: str = "text/html"

    @property
    def answers(self) -> bool:
        """Whether the fault replaces the answer (a mere delay does not)."""
        told = (self.error, self.status, self.retry_after, self.body)
        return self.drop or any(one is not None for one in told)


class Faults:
    """A queue of faults for each method; `*` stands for every method."""

    def __init__(self) -> None:
        self._waiting: list[tuple[InjectedFault, int]] = []

    def add(
        self,
        method: str,
        *,
        error: str | None = None,
        status: int | None = None,
        retry_after: int | None = None,
        delay: float = 0.0,
        after: bool = False,
        drop: bool = False,
        body: bytes | None = None,
        content_type: str = "text/html",
        times: int = 1,
    ) -> None:
        """Spoils the next `times` calls of `method`.

        `retry_after` alone means HTTP 429 `ratelimited`; `status` alone a body that is not JSON, as a proxy sends it.
        """
        fault = InjectedFault(
            method=method,
            error=error,
            status=status,
            retry_after=retry_after,
            delay=delay,
            after=after,
            drop=drop,
            body=body,
            content_type=content_type,
        )
        self._waiting.append((fault, times))

    def clear(self) -> None:
        self._waiting.clear()

    def take(self, method: str) -> InjectedFault | None:
        for position, (fault, times) in enumerate(self._waiting):
            if fault.method in (method, "*"):
                if times <= 1:
                    del self._waiting[position]
                else:
                    self._waiting[position] = (fault, times - 1)
                return fault
        return None


class FaultyWebApi(WebApi):
    """Answers as the playground does, but for the faults that were ordered."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.faults = Faults()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        fault = self.faults.take(name)
        if fault is None:
            return await super().handle(request)
        if not fault.after:
            await asyncio.sleep(fault.delay)
        response = await (self._spoiled(request, fault, name) if fault.answers else super().handle(request))
        if fault.after:
            await asyncio.sleep(fault.delay)
        return response

    async def _spoiled(self, request: web.Request, fault: InjectedFault, name: str) -> web.StreamResponse:
        args = Arguments({})
        with contextlib.suppress(Refused):
            args, token = await read_arguments(request)
            if fault.after:
                self._answer(name, args, bearer(request) or token)
        return self._spoil(request, fault, name, args)

    def _spoil(
        self, request: web.Request, fault: InjectedFault, name: str, args: Arguments
    ) -> web.StreamResponse:
        if fault.drop:
            self._record(name, args, 0, None)
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)
        if fault.body is not None:
            status = fault.status or 200
            self._record(name, args, status, {"ok": False, "error": "a page"})
            headers = {"Content-Type": fault.content_type} | _retry_after(fault)
            return web.Response(status=status, body=fault.body, headers=headers)
        if fault.retry_after is not None:
            answer = {"ok": False, "error": fault.error or "ratelimited"}
            self._record(name, args, fault.status or 429, answer)
            return web.json_response(answer, status=fault.status or 429, headers=_retry_after(fault))
        if fault.error is not None:
            answer = {"ok": False, "error": fault.error}
            self._record(name, args, fault.status or 200, answer)
            return web.json_response(answer, status=fault.status or 200)
        status = fault.status or 500
        self._record(name, args, status, {"ok": False, "error": f"http_{status}"})
        return web.Response(status=status, text="upstream connect error")


def _retry_after(fault: InjectedFault) -> dict[str, str]:
    return {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
