"""Builds the Bolt app: its middleware, and a list of its listeners. What each does is in the modules named beside it.

An event is acknowledged only after its listener returned (`process_before_response`), which for a question means: it is
durably queued. A listener that raises answers 503 or 500, or nothing over Socket Mode, and Slack sends the event again.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from slack_bolt import BoltResponse
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient

from bot.edge.draining import DrainingApp
from bot.edge.handlers import Handlers
from bot.listening.prefilter import Prefilter
from bot.rendering.fallback_actions import ASK_OWNER, MISSING
from bot.rendering.render import HELPFUL, NOT_HELPFUL, READING, WHY
from bot.slack.background import Background
from bot.slack.errors import SLACK_FAILURES
from bot.slack.events import (
    ButtonPress,
    HomeOpened,
    MessageShortcut,
    PaneOpened,
    SlashCommand,
    ViewSubmission,
)
from bot.slack.message_parts import MalformedPayloadError, Payload
from bot.slack.people import People
from bot.views.admin_views import PREFIX
from bot.views.channel_dialog import CALLBACK as CHANNEL_SETTINGS
from bot.views.feedback import CALLBACK
from bot.views.home_view import ASK
from bot.views.shortcut import CALLBACK as ASKED_ABOUT
from bot.views.shortcut import SHORTCUT
from bot.views.slash_command import SlashCommandHandler, asks
from kb.config.slack_settings import SlackSettings
from kb.errors import UnavailableError

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=Payload)


class SlackUnavailableError(UnavailableError):
    """Slack does not say who we are, so no event can be judged."""


@dataclass(kw_only=True, slots=True)
class Activity:
    """Counts events from Slack, for `status` and `doctor`: a bot that Slack has forgotten looks well from within."""

    clock: Callable[[], datetime]
    last_event: datetime | None = field(default=None)
    events: int = 0
    failures: int = 0

    def event(self) -> None:
        self.last_event = self.clock()
        self.events += 1

    def failure(self) -> None:
        self.failures += 1


def build_app(
    *,
    settings: SlackSettings,
    client: AsyncWebClient,
    people: People,
    handlers: Handlers,
    background: Background,
    activity: Activity,
    prefilter: Prefilter,
) -> DrainingApp:
    """Builds the app with everything that it listens to. Events over HTTP are verified where there is a signing
    secret.
    """
    secret = settings.signing_secret.get_secret_value() if settings.signing_secret else None
    framework = logging.getLogger("bot.bolt")
    framework.setLevel(logging.ERROR)  # Bolt warns about tokens in the environment, which we read ourselves
    app = DrainingApp(
        prefilter=prefilter,
        name="footnote",
        logger=framework,
        client=client,
        signing_secret=secret or "",
        request_verification_enabled=secret is not None,
        authorize=_authorize(people, client.token or ""),
        process_before_response=True,
    )
    framework.setLevel(logging.WARNING)
    app.use(_noting(activity))
    app.error(_failing(activity))
    _listen(app, settings, handlers, background)
    return app


def _listen(app: AsyncApp, settings: SlackSettings, handlers: Handlers, background: Background) -> None:
    """Registers one listener for each event type: Bolt runs the first that matches, and no second."""

    def in_background(
        handle: Callable[[T], Coroutine[Any, Any, None]], payload: type[T], name: str
    ) -> Callable[[AsyncAck, dict[str, Any]], Awaitable[None]]:
        async def on_body(ack: AsyncAck, body: dict[str, Any]) -> None:
            await ack()
            background.start(handle(payload.read(body)), name=name)

        return on_body

    async def on_home(event: dict[str, Any]) -> None:
        opened = HomeOpened.read(event)
        if opened.tab == "home":
            background.start(handlers.home.opened(opened), name="home")
        else:
            background.start(handlers.pane.opened(opened.user, opened.channel), name="pane")

    async def on_pane(event: dict[str, Any]) -> None:
        background.start(handlers.pane.started(PaneOpened.read(event)), name="pane")

    async def on_pane_moved() -> None:
        """Ignores what somebody looks at beside the pane; unheard, Bolt would warn of it."""

    async def on_example(ack: AsyncAck, body: dict[str, Any]) -> None:
        press = ButtonPress.read(body)
        first = await handlers.home.ask(press)
        await ack()
        if first:
            background.start(handlers.home.asked(press), name="home")

    async def on_reading(ack: AsyncAck, body: dict[str, Any]) -> None:
        await handlers.submitter.submit_interpretation(ButtonPress.read(body))
        await ack()

    async def on_asked_about(ack: AsyncAck, body: dict[str, Any]) -> None:
        wrong = await handlers.shortcut.asked(ViewSubmission.read(body))
        await (ack(response_action="errors", errors=wrong) if wrong else ack())

    async def on_ask_owner(ack: AsyncAck, body: dict[str, Any]) -> None:
        press = ButtonPress.read(body)
        try:
            promised = await handlers.fallback.accept(press)
        except UnavailableError as error:
            logger.warning("owner.not_promised", extra={"cause": str(error)})
            await ack()
            background.start(handlers.fallback.cannot_promise(press), name="ask owner")
            return
        await ack()
        background.start(handlers.fallback.pressed(press, promised), name="ask owner")

    async def on_command(ack: AsyncAck, body: dict[str, Any]) -> None:
        command = SlashCommand.read(body)
        if asks(command):
            await _ack_question(ack, handlers.slash_command, command)
            return
        await ack()
        background.start(handlers.slash_command.serve(command), name="command")

    app.event("app_mention")(handlers.listeners.on_mention)
    app.event("message")(handlers.listeners.on_message)
    app.event("app_home_opened")(on_home)
    app.event("assistant_thread_started")(on_pane)
    app.event("assistant_thread_context_changed")(on_pane_moved)
    app.action(re.compile(f"^{re.escape(ASK)}"))(on_example)
    app.action(re.compile(f"^{re.escape(READING)}"))(on_reading)
    app.action(re.compile(f"^{re.escape(PREFIX)}"))(
        in_background(handlers.admin_views.open, ButtonPress, "admin view")
    )
    app.shortcut({"type": "message_action", "callback_id": SHORTCUT})(
        in_background(handlers.shortcut.used, MessageShortcut, "shortcut")
    )
    app.view(ASKED_ABOUT)(on_asked_about)
    for vote in (HELPFUL, NOT_HELPFUL):
        app.action(vote)(in_background(handlers.feedback.pressed, ButtonPress, "feedback"))
    app.action(WHY)(in_background(handlers.explanation.open, ButtonPress, "why"))
    app.action(ASK_OWNER)(on_ask_owner)
    app.action(MISSING)(in_background(handlers.fallback.missing, ButtonPress, "missing"))
    app.view(CALLBACK)(in_background(handlers.feedback.explained, ViewSubmission, "reason"))
    app.view(CHANNEL_SETTINGS)(
        in_background(handlers.channel_dialog.submitted, ViewSubmission, "channel settings")
    )
    app.command(settings.command)(on_command)


async def _ack_question(ack: AsyncAck, slash_command: SlashCommandHandler, command: SlashCommand) -> None:
    """Queues a command's question, or says at once that it was not taken: Slack does not resend a command."""
    try:
        reply = await slash_command.ask(command)
    except (UnavailableError, *SLACK_FAILURES) as error:
        logger.error("question.not_accepted", extra={"cause": repr(error)})  # noqa: TRY400 - the cause says it all
        reply = await slash_command.not_now(command)
    await (ack(text=reply, response_type="ephemeral") if reply else ack())


def _authorize(people: People, token: str) -> Callable[..., Awaitable[AuthorizeResult]]:
    async def authorize() -> AuthorizeResult:
        # Bolt acknowledges an event when it gets one of slack_sdk's errors here, and the question would be lost.
        try:
            me = await people.me()
        except SLACK_FAILURES as error:
            raise SlackUnavailableError("auth.test failed") from error
        return AuthorizeResult(
            enterprise_id=me.enterprise_id,
            team_id=me.team_id,
            bot_user_id=me.user_id,
            bot_id=me.bot_id,
            bot_token=token,
        )

    return authorize


def _noting(activity: Activity) -> Callable[..., Awaitable[None]]:
    async def note_event(next: Callable[[], Awaitable[Any]]) -> None:
        activity.event()
        await next()

    return note_event


def _failing(activity: Activity) -> Callable[..., Awaitable[BoltResponse | None]]:
    async def on_failure(error: Exception) -> BoltResponse | None:
        """Returns the response to an event that is not acknowledged, None for 500; 400 where it is malformed."""
        if isinstance(error, MalformedPayloadError):
            logger.warning("event.malformed", extra={"fields": str(error)})
            return BoltResponse(status=400)
        activity.failure()
        if isinstance(error, UnavailableError):
            logger.error("event.not_accepted", extra={"cause": repr(error)})
            return BoltResponse(status=503)
        logger.error("event.broke", exc_info=error)
        return None

    return on_failure
