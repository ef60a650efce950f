"""Handles the slash command: who may use which subcommand, and the replies.

A question (`ask`) is queued before the command is acknowledged; everything else
runs after that. What there is to say goes through the response URL, which works in
channels that the bot is not in, or in the message that shows a reindex's progress.
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.messages.catalog import Messages, messages_in
from bot.questions.submission import QuestionSubmitter
from bot.reindexing.requests import ReindexFollower
from bot.rendering.layout import Block, section
from bot.rendering.mrkdwn import escape, unescape
from bot.slack.admins import Admins, AdminStatus
from bot.slack.errors import SLACK_FAILURES
from bot.slack.events import SlashCommand
from bot.slack.people import People, Person
from bot.stats.analytics import Analytics
from bot.stats.stats_text import stats_lines
from bot.stats.status import StatusReader, status_lines
from bot.views.admin_views import Filling
from bot.views.channel_dialog import ChannelDialog
from kb.errors import StoreUnavailableError
from kb.jobs import Reindexer, ReindexRequest

logger = logging.getLogger(__name__)

ASK = "ask"
FOR_EVERYBODY = (ASK, "channel", "help")
FOR_ADMINS = ("reindex", "forget", "status", "stats", "sources", "gaps", "stale")
FLAGS = frozenset({"--full", "--dry-run", "--force"})
"""What `reindex` takes besides a source. `--rollback` works in the terminal alone: it is for who runs Footnote."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SlashCommandHandler:
    """Serves the slash command. `posting` must not retry lost connections. `fillings`: what `gaps` and `stale` show."""

    posting: AsyncWebClient
    people: People
    admins: Admins
    reindexer: Reindexer
    follower: ReindexFollower
    figures: Analytics
    status: StatusReader
    channel_dialog: ChannelDialog
    submitter: QuestionSubmitter
    fillings: Mapping[str, Filling]
    command: str
    clock: Callable[[], datetime]

    async def ask(self, command: SlashCommand) -> str | None:
        """Queues the question behind `ask`, or returns what to say where there is none. Everybody may.

        Raises what `bot.questions.submission` does.
        """
        _, _, question = command.text.strip().partition(" ")
        if not question.strip():
            messages = messages_in((await self.people.person(command.user_id)).locale)
            return messages.ask_what.format(command=self.command)
        await self.submitter.ephemerally(
            unescape(question.strip()),
            user=command.user_id,
            channel=command.channel_id,
            press=command.trigger_id or command.response_url,
            how="command",
            response_url=command.response_url,
        )
        return None

    async def not_now(self, command: SlashCommand) -> str:
        """Words that a question could not be queued."""
        return messages_in((await self.people.person(command.user_id)).locale).ask_not_now

    async def serve(self, command: SlashCommand) -> None:
        """Runs the subcommand. Whatever goes wrong is logged, and the user gets one polite sentence."""
        person = await self.people.person(command.user_id)
        messages = messages_in(person.locale)
        word, *arguments = command.text.split() or ["help"]
        try:
            admin_status = await self.admins.status_of(person)
            logger.info("command.received", extra={"user": command.user_id, "standing": admin_status})
            if word == "help":
                await self._whisper(command, self._help(admin_status, messages))
            elif word == "channel":
                if reply := await self.channel_dialog.open(command, person, messages):
                    await self._whisper(command, reply)
            elif word in FOR_ADMINS and admin_status != "admin":
                refusal = messages.not_admin if admin_status == "not admin" else messages.admin_unknown
                await self._whisper(command, refusal)
            else:
                await self._serve_admin(command, word, arguments, person, messages)
        except Exception:  # the process edge of a command: the admin gets one sentence, the log the rest
            logger.exception("command.broke", extra={"user": command.user_id})
            await self._whisper(command, messages.command_failed)

    async def _serve_admin(
        self,
        command: SlashCommand,
        word: str,
        arguments: Sequence[str],
        person: Person,
        messages: Messages,
    ) -> None:
        match word:
            case "reindex":
                await self._reindex(command, arguments, messages)
            case "status":
                lines = status_lines(await self.status.status(), messages, self.clock())
                lines += await self.channel_dialog.status_lines(command.channel_id, messages)
                await self._whisper(command, "\n".join(lines))
            case "stats":
                await self._whisper(command, await self._stats(messages))
            case "forget" if arguments:
                await self._whisper(command, await self._forget(" ".join(arguments), messages))
            case "sources":
                await self._whisper(command, self._sources(messages))
            case _ if word in self.fillings:
                await self._whisper(
                    command, f"{self.command} {word}", await self._filled(word, person, messages)
                )
            case _:
                usage = self._help(await self.admins.status_of(person), messages)
                await self._whisper(command, f"{messages.unknown_command.format(word=escape(word))}\n{usage}")

    def _help(self, admin_status: AdminStatus, messages: Messages) -> str:
        """Words the subcommands that somebody may use."""
        lines = [messages.usage_everyone]
        if admin_status == "admin":
            lines += [messages.usage_admins, messages.usage]
        return "\n".join(lines).format(command=self.command)

    async def _filled(self, word: str, person: Person, messages: Messages) -> Sequence[Block]:
        try:
            return await self.fillings[word](person, messages)
        except StoreUnavailableError:
            return [section(messages.status_store_down)]

    async def _reindex(self, command: SlashCommand, arguments: Sequence[str], messages: Messages) -> None:
        names = [argument for argument in arguments if not argument.startswith("-")]
        unknown = [flag for flag in arguments if flag.startswith("-") and flag not in FLAGS]
        sources = self.reindexer.sources()
        if unknown or len(names) > 1:
            await self._whisper(command, self._help("admin", messages))
            return
        if names and names[0] not in sources:
            await self._whisper(command, _unknown_source(names[0], sources, messages))
            return
        request = ReindexRequest(
            requested_by=command.user_id,
            source=names[0] if names else None,
            full="--full" in arguments,
            dry_run="--dry-run" in arguments,
            force="--force" in arguments,
        )
        await self._follow(command, request, messages)

    async def _follow(self, command: SlashCommand, request: ReindexRequest, messages: Messages) -> None:
        begun = await self.follower.begin(request, channel=command.channel_id, messages=messages)
        reply = [messages.reindex_joined] if begun.joined else []
        if begun.channel != command.channel_id:
            what = escape(request.source) if request.source else messages.everything
            reply += [messages.reindex_started.format(what=what), messages.progress_by_dm]
        if reply:  # else the message in this channel says it all
            await self._whisper(command, " ".join(reply))
        await self.follower.follow(begun, messages)

    async def _stats(self, messages: Messages) -> str:
        try:
            return "\n".join(stats_lines(await self.figures.stats(), messages))
        except StoreUnavailableError:
            return messages.status_store_down

    async def _forget(self, address: str, messages: Messages) -> str:
        pages = await self.reindexer.forget(address)
        if not pages:
            return messages.forget_unknown.format(address=escape(address.strip("<>")))
        return messages.forgotten.format(pages=", ".join(escape(page.title) for page in pages))

    def _sources(self, messages: Messages) -> str:
        sources = self.reindexer.sources()
        return "\n".join(f"• {escape(name)}" for name in sources) if sources else messages.no_sources

    async def _whisper(self, command: SlashCommand, text: str, blocks: Sequence[Block] | None = None) -> None:
        """Answers so that only the sender sees it."""
        try:
            if command.response_url:
                reply = await AsyncWebhookClient(command.response_url).send(
                    text=text, blocks=blocks, response_type="ephemeral"
                )
                if reply.status_code == 200:
                    return
            await self.posting.chat_postEphemeral(
                channel=command.channel_id, user=command.user_id, text=text, blocks=blocks
            )
        except SLACK_FAILURES as error:
            logger.warning("command.not_told", extra={"cause": type(error).__name__})


def asks(command: SlashCommand) -> bool:
    return command.text.split()[:1] == [ASK]


def _unknown_source(name: str, sources: Sequence[str], messages: Messages) -> str:
    if not sources:
        return messages.no_sources
    nearest = difflib.get_close_matches(name, sources, n=len(sources), cutoff=0.6)
    ordered = [*nearest, *(source for source in sources if source not in nearest)]
    return messages.unknown_source.format(
        source=escape(name), sources=", ".join(f"`{escape(source)}`" for source in ordered)
    )
