"""Who may read a page, by its front matter. Whatever names a limit and cannot be understood closes the page.

`audience` (or `channels`) is what Footnote's pages say. Other generators and other languages have other names, and people
misspell: a page that says `visibility: private`, `internal: true` or `audiance: ...` meant to limit somebody, so it is not
indexed, and the report says what to write instead. A page left out by mistake is noticed; one that leaks is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from ingest.date_words import folded, words
from ingest.errors import PageError
from ingest.front_fields import Field, Fields, key_of, text_of, truth_of
from kb.models import EVERYONE

_CHANNEL_ID = re.compile(r"[CG][A-Z0-9]{5,}")
_CHANNEL_NAME = re.compile(r"#?[\w-]{1,80}")
_GROUP_ID = re.compile(r"S(?=[A-Z]*\d)[A-Z0-9]{5,}")
_GROUP_HANDLE = re.compile(r"@[\w.-]{1,80}")
_OURS = frozenset({"audience", "channels"})
_NAMES = _OURS | words("""
    audiences visibility visible channel readers readable readableby visibleto visiblefor restrictedto restrictto limitedto
    accessible accessibleto access accesslevel accesscontrol acl permissions allowedchannels allowedgroups allowedreaders
    allowedusers allowedroles allow allowed viewers viewableby sharedwith
    doelgroep doelgroepen zichtbaarheid zichtbaarvoor toegang lezers kanalen
    zielgruppe zielgruppen sichtbarkeit sichtbarfur zugriff leser kanale
    visibilite visiblepour acces lecteurs canaux
    audiencia visibilidad visiblepara acceso lectores canales
    """)
_SURE = _OURS | {"channel", "readers", "visibleto", "restrictedto", "allowedchannels", "allowedgroups"}
_FLAGS = words("""
    private confidential restricted internal internalonly secret protected membersonly loginrequired requirelogin
    requireslogin requiresauth authrequired staffonly vertrouwelijk geheim vertraulich confidentiel confidencial
    """)
"""Closed by a yes, and by whatever is no plain no."""
_OPEN_FLAGS = frozenset({"public", "ispublic", "openbaar", "offentlich", "publico"})
_CLASSES = frozenset(
    {"classification", "confidentiality", "sensitivity", "securitylevel", "securityclassification", "status"}
)
"""Closed where they say so; most of what they say limits nobody."""
_CLOSED_WORDS = words("""
    private confidential restricted secret hidden strictlyconfidential highlyconfidential topsecret vertrouwelijk
    strengvertrouwelijk geheim vertraulich strengvertraulich confidentiel secreto confidencial prive privado privat
    """)
_TELLING = ("audience", "visibility")
"""A name that holds one of these, or is nearly one, speaks of readers."""
_NEARLY = 0.8
_OPEN = {EVERYONE} | words("""
    everyone everybody anyone anybody all any public open visible listed world iedereen allen openbaar publiek alle jeder
    offentlich oeffentlich tous toutlemonde public todos todoelmundo publico
    """)
_CLOSED = _CLOSED_WORDS | words("""
    internal intern interne interno none nobody unlisted draft me self admin admins owner false no true yes members
    niemand personne nadie team
    """)
"""Words that would pass for a channel's name and are none: whom they mean is not said."""


def names_a_limit(name: str) -> bool:
    """Whether a field of this name says who may read a page."""
    key = key_of(name)
    return key in _NAMES or key in _FLAGS or _speaks_of_readers(key)


def surely_limits(name: str) -> bool:
    """The same for what is no front matter by its form: there a common word may be a word of the page."""
    key = key_of(name)
    return key in _SURE or _speaks_of_readers(key)


def names_readers(value: object) -> bool:
    """Whether a value has the form of Slack's names: in a line of text, "Audience: engineers" may describe readers."""
    return re.search(r"(?<!\w)[#@][\w-]|\b[CGS](?=[A-Z]*\d)[A-Z0-9]{5,}\b", text_of(value)) is not None


def audience_of(fields: Fields, twice: Iterable[str]) -> tuple[str, ...] | None:
    """The marks of channels and groups; None where nothing limits the page.

    Raises:
        PageError: it is limited, to nobody that could be told.
    """
    for name in twice:
        if names_a_limit(name):
            raise _closed(f"its front matter has `{name}` twice: keep one")
    limits = [one for one in fields.all if one.own and one.key in _NAMES]
    marks = [mark for one in limits if one.key in _OURS for mark in _marks(one)]
    named = any(mark != EVERYONE for mark in marks)
    for one in fields.all:
        _check(one, named=named)
    marks += [
        mark
        for one in limits
        if one.key not in _OURS and not (named and _is_closed(one))
        for mark in _marks(one)
    ]
    restricting = {mark for mark in marks if mark != EVERYONE}
    if restricting and EVERYONE in marks:
        raise _closed("its audience names channels and 'everyone': write one or the other")
    return tuple(sorted(restricting)) or None


def _is_closed(one: Field) -> bool:
    """`visibility: private` beside an audience: whom it means is said there."""
    return all(key_of(entry) in _CLOSED for entry in text_of(one.value).split(","))


def _marks(one: Field) -> list[str]:
    return [_mark(entry, one) for entry in _entries(one)]


def _check(one: Field, *, named: bool) -> None:
    """Everything that limits readers otherwise than by naming them, which is enough where they are `named` as well."""
    said = text_of(one.value)
    if not one.own:
        if one.key in _OURS - {"channels"} or _speaks_of_readers(one.key):
            raise _closed(
                f"its front matter has `{one.name}` inside another field, where it is not read: write it at the top"
            )
        return
    if one.key not in _NAMES and _speaks_of_readers(one.key):
        raise _closed(f"its front matter has `{one.name}`, which may limit its readers: write `audience`")
    if named:
        return
    if one.key in _FLAGS and said and truth_of(one.value) is not False:
        raise _limited(one, said)
    if one.key in _OPEN_FLAGS and said and truth_of(one.value) is not True:
        raise _limited(one, said)
    if one.key in _CLASSES and key_of(said) in _CLOSED_WORDS:
        raise _limited(one, said)
    if one.key == "password" and said:
        raise _closed("it has a `password` in its front matter: name its readers by `audience` instead")


def _speaks_of_readers(key: str) -> bool:
    if any(word in key for word in _TELLING):
        return True
    return any(
        abs(len(key) - len(word)) <= 2 and SequenceMatcher(None, key, word).ratio() >= _NEARLY
        for word in _TELLING
    )


def _entries(one: Field) -> list[str]:
    limit = one.value
    if isinstance(limit, bool) or (
        isinstance(limit, str) and one.key == "visible" and truth_of(limit) is not None
    ):
        if one.key == "visible" and truth_of(limit):
            return [EVERYONE]
        raise _limited(one, text_of(limit))
    if limit is None or isinstance(limit, str):
        entries = [entry.strip() for entry in text_of(limit).split(",")]
    elif isinstance(limit, list) and all(isinstance(entry, str) for entry in limit):
        entries = [entry.strip() for entry in limit]
    else:
        raise _closed(f"its {one.name} is no list: write for example audience: ['#people-leads', '@finance']")
    entries = [entry for entry in entries if entry]
    if not entries:
        raise _closed(f"its {one.name} is empty: name channels, or 'everyone'")
    return entries


def _mark(entry: str, one: Field) -> str:
    if entry == EVERYONE or key_of(entry) in _OPEN:
        return EVERYONE
    if _CHANNEL_ID.fullmatch(entry) or _GROUP_ID.fullmatch(entry):
        return entry
    if _GROUP_HANDLE.fullmatch(entry):
        return entry.lower()
    if _CHANNEL_NAME.fullmatch(entry) and (entry.startswith("#") or _may_be_bare(entry, one)):
        return f"#{entry.removeprefix('#').lower()}"
    raise _closed(
        f"its {one.name} {entry!r} is no channel or user group: write audience: '#people-leads', 'C0123456' or '@finance', "
        "or 'everyone' for all of the company"
    )


def _may_be_bare(entry: str, one: Field) -> bool:
    """`audience: people-leads` names a channel; of other names and other words it is not known what they mean."""
    return one.key in _OURS and key_of(entry) not in _CLOSED


def _limited(one: Field, said: str) -> PageError:
    return _closed(
        f"its front matter says `{one.name}: {said}`: name its readers by `audience: ['#people-leads']`, "
        "or `audience: everyone` for all of the company"
    )


def _closed(reason: str) -> PageError:
    return PageError(reason, withdraw=True)


def mentions_a_limit(content: bytes) -> bool:
    """Whether undecodable bytes seem to limit their readers: then what was public before may no longer be."""
    head = folded(
        content[:10_000].replace(b"\0", b"").decode("ascii", errors="ignore")
    )  # UTF-16: every second byte
    return any(
        names_a_limit(found)
        for found in re.findall(r"^[ \t]*[\"']?([\w -]{1,40}?)[\"']?[ \t]*[:=]", head, re.MULTILINE)
    )
