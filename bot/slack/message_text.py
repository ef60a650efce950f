"""Extracts the text of a message: its own words, and what blocks, forwarded messages, attachments and snippets add.

Slack tells most messages twice, as text and as blocks, and a forwarded message
three times. Nothing is read twice: what a block or an attachment says counts only
where its letters are not there yet. Previews of links are not the person's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.rendering.mrkdwn import escape, unescape
from bot.slack.events import Message
from bot.slack.message_parts import Attachment, SharedFile
from bot.slack.people import Me
from bot.slack.slack_text import without_marks, without_mention

LONGEST_QUESTION = 3000
"""Characters. Longer messages are pasted documents: the beginning says what they are about, the end what is wanted."""
BEGINNING = 1000
GAP = " … "
NESTED = 2
"""Levels of messages that were forwarded with a forwarded message."""

_SIGN = re.compile(r"<[^<>]*>|:[a-z0-9_+\-]+:")
_NOT_WORDS = re.compile(r"[\W_]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageText:
    """`own`: what the writer said. `added`: what was forwarded or attached. Both as mrkdwn, without the mentions of us.

    `shown`: what Slack shows below a link to another message, which comes some seconds after the message. `unread`: the
    names of files whose content we do not see.
    """

    own: str = ""
    added: str = ""
    shown: str = ""
    unread: tuple[str, ...] = ()

    is_cut: bool = False

    @property
    def text(self) -> str:
        """Joins all of it, at most `LONGEST_QUESTION` characters."""
        return joined_text(self.own, self.added, self.shown)

    @property
    def words(self) -> tuple[str, str, tuple[str, ...]]:
        """Returns what the writer wrote and attached; an edit that changes none of it says nothing new."""
        return without_marks(self.own), without_marks(self.added), self.unread


def message_text(message: Message, me: Me) -> MessageText:
    """Extracts the text of a message. Pure."""
    written = _UniqueTexts(me)
    written.take(message.text)
    for line in (line for block in message.blocks for line in block.lines):
        written.take(line)
    own = written.words("\n")
    added, shown = _UniqueTexts(me, own), _UniqueTexts(me, own)
    unread: list[str] = []
    for attachment in message.attachments:
        _take_attachment(attachment, added, shown, unread)
    _take_files(message.files, added, unread)
    texts = [own, added.words("\n"), shown.words("\n")]
    own, attached, linked = (shortened(text) for text in texts)
    return MessageText(
        own=own,
        added=attached,
        shown=linked,
        unread=tuple(unread),
        is_cut=sum(map(len, texts)) > LONGEST_QUESTION,
    )


def joined_text(*texts: str) -> str:
    """Joins texts by blank lines, at most `LONGEST_QUESTION` characters."""
    return shortened("\n\n".join(filter(None, texts)))


def shortened(text: str, limit: int = LONGEST_QUESTION) -> str:
    """Cuts the middle out of a long text."""
    if len(text) <= limit:
        return text
    beginning = text[: min(BEGINNING, limit // 3)]
    end = text[-(limit - len(beginning) - len(GAP)) :]
    if cut := beginning.rfind(" ") + 1:
        beginning = beginning[:cut].rstrip()
    return f"{beginning}{GAP}{end[end.find(' ') + 1 :]}"


class _UniqueTexts:
    """Texts in their order, each once and without the mentions of us. `before`: what was said elsewhere."""

    def __init__(self, me: Me, before: str = "") -> None:
        self._me = me
        self._texts: list[str] = []
        self._letters = _letters(before)

    def take(self, text: str) -> bool:
        """Adds a text. False: it repeats what was said before."""
        return self.take_as_it_is(without_mention(text, self._me.user_id))

    def take_as_it_is(self, text: str) -> bool:
        """Keeps the indents, as a file's text is read; `text` holds no mention."""
        letters = _letters(text)
        if letters in self._letters and (letters or self._texts):
            return False
        if text.strip():
            self._texts.append(text.strip())
            self._letters += f"\n{letters}"
        return bool(text.strip())

    def words(self, joiner: str) -> str:
        return joiner.join(self._texts)


def _take_attachment(
    attachment: Attachment, added: _UniqueTexts, shown: _UniqueTexts, unread: list[str], depth: int = 0
) -> None:
    if _is_preview(attachment) or depth > NESTED:
        return
    into = added if attachment.is_share or not attachment.is_msg_unfurl else shown
    for text in list(_attachment_texts(attachment)) or _fallback(attachment):
        into.take(text)
    _take_files(attachment.files, into, unread)
    for nested in attachment.attachments:
        _take_attachment(nested, added, shown, unread, depth + 1)


def _attachment_texts(attachment: Attachment) -> Iterator[str]:
    yield from filter(None, (attachment.pretext, attachment.title, attachment.text))
    for field in attachment.fields:
        yield ": ".join(filter(None, (field.title, field.value)))
    forwarded = [block for share in attachment.message_blocks for block in share.message.blocks]
    for block in (*attachment.blocks, *forwarded):
        yield from block.lines


def _fallback(attachment: Attachment) -> list[str]:
    """Returns the fallback text of an attachment without text; Slack's own, in brackets, is left out."""
    written = attachment.fallback and not attachment.fallback.startswith("[")
    return [attachment.fallback] if written and not attachment.files else []


def _is_preview(attachment: Attachment) -> bool:
    """Tells whether an attachment previews a link: its words are the page's, not the person's."""
    linked = bool(attachment.from_url or attachment.original_url)
    return linked and not attachment.is_share and not attachment.is_msg_unfurl


def _take_files(files: Iterable[SharedFile], into: _UniqueTexts, unread: list[str]) -> None:
    for file in files:
        if file.mode in ("tombstone", "hidden_by_limit"):
            continue
        content = file.plain_text or file.preview_plain_text or file.preview
        if content.strip():
            into.take_as_it_is(escape(unescape(content)))
        else:
            unread.append(file.name or file.title or "file")


def _letters(text: str) -> str:
    return _NOT_WORDS.sub("", unescape(_SIGN.sub(" ", text))).casefold()
