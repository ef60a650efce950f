"""Defines the Slack payloads that we read, and only what we read of them."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from bot.slack.message_parts import Attachment, Blocks, BotProfile, Files, Payload, Text, objects

ANSWER_EVENT = "footnote_answer"
"""The metadata event type of our replies."""

READ_SUBTYPES = frozenset({None, "thread_broadcast", "file_share", "me_message"})
"""Messages that a person wrote. Every other subtype is an edit, a deletion, a bot's, or Slack talking about itself."""

FORM_SUBTYPES = frozenset({None, "bot_message"})


Ts = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,16}(\.[0-9]{0,16})?$")]
"""Slack's timestamps, which name a message within its channel."""


class Edit(Payload):
    ts: Ts


class CitedPassage(Payload):
    page_id: str
    chunk_id: str
    title: str


class AnswerMetadata(Payload):
    """What our replies carry in their metadata, so that they are recognised and a thread can be read back.

    `answer` is Markdown without marks; `cited` the passages behind it. Both are what the thread's history needs.
    """

    question_id: str
    question_ts: str
    state: Literal["searching", "answered", "failed", "note", "deleted"] = "answered"
    """note: no reply to a question, but what we said by ourselves (`bot.listening.exactly_once`)."""
    answer: str | None = None
    rewritten: str | None = None
    outcome: str | None = None
    cited: tuple[CitedPassage, ...] = ()


class Metadata(Payload):
    event_type: str
    event_payload: dict[str, Any] = Field(default_factory=dict)


class Message(Payload):
    """A message as events and threads show it."""

    ts: Ts
    text: Text = Field(default="", repr=False)
    user: str | None = None
    bot_id: str | None = None
    bot_profile: BotProfile | None = None
    username: str | None = None
    subtype: str | None = None
    thread_ts: Ts | None = None
    edited: Edit | None = None
    metadata: Metadata | None = None
    streaming_state: str | None = None
    """Set on a message that is or was streamed; not every reply of Slack's shows it."""
    blocks: Blocks = ()
    attachments: Annotated[tuple[Attachment, ...], BeforeValidator(objects)] = ()
    files: Files = ()

    @property
    def has_buttons(self) -> bool:
        return any(block.type == "actions" for block in self.blocks)

    @property
    def thread(self) -> str:
        return self.thread_ts or self.ts

    @property
    def by_a_person(self) -> bool:
        return bool(self.user) and self.bot_id is None and self.user != "USLACKBOT"

    @property
    def by_a_form(self) -> bool:
        """Tells whether a workflow or a webhook posted it: neither reads what is answered, so nobody talks with it in
        circles.

        An app that converses is somebody: it has a `user`, and no mark of a workflow.
        """
        if self.user is None and self.bot_id is not None:
            return True
        return self.bot_profile is not None and self.bot_profile.is_workflow_bot is True


class ActionContext(Payload):
    action_token: str | None = Field(default=None, repr=False)


class MessageEvent(Payload):
    """`app_mention` and `message` events. A mention names no channel
    type; an edit or deletion has no text of its own.
    """

    type: str
    channel: str
    channel_type: str = ""
    ts: Ts
    event_ts: Text = ""
    subtype: str | None = None
    message: Message | None = None
    previous_message: Message | None = None
    deleted_ts: Ts | None = None
    parent_user_id: str | None = None
    assistant_thread: ActionContext = ActionContext()
    action_token: str | None = Field(default=None, repr=False)

    @property
    def is_deletion(self) -> bool:
        """Tells a deletion. A deleted message that has replies stays in its thread as a "tombstone", which Slack
        calls a change.
        """
        tombstone = self.message is not None and self.message.subtype == "tombstone"
        return self.subtype == "message_deleted" or (self.subtype == "message_changed" and tombstone)

    @property
    def is_direct(self) -> bool:
        return self.channel_type == "im"

    @property
    def token(self) -> str | None:
        return self.action_token or self.assistant_thread.action_token


class Named(Payload):
    id: str


class Container(Payload):
    message_ts: str | None = None
    thread_ts: str | None = None
    channel_id: str | None = None


class PressedMessage(Payload):
    ts: str
    thread_ts: str | None = None


class Action(Payload):
    action_id: str
    value: str = ""


class ShownView(Payload):
    """The view that a pressed button stands in. Each time it is drawn anew it has another hash."""

    id: str = ""
    hash: str = ""
    private_metadata: str = ""


class ButtonPress(Payload):
    """A `block_actions` payload of one of our buttons."""

    user: Named
    view: ShownView = ShownView()
    trigger_id: str = Field(default="", repr=False)
    channel: Named | None = None
    container: Container = Container()
    message: PressedMessage | None = None
    actions: tuple[Action, ...] = Field(min_length=1)

    @property
    def channel_id(self) -> str | None:
        return self.channel.id if self.channel else self.container.channel_id

    @property
    def message_ts(self) -> str | None:
        return self.message.ts if self.message is not None else self.container.message_ts

    @property
    def thread_ts(self) -> str | None:
        if self.message is not None:
            return self.message.thread_ts or self.message.ts
        return self.container.thread_ts or self.container.message_ts


class Chosen(Payload):
    value: str


class Entered(Payload):
    """One input of a submitted view."""

    value: str | None = Field(default=None, repr=False)
    selected_option: Chosen | None = None
    selected_options: tuple[Chosen, ...] = ()

    @property
    def entry(self) -> str | None:
        return self.selected_option.value if self.selected_option else self.value


class ViewState(Payload):
    values: dict[str, dict[str, Entered]] = Field(default_factory=dict)


class SubmittedView(Payload):
    id: str = ""
    callback_id: str
    private_metadata: str = ""
    state: ViewState = ViewState()

    def entry(self, block_id: str) -> str | None:
        return next((entered.entry for entered in self.state.values.get(block_id, {}).values()), None)

    def entries(self, block_id: str) -> tuple[str, ...]:
        """Returns the entries of an input that takes several."""
        inputs = self.state.values.get(block_id, {}).values()
        return tuple(chosen.value for entry in inputs for chosen in entry.selected_options)


class ViewSubmission(Payload):
    user: Named
    view: SubmittedView


class SlashCommand(Payload):
    command: str
    text: str = ""
    user_id: str
    channel_id: str
    channel_name: str = ""
    response_url: str = Field(default="", repr=False)
    trigger_id: str = Field(default="", repr=False)


class MessageShortcut(Payload):
    """A `message_action`: our entry in the menu of somebody's message."""

    user: Named
    channel: Named
    message: Message
    trigger_id: str = Field(default="", repr=False)
    response_url: str = Field(default="", repr=False)


class HomeOpened(Payload):
    """`app_home_opened`. `channel`: the direct message with whoever opened it."""

    user: str
    tab: str = "home"
    channel: str = ""


class PaneThread(Payload):
    user_id: str
    channel_id: str
    thread_ts: str


class PaneOpened(Payload):
    """`assistant_thread_started`, which only workspaces with the former assistant view send."""

    assistant_thread: PaneThread


def answer_metadata(metadata: Metadata | None) -> AnswerMetadata | None:
    """Reads our mark on a message; None where there is none that we can read."""
    if metadata is None or metadata.event_type != ANSWER_EVENT:
        return None
    payload = dict(metadata.event_payload)
    if isinstance(payload.get("cited"), str):
        payload["cited"] = json.loads(payload["cited"])
    if "question_id" not in payload or "question_ts" not in payload:
        return None
    return AnswerMetadata.model_validate(payload)


def slack_metadata(metadata: AnswerMetadata) -> dict[str, Any]:
    """Builds Slack's metadata. Slack takes strings, numbers and booleans reliably, so the list travels as JSON."""
    payload: dict[str, Any] = metadata.model_dump(exclude_none=True, exclude={"cited"})
    if metadata.cited:
        payload["cited"] = json.dumps(
            [citation.model_dump() for citation in metadata.cited], ensure_ascii=False
        )
    return {"event_type": ANSWER_EVENT, "event_payload": payload}
