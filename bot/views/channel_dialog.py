"""Opens and saves the dialog `/kb channel`, in which admins, and whoever made a channel, set how Footnote behaves
there.

The right to it is looked up when the dialog opens and again when it is sent: hours may lie between the two.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError
from slack_sdk.web.async_client import AsyncWebClient

from bot.frozen_model import FrozenModel
from bot.listening.channel_settings import ChannelSettings, ChannelSettingsStore, chosen
from bot.messages.catalog import LANGUAGES, Messages, messages_in
from bot.rendering.forms import choice, field, modal, options
from bot.rendering.layout import Block, label, section
from bot.rendering.mrkdwn import escape
from bot.slack.admins import Admins
from bot.slack.errors import SLACK_FAILURES, error_code
from bot.slack.events import SlashCommand, SubmittedView, ViewSubmission
from bot.slack.people import People, Person
from kb.errors import StoreUnavailableError
from kb.jobs import Reindexer
from kb.text.lexicon import lexicon

logger = logging.getLogger(__name__)

CALLBACK = "footnote_channel"
FOLLOW_UPS, UNASKED, SOURCES, LANGUAGE, CORRECTIONS = (
    "follow_ups",
    "unasked",
    "sources",
    "language",
    "corrections",
)
ASKED = "asked"
"""The value of "the language of the question": Slack takes no empty one."""
MOST_SOURCES = 100
"""Options that Slack takes in one menu."""

Right = Literal["may", "may not", "not in it", "no channel"]


class ChannelDialogMetadata(FrozenModel):
    """What a dialog is about; travels in its private metadata."""

    channel: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ChannelDialog:
    """`reading` and `posting` as in `bot.slack.clients.SlackClients`. `command`: what people type, "/kb"."""

    reading: AsyncWebClient
    posting: AsyncWebClient
    people: People
    admins: Admins
    settings: ChannelSettingsStore
    reindexer: Reindexer
    command: str

    async def open(self, command: SlashCommand, person: Person, messages: Messages) -> str | None:
        """Opens the dialog, or returns what to say instead.

        Raises:
            slack_sdk.errors.SlackClientError, aiohttp.ClientError: Slack does not answer.
        """
        right = await self._right(command.channel_id, person)
        if right != "may":
            return self._refusal(right, messages)
        view = channel_view(
            ChannelDialogMetadata(channel=command.channel_id),
            await self.settings.of(command.channel_id),
            self.reindexer.sources(),
            messages,
        )
        await self.posting.views_open(trigger_id=command.trigger_id, view=view)
        return None

    async def submitted(self, submission: ViewSubmission) -> None:
        """Saves what was chosen and confirms it, to whoever chose it alone."""
        person = await self.people.person(submission.user.id)
        messages = messages_in(person.locale)
        try:
            channel = ChannelDialogMetadata.model_validate_json(submission.view.private_metadata).channel
            settings = await self._chosen(channel, submission.view)
        except ValidationError as error:
            logger.warning("channel_settings.refused", extra={"problems": error.error_count()})
            return
        try:
            right = await self._right(channel, person)
            if right != "may":
                reply = self._refusal(right, messages)
            else:
                await self.settings.save(channel, settings, by=person.id)
                lines = settings_lines(settings, self.reindexer.sources(), messages)
                reply = "\n".join([messages.channel_saved.format(channel=f"<#{channel}>"), *lines])
        except (StoreUnavailableError, *SLACK_FAILURES) as error:
            logger.warning("channel_settings.not_saved", extra={"cause": type(error).__name__})
            reply = messages.channel_not_saved
        await self._whisper(channel, person.id, reply)

    async def status_lines(self, channel: str, messages: Messages) -> list[str]:
        """Words a channel's settings, for `/kb status` there; nothing in a direct message."""
        if channel.startswith("D"):
            return []
        lines = settings_lines(await self.settings.of(channel), self.reindexer.sources(), messages)
        return [messages.channel_status.format(channel=f"<#{channel}>"), *lines]

    async def _right(self, channel: str, person: Person) -> Right:
        """Asks Slack anew who may: it invites us and makes admins while we remember otherwise."""
        try:
            response = await self.reading.conversations_info(channel=channel)
        except SLACK_FAILURES as error:
            if error_code(error) in {"channel_not_found", "not_in_channel"}:
                return "not in it"
            raise
        payload: dict[str, Any] = response["channel"]
        if payload.get("is_im"):
            return "no channel"
        if not payload.get("is_member") and not payload.get("is_mpim"):
            return "not in it"
        made_it = payload.get("creator") == person.id and not person.outsider
        return "may" if made_it or await self.admins.status_of(person) == "admin" else "may not"

    def _refusal(self, right: Right, messages: Messages) -> str:
        if right == "no channel":
            return messages.channel_only.format(command=self.command)
        if right == "not in it":
            return messages.channel_not_in.format(command=self.command)
        return messages.channel_not_yours

    async def _chosen(self, channel: str, view: SubmittedView) -> ChannelSettings:
        """Reads the submitted settings. Sources that are gone today stay chosen, until they are back.

        Raises:
            pydantic.ValidationError: a value that the dialog does not offer.
        """
        before, sources = await self.settings.of(channel), self.reindexer.sources()[:MOST_SOURCES]
        language = view.entry(LANGUAGE) or ASKED
        return ChannelSettings.model_validate(
            {
                "follow_ups": view.entry(FOLLOW_UPS),
                "unasked": view.entry(UNASKED) == "yes",
                "sources": (
                    *view.entries(SOURCES),
                    *(name for name in before.sources if name not in sources),
                ),
                "language": language if language in LANGUAGES else "",
                "corrections": view.entry(CORRECTIONS),
            }
        )

    async def _whisper(self, channel: str, user: str, text: str) -> None:
        try:
            await self.posting.chat_postEphemeral(channel=channel, user=user, text=text)
        except SLACK_FAILURES as error:
            logger.info("channel_settings.not_told", extra={"cause": type(error).__name__})


def channel_view(
    about: ChannelDialogMetadata, settings: ChannelSettings, sources: Sequence[str], messages: Messages
) -> dict[str, Any]:
    sources = sources[:MOST_SOURCES]
    languages = _languages(messages)
    language = settings.language if settings.language in languages else ASKED
    return modal(
        messages.channel_title,
        [
            section(messages.channel_what.format(channel=f"<#{about.channel}>")),
            field(
                FOLLOW_UPS,
                messages.channel_follow_ups,
                choice(_follow_ups(messages), initial=settings.follow_ups),
            ),
            field(
                UNASKED,
                messages.channel_unasked,
                choice(_unasked(messages), initial=_yes_or_no(settings.unasked)),
                hint=messages.channel_unasked_hint,
            ),
            *([_sources(sources, chosen(settings, sources), messages)] if sources else []),
            field(LANGUAGE, messages.channel_language, choice(languages, initial=language, menu=True)),
            field(
                CORRECTIONS,
                messages.channel_corrections,
                choice(_corrections(messages), initial=settings.corrections),
            ),
        ],
        messages,
        callback=CALLBACK,
        metadata=about.model_dump_json(),
        submit=messages.save,
    )


def settings_lines(settings: ChannelSettings, sources: Sequence[str], messages: Messages) -> list[str]:
    """Returns a channel's settings in words, one a line."""
    names = ", ".join(map(escape, chosen(settings, sources)))
    values = {
        messages.channel_follow_ups: _follow_ups(messages)[settings.follow_ups],
        messages.channel_unasked: _unasked(messages)[_yes_or_no(settings.unasked)],
        messages.channel_sources: names or messages.channel_sources_all,
        messages.channel_language: _languages(messages).get(
            settings.language, messages.channel_language_asked
        ),
        messages.channel_corrections: _corrections(messages)[settings.corrections],
    }
    return [f"• {name}: {value}" for name, value in values.items()]


def _follow_ups(messages: Messages) -> dict[str, str]:
    return {
        "auto": messages.follow_ups_auto,
        "mention": messages.follow_ups_mention,
        "everyone": messages.follow_ups_everyone,
    }


def _unasked(messages: Messages) -> dict[str, str]:
    return {"no": messages.unasked_no, "yes": messages.unasked_yes}


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def _corrections(messages: Messages) -> dict[str, str]:
    return {"note": messages.corrections_note, "off": messages.corrections_off}


def _languages(messages: Messages) -> dict[str, str]:
    return {ASKED: messages.channel_language_asked, **{code: lexicon(code).name for code in LANGUAGES}}


def _sources(names: Sequence[str], selected: Sequence[str], messages: Messages) -> Block:
    element: dict[str, Any] = {
        "type": "multi_static_select",
        "placeholder": label(messages.channel_sources_all),
        "options": options({name: name for name in names}),
    }
    if selected:  # Slack refuses an empty list
        element["initial_options"] = options({name: name for name in selected})
    return field(SOURCES, messages.channel_sources, element, optional=True)
