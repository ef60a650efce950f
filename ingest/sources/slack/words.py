"""What a message says, wherever Slack keeps it: its text, its blocks, what was forwarded in it, its files."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ingest.parsers.pictures import description
from ingest.sources.markup import fenced, linked, literal
from ingest.sources.slack.blocks import blocks_text, dicts
from ingest.sources.slack.mrkdwn import to_markdown

_WORD = re.compile(r"\w+")
_GONE = frozenset({"tombstone", "hidden_by_limit", "access_denied"})
"""Modes of files that nobody can open any longer."""
_PROSE = frozenset({"quip", "canvas", "space", "post", "docs", "email", "text", "markdown", "list"})
"""Kinds of files whose text is no code."""
_PICTURES = frozenset({"png", "jpg", "jpeg", "gif", "heic", "webp", "bmp", "tiff", "svg"})
_NO_TEXT = ("This content can't be displayed.", "[no preview available]")
"""What Slack writes for an app that gave its blocks no text."""
_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """A message as Markdown. `notes`: what of it is not in the export."""

    markdown: str
    notes: tuple[str, ...] = ()


def words_of(record: Mapping[str, Any], person: Callable[[str], str]) -> Words:
    """Writes a message as Markdown. `person` names a user by id."""
    own = _own_words(record, person)
    parts, notes = [own] if own else [], list[str]()
    attachments = [part for part in dicts(record.get("attachments")) if _is_said(part) or not own]
    parts += [_attached(attachment, person, notes) for attachment in attachments]
    files = dicts(record.get("files")) or dicts([record.get("file")])
    parts += [_file(file, person, notes) for file in files]
    return Words(markdown="\n\n".join(filter(None, map(str.strip, parts))), notes=tuple(notes))


def _own_words(record: Mapping[str, Any], person: Callable[[str], str]) -> str:
    """Writes the text, or the blocks where they say more: apps put there what their text only sums up."""
    text = (
        "" if record.get("text") in _NO_TEXT else to_markdown(str(record.get("text") or ""), person).strip()
    )
    blocks = to_markdown(blocks_text(record.get("blocks")), person).strip()
    if not blocks or _bag(blocks) <= _bag(text):
        return text
    return blocks if _bag(text) <= _bag(blocks) else f"{text}\n\n{blocks}"


def _bag(markdown: str) -> set[str]:
    return set(_WORD.findall(markdown.casefold()))


def _is_said(attachment: Mapping[str, Any]) -> bool:
    """Tells whether it was forwarded, or made by an app. Anything else is Slack's preview of a linked page."""
    is_forwarded = any(attachment.get(mark) for mark in ("is_share", "is_msg_unfurl", "is_reply_unfurl"))
    return is_forwarded or not (attachment.get("from_url") or attachment.get("original_url"))


def _attached(attachment: Mapping[str, Any], person: Callable[[str], str], notes: list[str]) -> str:
    def written(name: str) -> str:
        return to_markdown(str(attachment.get(name) or ""), person).strip()

    title, link = written("title"), str(attachment.get("title_link") or "")
    if title and link.startswith(("http://", "https://")) and "](" not in title:
        title = linked(title, link)
    blocks = to_markdown(blocks_text(attachment.get("blocks") or _forwarded(attachment)), person).strip()
    text = written("text")
    body = blocks if blocks and not _bag(blocks) <= _bag(text) else text
    fields = [
        ": ".join(to_markdown(str(field[part]), person) for part in ("title", "value") if field.get(part))
        for field in dicts(attachment.get("fields"))
    ]
    files = [_file(file, person, notes) for file in dicts(attachment.get("files"))]
    parts = [written("pretext"), title, body, "\n".join(f"- {field}" for field in fields if field), *files]
    return "\n\n".join(filter(None, parts)) or written("fallback")


def _forwarded(attachment: Mapping[str, Any]) -> list[Any]:
    messages = dicts([part.get("message") for part in dicts(attachment.get("message_blocks"))])
    return [block for message in messages for block in message.get("blocks") or []]


def _file(file: Mapping[str, Any], person: Callable[[str], str], notes: list[str]) -> str:
    """Writes a file's name and as much of its text as the export holds."""
    if file.get("mode") in _GONE:
        return ""
    name = " ".join(str(file.get("title") or file.get("name") or "").split())
    kind = str(file.get("filetype") or file.get("mode") or "").casefold()
    comment = file.get("initial_comment")
    remark = (
        to_markdown(str(comment.get("comment") or ""), person).strip() if isinstance(comment, dict) else ""
    )
    if kind in _PICTURES:
        return "\n\n".join(filter(None, (remark, literal(description(str(file.get("alt_txt") or ""))))))
    text = next(_texts(file, kind), "")
    if name and (not text or file.get("preview_is_truncated")):
        held = "only the beginning of" if text else "no text of"
        notes.append(f"the export holds {held} its file {name!r}")
    if not text:
        return "\n\n".join(filter(None, (remark, f"Attached: {literal(name)}" if name else "")))
    is_code = file.get("mode") == "snippet" or not _PROSE & {kind, file.get("mode")}
    body = fenced(text, "") if is_code else to_markdown(html.escape(text, quote=False), person).strip()
    return "\n\n".join(filter(None, (remark, f"**{literal(name)}**:" if name else "", body)))


def _texts(file: Mapping[str, Any], kind: str) -> Iterator[str]:
    transcription = file.get("transcription")
    preview = transcription.get("preview") if isinstance(transcription, dict) else None
    heard = preview.get("content") if isinstance(preview, dict) else None
    names = ("plain_text", "content", "preview_plain_text", "preview")
    for text in (heard, *map(file.get, names)):
        if isinstance(text, str) and text.strip():
            is_html = kind in _PROSE and text is file.get("preview")
            yield html.unescape(_TAG.sub(" ", text)) if is_html else text
