"""Who may read a page, by its front matter. Whatever names a limit and cannot be understood closes the page.

`audience` (or `channels`) is what Footnote's pages say. Other generators and other languages have other
names, and people misspell: a page that says `visibility: private`, `internal: true` or `audiance: ...` meant
to limit somebody, so it is not indexed, and the report says what to write instead. A page left out by mistake
is noticed; one that leaks is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache

from ingest.errors import PageError
from ingest.front_matter.fields import Field, Fields, is_given, key_of, text_of, truth_of
from ingest.front_matter.language_words import folded
from ingest.front_matter.limit_words import (
    CLASSES,
    CLOSED,
    CLOSED_WORDS,
    DENIALS,
    IF_NAMED,
    OPEN,
    OPEN_FLAGS,
    OURS,
    PASSWORDS,
    SURE,
    WORDS_OF_PAGES,
    is_closed_by_yes,
    is_closed_class,
    is_flag,
    is_graded,
    is_limiting_label,
    is_name,
)
from ingest.front_matter.lookalikes import plainly
from kb.models import EVERYONE

MARK = (
    r"(?:(?<![\w#@/&])[#@](?=[^\W_])[\w.-]+|<(?:[#@]|!subteam|!here|!channel|!everyone)[^<>\n"
    r"]*>|(?<![\w/#-])[CGS](?=[A-Z]*\d)[A-Z0-9]{5,}\b)"
)
"""How a channel, a person or a group is written in Slack."""
_CHANNEL_ID = re.compile(r"[CG][A-Z0-9]{5,}")
_CHANNEL_NAME = re.compile(r"#?[\w-]{1,80}")
_GROUP_ID = re.compile(r"S(?=[A-Z]*\d)[A-Z0-9]{5,}")
_GROUP_HANDLE = re.compile(r"@[\w.-]{1,80}")
_ADDRESSED = re.compile(
    r"<?[@!](?:here|channel|everyone)>?|[UWD](?=[A-Z]*\d)[A-Z0-9]{6,}", re.IGNORECASE | re.ASCII
)
"""Whom a message addresses, and ids of people and of direct messages."""
_TELLING = ("audience", "visibility")
"""A name that holds one of these, or is nearly one, speaks of readers."""
_NEARLY = 0.8
NAME_HINT = re.compile(
    "|".join(
        sorted(
            {name[start : start + 3] for name in _TELLING for start in range(len(name) - 2)}
            | {name[:3] for name in SURE}
        )
    )
)
"""Three letters that every name has which surely names readers: a quick look in a long text."""


def names_a_limit(name: str) -> bool:
    """Tells whether a field of this name says who may read a page."""
    key = _limit_key(name)
    return is_name(key) or is_flag(key) or key in DENIALS or _speaks_of_readers(key)


def surely_limits(name: str) -> bool:
    """Tells whether a field outside front matter limits readers: there a common word may be a word of the page."""
    key = _limit_key(name)
    return key in SURE or _speaks_of_readers(key)


def is_word_of_pages(name: str) -> bool:
    """Tells whether pages say it of something else as well, followed by one of Slack's names."""
    return _limit_key(name) in WORDS_OF_PAGES


def closes(name: str, value: str) -> bool:
    """Tells whether a line that is no front matter by its form, but was meant as such, limits the readers of its page."""
    key, text = _limit_key(name), key_of(value.strip(" \t,;'\"[]{}()"))
    if text in OPEN or EVERYONE in value:
        return False
    if surely_limits(name) or (
        (is_name(key) or key in OPEN_FLAGS) and (names_readers(value) or text in CLOSED)
    ):
        return True
    return (is_flag(key) and truth_of(text) is True) or (key in CLASSES and text in CLOSED_WORDS)


def _limit_key(name: str) -> str:
    """Returns `key_of` of the name with look-alike letters made plain."""
    return key_of(plainly(name))


def names_readers(value: object) -> bool:
    """Tells whether a value has the form of Slack's names: in a line of text, "Audience: engineers" may describe readers."""
    return re.search(r"(?<!\w)[#@][\w-]|\b[CGS](?=[A-Z]*\d)[A-Z0-9]{5,}\b", text_of(value)) is not None


def is_for_everyone(fields: Fields) -> bool:
    """Tells whether the author says that it is for everyone, rather than saying nothing."""
    return any(field.own and field.key in OURS for field in fields.all)


def audience_of(fields: Fields, twice: Iterable[str]) -> tuple[str, ...] | None:
    """Returns the principals of channels and groups; None where nothing limits the page.

    Raises:
        PageError: it is limited, to nobody that could be told.
    """
    for name in twice:
        if names_a_limit(name):
            raise closed(f"its front matter has `{name}` twice: keep one")
    limits = [field for field in fields.all if field.own and is_name(field.key)]
    marks = [mark for field in limits if field.key in OURS for mark in _marks(field)]
    named = any(mark != EVERYONE for mark in marks)
    for field in fields.all:
        _check(field, named=named)
        if not is_for_everyone(fields) and is_limiting_label(field.key, text_of(field.value)):
            raise _limited(field, text_of(field.value))
    marks += [
        mark
        for field in limits
        if field.key not in OURS and not (named and _is_closed(field))
        for mark in _marks(field)
    ]
    restricting = {mark for mark in marks if mark != EVERYONE}
    if restricting and EVERYONE in marks:
        raise closed("its audience names channels and 'everyone': write one or the other")
    return tuple(sorted(restricting)) or None


def _is_closed(field: Field) -> bool:
    """Tells whether a field only says "private": where an audience stands beside it, that says who is meant."""
    return all(key_of(entry) in CLOSED for entry in text_of(field.value).split(","))


def _marks(field: Field) -> list[str]:
    return [_mark(entry, field) for entry in _entries(field)]


def _check(field: Field, *, named: bool) -> None:
    """Closes a page whose readers are limited but not named. Where they are `named` too, most of that is no fault."""
    text = text_of(field.value)
    if not field.own:
        flagged = is_flag(field.key) and truth_of(field.value) is True
        if (surely_limits(field.name) and not is_word_of_pages(field.name)) or flagged:
            raise closed(
                f"its front matter has `{field.name}` inside another field, where it is not read: write it at the top"
            )
        return
    names_slack = field.key in IF_NAMED and text.lstrip("'\" [").startswith(("#", "@"))
    if names_slack or (not is_name(field.key) and _resembles_a_limit(field)):
        raise closed(f"its front matter has `{field.name}`, which may limit its readers: write `audience`")
    if field.key in DENIALS and is_given(field.value):
        raise closed(
            f"its front matter says by `{field.name}` who may not read it: name who may by `audience: ['#people-leads']`"
        )
    if named:
        return
    truth = truth_of(field.value)
    flagged = (is_flag(field.key) and truth is not False) or (field.key in OPEN_FLAGS and truth is not True)
    flagged = flagged or is_closed_by_yes(field.key, text, truth=truth)
    parts = field.value if isinstance(field.value, dict) and is_graded(field.key) else {}
    named_within = any(is_name(key_of(name)) for name in parts)
    closed_class = any(is_closed_class(field.key, part) for part in (text, *map(text_of, parts.values())))
    if (text and flagged) or named_within or closed_class:
        raise _limited(field, text)
    if field.key in PASSWORDS and text:
        raise closed(f"it has a `{field.name}` in its front matter: name its readers by `audience` instead")


def _resembles_a_limit(field: Field) -> bool:
    """Tells whether a name is a limit misspelt, or one to the eye alone, with a letter of another script."""
    disguised = _limit_key(field.name) != field.key and names_a_limit(field.name)
    return disguised or _speaks_of_readers(_limit_key(field.name)) or _is_nearly(field.key, *OURS)


def _speaks_of_readers(key: str) -> bool:
    return any(word in key for word in _TELLING) or _is_nearly(key, *_TELLING)


def _is_nearly(key: str, *words: str) -> bool:
    """Tells whether a key is one of the words misspelt."""
    return any(abs(len(key) - len(word)) <= 2 and _similarity(key, word) >= _NEARLY for word in words)


@lru_cache(maxsize=4096)
def _similarity(key: str, word: str) -> float:
    return SequenceMatcher(None, key, word).ratio()


def _entries(field: Field) -> list[str]:
    limit = field.value
    is_flag_like = isinstance(limit, bool) or (isinstance(limit, str) and field.key == "visible")
    truth = truth_of(limit) if is_flag_like else None
    if field.key == "visible" and truth:
        return [EVERYONE]
    if truth is not None:
        raise _limited(field, text_of(limit))
    entries = text_of(limit).split(",") if limit is None or isinstance(limit, str) else limit
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise closed(
            f"its {field.name} is no list: write for example audience: ['#people-leads', '@finance']"
        )
    if not any(map(str.strip, entries)):
        raise closed(f"its {field.name} is empty: name channels, or 'everyone'")
    return [entry.strip() for entry in entries if entry.strip()]


def _mark(entry: str, field: Field) -> str:
    if entry == EVERYONE or key_of(entry) in OPEN:
        return EVERYONE
    if _ADDRESSED.fullmatch(entry):
        raise closed(
            f"its {field.name} {entry!r} is no group of readers: write channels or user groups, or "
            f"'everyone' for all of the company"
        )
    if _CHANNEL_ID.fullmatch(entry) or _GROUP_ID.fullmatch(entry):
        return entry
    if _GROUP_HANDLE.fullmatch(entry):
        return entry.lower()
    # `audience: people-leads` names a channel; of other names and other words it is not known what they mean
    may_be_bare = field.key in OURS and key_of(entry) not in CLOSED
    if _CHANNEL_NAME.fullmatch(entry) and (entry.startswith("#") or may_be_bare):
        return f"#{entry.removeprefix('#').lower()}"
    raise closed(
        f"its {field.name} {entry!r} is no channel or user group: write audience: '#people-leads', "
        f"'C0123456' or '@finance', "
        "or 'everyone' for all of the company"
    )


def _limited(field: Field, text: str) -> PageError:
    return closed(
        f"its front matter says `{field.name}: {text}`: name its readers by `audience: ['#people-leads']`, "
        "or `audience: everyone` for all of the company"
    )


def closed(reason: str) -> PageError:
    return PageError(reason, withdraw=True)


def mentions_a_limit(content: bytes) -> bool:
    """Tells whether undecodable bytes seem to limit their readers: then what was public before may no longer be."""
    # In UTF-16 every second byte is 0.
    head = folded(content[:10_000].replace(b"\0", b"").decode("ascii", errors="ignore"))
    return any(
        names_a_limit(found)
        for found in re.findall(r"^\W*([\w -]{1,40}?)[\"'`*]*[ \t]*[:=]", head, re.MULTILINE)
    )
