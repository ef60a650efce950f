"""Delivers envelopes to the app: acknowledged within 3 seconds, or sent again, up to three times."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from bot.playground.slack_limits import SlackLimits

logger = logging.getLogger(__name__)

EnvelopeKind = Literal["events_api", "slash_commands", "interactive"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Envelope:
    """`attempt` counts redeliveries from 1; `reason` says what went wrong before."""

    kind: EnvelopeKind
    payload: dict[str, Any]
    attempt: int = 0
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What the app sent with its acknowledgement. `receiver`: the number of the socket; 0 for HTTP."""

    payload: dict[str, Any] = field(default_factory=dict)
    receiver: int = 0


class NotDelivered(Exception):  # noqa: N818 - a fact that decides on a retry, not a fault of ours
    """The app did not take the envelope: `timeout`, `http_error` or `connection_failed`."""

    def __init__(self, reason: str, *, receiver: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.receiver = receiver


class Transport(Protocol):
    """Socket Mode or signed HTTP."""

    async def send(self, envelope: Envelope) -> Reply: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One try to deliver. `outcome` is "acknowledged" or the reason of the failure."""

    kind: EnvelopeKind
    event_type: str
    attempt: int
    outcome: str
    receiver: int


OnAttempt = Callable[[Attempt], None]


class Delivery:
    """Sends events in the background, commands and interactions while the person waits.

    `on_attempt` is told each try; nothing is kept of them.
    """

    def __init__(
        self, transport: Transport, limits: SlackLimits, on_attempt: OnAttempt | None = None
    ) -> None:
        self._transport = transport
        self._limits = limits
        self._under_way: set[asyncio.Task[None]] = set()
        self._on_attempt = on_attempt

    def event(self, payload: dict[str, Any]) -> None:
        """Delivers an event; redelivers it when it is not acknowledged."""
        task = asyncio.create_task(self._deliver(Envelope(kind="events_api", payload=payload)))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def ask(self, kind: EnvelopeKind, payload: dict[str, Any]) -> dict[str, Any]:
        """Delivers a command or an interaction once and returns what came with the acknowledgement.

        Raises:
            NotDelivered: these are never sent again.
        """
        return await self._try(Envelope(kind=kind, payload=payload))

    async def close(self) -> None:
        tasks = tuple(self._under_way)
        for task in tasks:
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _deliver(self, first: Envelope) -> None:
        envelope = first
        for number, delay in enumerate((*self._limits.retry_delays_s, None), start=1):
            try:
                await self._try(envelope)
            except NotDelivered as failure:
                if delay is None:
                    logger.warning("playground.event.given_up", extra={"event_id": first.payload["event_id"]})
                    return
                envelope = replace(first, attempt=number, reason=failure.reason)
                await asyncio.sleep(delay)
            else:
                return

    async def _try(self, envelope: Envelope) -> dict[str, Any]:
        try:
            reply = await self._transport.send(envelope)
        except NotDelivered as failure:
            self._note(envelope, failure.reason, failure.receiver)
            raise
        self._note(envelope, "acknowledged", reply.receiver)
        return reply.payload

    def _note(self, envelope: Envelope, outcome: str, receiver: int) -> None:
        if self._on_attempt is None:
            return
        payload = envelope.payload
        event = payload.get("event", payload)
        self._on_attempt(
            Attempt(
                kind=envelope.kind,
                event_type=event.get("type") or event.get("command", ""),
                attempt=envelope.attempt,
                outcome=outcome,
                receiver=receiver,
            )
        )
