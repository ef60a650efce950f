"""Parses mentions, channels and links in Slack's mrkdwn, and makes plain text of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from bot.rendering.mrkdwn import unescape

_ENTITY = re.compile(r"<([^<>]+)>")
_PERSON = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>")
_MARKS = re.compile(r"(?<!\w)[*_`]+|[*_`]+(?!\w)")
_GROUP = re.compile(r"<!(?:subteam\^|here|channel|everyone)[^<>]*>")
_LEFT_BEHIND = re.compile(r"^(?:[\s,;–—-]|:(?![a-z0-9_+\-]+:))+")
"""What remains in front when a mention is removed: "@footnote, how …"."""
_GAP_BEFORE_MARK = re.compile(r" +(?=[,.;!?]|:(?![a-z0-9_+\-]+:))")
"""Not before an emoji: "thanks? :pray:"."""


def people_in(text: str) -> list[str]:
    """Lists the ids of the people that a message mentions, in order, without repeats."""
    return list(dict.fromkeys(_PERSON.findall(text)))


def mentions(text: str, user_id: str) -> bool:
    return user_id in people_in(text)


def addresses_others(text: str, user_id: str) -> bool:
    """Tells whether a message speaks to a person, a group or the channel, and not to `user_id`."""
    others = [person for person in people_in(text) if person != user_id]
    return not mentions(text, user_id) and bool(others or _GROUP.search(text))


def without_mention(text: str, user_id: str) -> str:
    """Removes the mentions of `user_id`, and the comma or colon that followed the first."""
    mention = rf"<@{re.escape(user_id)}(?:\|[^<>]*)?>"
    spoken = re.sub(rf"[\s,]*{mention}(?=\s*(?:[.?!]|$))", "", text)  # "how many days, @footnote?"
    spoken = re.sub(rf"[ \t]*{mention}", " ", spoken)
    if text.lstrip().startswith(f"<@{user_id}"):
        spoken = _LEFT_BEHIND.sub("", spoken)
    return re.sub(r"[ \t]{2,}", " ", _GAP_BEFORE_MARK.sub("", spoken)).strip()


def without_marks(text: str) -> str:
    """Drops bold, code, line ends and invisible characters, so that the words of two versions can be compared."""
    visible = "".join(character for character in text if unicodedata.category(character) != "Cf")
    return " ".join(_MARKS.sub("", visible).split())


def plain_text(text: str, names: Mapping[str, str] | None = None) -> str:
    """Makes plain text of a message. `names` are people's names by id; who is not in it stays an id."""
    return unescape(_ENTITY.sub(lambda entity: _spoken(entity[1], names or {}), text)).strip()


def _spoken(entity: str, names: Mapping[str, str]) -> str:
    target, _, label = entity.partition("|")
    if target.startswith("@"):
        return f"@{label.removeprefix('@') or names.get(target[1:], target[1:])}"
    if target.startswith("#"):
        return f"#{label.removeprefix('#') or target[1:]}"
    if target.startswith("!"):
        return label or f"@{target[1:].split('^')[0]}"
    return label or target.removeprefix("mailto:")
