"""Builds files and forwarded messages, as Slack sends them with a message."""

from __future__ import annotations

import mimetypes
import secrets
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.playground.slack import Slack
from bot.playground.state import Message, Room

PREVIEW_LINES = 5
PREVIEW_CHARACTERS = 1_000
FILES_IN_A_MESSAGE = 10
_TEXT_TYPES = {f"application/{subtype}" for subtype in ("json", "xml", "x-sh", "toml", "yaml")}
_TEXT_ENDINGS = (".log", ".md", ".py", ".toml", ".yaml", ".yml", ".sql", ".sh", ".conf", ".ini")


@dataclass(frozen=True, kw_only=True, slots=True)
class Upload:
    """A file as it was chosen. An empty `mimetype` is told by the name; `size`: in bytes, None: that of `content`.

    Of `content` a beginning will do: nothing but the preview of a text is made of it.
    """

    name: str
    content: bytes = b""
    mimetype: str = ""
    size: int | None = None


def file_object(slack: Slack, room: Room, user: str, upload: Upload) -> dict[str, Any]:
    """Builds Slack's file object. Of a text its first lines are shown (a snippet), of anything else only the name."""
    name = upload.name.strip().rpartition("/")[2] or "file"
    mimetype = upload.mimetype or mimetypes.guess_type(name)[0] or "application/octet-stream"
    text = _text_of(name, mimetype, upload.content)
    file_id = f"F0{secrets.token_hex(5).upper()}"
    filetype = "text" if text is not None else name.rpartition(".")[2].lower()
    address = f"{slack.origin()}/files/{file_id}/{name}"
    created = int(slack.state.now())
    payload: dict[str, Any] = {
        "id": file_id,
        "created": created,
        "timestamp": created,
        "name": name,
        "title": name,
        "mimetype": "text/plain" if text is not None else mimetype,
        "filetype": filetype,
        "pretty_type": "Plain Text" if text is not None else filetype.upper(),
        "user": user,
        "user_team": slack.workspace.team_id,
        "editable": text is not None,
        "size": len(upload.content) if upload.size is None else upload.size,
        "mode": "snippet" if text is not None else "hosted",
        "is_external": False,
        "external_type": "",
        "is_public": not room.is_private,
        "public_url_shared": False,
        "display_as_bot": False,
        "username": "",
        "url_private": address,
        "url_private_download": f"{address}?download",
        "permalink": address,
        "has_rich_preview": False,
        "file_access": "visible",
    }
    return payload | (_preview(text) if text is not None else {})


def shared_message(slack: Slack, room: Room, message: Message, *, private: bool) -> dict[str, Any]:
    """Builds the attachment that a forwarded message becomes. `private`: from a place that not everybody can open."""
    workspace = slack.workspace
    author = workspace.person(message.get("user", ""))
    name = message.get("username") or (author.real_name if author else "Slackbot")
    posted = datetime.fromtimestamp(float(message["ts"]), UTC)
    text = message.get("text", "")
    in_thread = message.get("thread_ts", message["ts"]) != message["ts"]
    place = {"im": "a direct message", "mpim": "a group message"}.get(room.kind, f"#{room.name}")
    shared: dict[str, Any] = {
        "id": 1,
        "ts": message["ts"],
        "author_name": name,
        "author_subname": author.name if author else name,
        "channel_id": room.id,
        "channel_team": workspace.team_id,
        "is_msg_unfurl": True,
        "is_share": True,
        "from_url": slack.permalink(room, message["ts"]),
        "fallback": f"[{posted:%B} {posted.day}, {posted:%Y %I:%M %p}] {author.name if author else name}: {text}",
        "text": text,
        "mrkdwn_in": ["text"],
        "footer": f"From a thread in {place}" if in_thread else f"Posted in {place}",
    }
    if author is not None:
        shared["author_id"] = author.id
    if private:
        shared["private_channel_prompt"] = True
    if message.get("blocks"):
        shared["message_blocks"] = [
            {
                "team": workspace.team_id,
                "channel": room.id,
                "ts": message["ts"],
                "message": {"blocks": deepcopy(message["blocks"])},
            }
        ]
    if message.get("files"):
        shared["files"] = deepcopy(message["files"])
    return shared


def _text_of(name: str, mimetype: str, content: bytes) -> str | None:
    is_text = mimetype.startswith("text/") or mimetype in _TEXT_TYPES or name.lower().endswith(_TEXT_ENDINGS)
    if not is_text or b"\0" in content:
        return None
    return content.decode("utf-8", errors="replace")


def _preview(text: str) -> dict[str, Any]:
    lines = text.splitlines()
    shown = "\n".join(lines[:PREVIEW_LINES])[:PREVIEW_CHARACTERS]
    return {
        "preview": shown,
        "preview_highlight": "",
        "lines": len(lines),
        "lines_more": max(0, len(lines) - PREVIEW_LINES),
        "preview_is_truncated": shown != "\n".join(lines),
    }
