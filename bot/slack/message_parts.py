"""Defines the parts of a Slack message that may hold text: blocks, attachments, files. Only what we read of them.

A part that has not the form that we know says nothing; it loses no message.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from bot.frozen_model import FrozenModel
from bot.slack.block_text import block_lines
from kb.errors import FootnoteError


class MalformedPayloadError(FootnoteError):
    """A payload is not what Slack sends. The text names the fields and quotes nothing."""


class Payload(FrozenModel):
    """Use `read` for what comes in, `model_validate` for the rest."""

    @classmethod
    def read(cls, payload: Any) -> Self:
        """
        Raises:
            MalformedPayloadError: a field is missing, or of another type.
        """
        try:
            return cls.model_validate(payload)
        except ValidationError as error:
            fields = sorted(
                {".".join(map(str, problem["loc"][:2])) for problem in error.errors(include_input=False)}
            )
            raise MalformedPayloadError(f"{cls.__name__}: {', '.join(fields)}") from None


Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
"""What Slack may leave out or send as null."""


def objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class ShownBlock(Payload):
    """`lines`: what it says, as mrkdwn."""

    type: Text = ""
    lines: tuple[str, ...] = Field(default=(), repr=False)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, block: Any) -> Any:
        return {"type": block.get("type"), "lines": block_lines(block)} if isinstance(block, dict) else block


Blocks = Annotated[tuple[ShownBlock, ...], BeforeValidator(objects)]


class SharedFile(Payload):
    """`preview` and the plain texts are there for snippets and e-mails, which Slack shows in the message itself."""

    name: Text = ""
    title: Text = ""
    mode: Text = ""
    preview: Text = Field(default="", repr=False)
    plain_text: Text = Field(default="", repr=False)
    preview_plain_text: Text = Field(default="", repr=False)


Files = Annotated[tuple[SharedFile, ...], BeforeValidator(objects)]


class AttachmentField(Payload):
    title: Text = ""
    value: Text = Field(default="", repr=False)


class ForwardedBlocks(Payload):
    blocks: Blocks = ()


class Forwarded(Payload):
    message: ForwardedBlocks = ForwardedBlocks()


class Attachment(Payload):
    """What is below a message: a forwarded one (`is_share`), what a link leads to, or what an app puts there."""

    is_share: bool | None = None
    is_msg_unfurl: bool | None = None
    from_url: Text = ""
    original_url: Text = ""
    pretext: Text = Field(default="", repr=False)
    title: Text = Field(default="", repr=False)
    text: Text = Field(default="", repr=False)
    fallback: Text = Field(default="", repr=False)
    fields: Annotated[tuple[AttachmentField, ...], BeforeValidator(objects)] = ()
    blocks: Blocks = ()
    message_blocks: Annotated[tuple[Forwarded, ...], BeforeValidator(objects)] = ()
    files: Files = ()
    attachments: Annotated[tuple[Attachment, ...], BeforeValidator(objects)] = ()


class BotProfile(Payload):
    name: Text = ""
    is_workflow_bot: bool | None = None
