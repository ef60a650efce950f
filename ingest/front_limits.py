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
from ingest.front_fields import Field, Fields, is_given, key_of, text_of, truth_of
from ingest.front_lookalikes import plainly
from kb.models import EVERYONE

MARK = r"(?:(?<![\w#@/&])[#@](?=[^\W_])[\w.-]+|<(?:[#@]|!subteam|!here|!channel|!everyone)[^<>\n]*>|(?<![\w/#-])[CGS](?=[A-Z]*\d)[A-Z0-9]{5,}\b)"
"""How a channel, a person or a group is written in Slack."""
_CHANNEL_ID = re.compile(r"[CG][A-Z0-9]{5,}")
_CHANNEL_NAME = re.compile(r"#?[\w-]{1,80}")
_GROUP_ID = re.compile(r"S(?=[A-Z]*\d)[A-Z0-9]{5,}")
_GROUP_HANDLE = re.compile(r"@[\w.-]{1,80}")
_ADDRESSED = re.compile(
    r"<?[@!](?:here|channel|everyone)>?|[UWD](?=[A-Z]*\d)[A-Z0-9]{6,}", re.IGNORECASE | re.ASCII
)
"""Whom a message addresses, and ids of people and of direct messages."""
_OURS = frozenset({"audience", "channels"})
_NAMES = (
    _OURS
    | words("""
    audiences visibility visible channel readers readable readableby visibleto visiblefor visiblein restrictedto restrictto
    restrictions restrict limitedto limitto limitedfor accessible accessibleto access accesslevel accesscontrol accessgroups
    accessroles acl permissions permission permittedto allowedchannels allowedgroups allowedreaders allowedusers allowedroles
    allow allowed viewers viewer viewableby viewableto sharedwith sharewith sharedto groups usergroups usergroup readergroups requiredroles requiredrole requiredgroups roles onlyfor privacy reader readby clearance sigilo
    doelgroep doelgroepen zichtbaarheid zichtbaarvoor toegang lezers kanalen
    zielgruppe zielgruppen zielpublikum leserkreis sichtbarkeit sichtbarfur zugriff leser kanale empfangerkreis
    visibilite visiblepour acces lecteurs canaux destinataires publiccible
    audiencia visibilidad visiblepara acceso lectores canales publicoobjetivo publicoalvo destinatarios
    pubblico destinatari visibilita lettori leitores visibilidade acesso malgrupp malgruppe synlighet odbiorcy widocznosc
    公開範囲 対象読者 閲覧者 受众 读者 可见性 可见范围 公开范围
    """)
    | {key_of(plainly(name)) for name in ("аудитория", "читатели", "видимость", "доступ")}
)
_SURE = (
    _OURS
    | words("""
    channel readers viewers acl lezers leser lecteurs lectores readableby visibleto visiblefor visiblein restrictedto limitedto onlyfor sharedwith allowedchannels
    allowedgroups allowedreaders viewableby accessibleto doelgroep zielgruppe zielpublikum leserkreis zichtbaarheid
    zichtbaarvoor sichtbarkeit sichtbarfur publicoobjetivo publicoalvo publiccible destinataires destinatarios malgrupp 公開範囲 対象読者
    """)
    | {key_of(plainly("аудитория"))}
)
_WORDS_OF_PAGES = frozenset({"channel", "channels"})
"""An ordinary page says "Slack channel: #help-pay", which tells where to ask and limits nobody."""
_FLAGS = words("""
    private confidential restricted internal internalonly secret protected membersonly loginrequired requirelogin
    requireslogin requiresauth authrequired staffonly hronly managersonly managementonly leadersonly employeesonly adminonly
    adminsonly isprivate isconfidential isrestricted isinternal issecret sensitive
    vertrouwelijk geheim vertraulich intern confidentiel prive confidencial privado riservato poufne
    """)
"""Closed by a yes, and by whatever is no plain no."""
_IF_NAMED = words("""
    for who only share show showto shownto sharing group role scope distribution distributionlist nurfur alleenvoor reservea solopara
    """)
"""Names of much else: a limit where Slack's names are what they hold."""
_DENIALS = words("deny denied denyto hiddenfrom notfor notvisibleto invisibleto excludedaudience")
"""Closed by whatever they name."""
_OPEN_FLAGS = frozenset({"public", "ispublic", "openbaar", "offentlich", "publico"})
_GRADED = words("""
    classification confidentiality confidentialitylevel sensitivity securitylevel securityclassification security tlp
    sensitivitylabel protectivemarking datalabel vertraulichkeit vertrouwelijkheid
    """)
_CLASSES = _GRADED | words("status scope view share sharing distribution level type category marking mode")
"""Closed where they say so; most of what they say limits nobody."""
_CLOSED_WORDS = words("""
    private confidential restricted secret hidden strictlyconfidential highlyconfidential topsecret vertrouwelijk
    strengvertrouwelijk geheim vertraulich strengvertraulich confidentiel secreto confidencial prive privado privat
    companyconfidential officialsensitive sensitive tlpred tlpamber tlpamberstrict needtoknow eyesonly riservato
    """)
_HIGH = words("high veryhigh critical red amber amberstrict hoog hoch elevee alta")
"""Of a sensitivity; of a `status` they say something else."""
_TELLING = ("audience", "visibility")
"""A name that holds one of these, or is nearly one, speaks of readers."""
_NEARLY = 0.8
NAME_HINT = re.compile(
    "|".join(
        sorted(
            {name[at : at + 3] for name in _TELLING for at in range(len(name) - 2)}
            | {name[:3] for name in _SURE}
        )
    )
)
"""Three letters that every name has which surely names readers: a quick look in a long text."""
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
    key = _limit_key(name)
    return key in _NAMES or key in _FLAGS or key in _DENIALS or _speaks_of_readers(key)


def surely_limits(name: str) -> bool:
    """The same for what is no front matter by its form: there a common word may be a word of the page."""
    key = _limit_key(name)
    return key in _SURE or _speaks_of_readers(key)


def is_word_of_pages(name: str) -> bool:
    """Whether pages say it of something else as well, followed by one of Slack's names."""
    return _limit_key(name) in _WORDS_OF_PAGES


def closes(name: str, value: str) -> bool:
    """Whether a line that is no front matter by its form, but was meant as such, limits the readers of its page."""
    key, said = _limit_key(name), key_of(value.strip(" \t,;'\"[]{}()"))
    if said in _OPEN or EVERYONE in value:
        return False
    if surely_limits(name) or (key in _NAMES | _OPEN_FLAGS and (names_readers(value) or said in _CLOSED)):
        return True
    return (key in _FLAGS and truth_of(said) is True) or (key in _CLASSES and said in _CLOSED_WORDS)


def _limit_key(name: str) -> str:
    """As `key_of`, of what the name looks like."""
    return key_of(plainly(name))


def names_readers(value: object) -> bool:
    """Whether a value has the form of Slack's names: in a line of text, "Audience: engineers" may describe readers."""
    return re.search(r"(?<!\w)[#@][\w-]|\b[CGS](?=[A-Z]*\d)[A-Z0-9]{5,}\b", text_of(value)) is not None


def is_for_everyone(fields: Fields) -> bool:
    """Whether their author says so, rather than saying nothing."""
    return any(one.own and one.key in _OURS for one in fields.all)


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
        flagged = one.key in _FLAGS and truth_of(one.value) is True
        if (surely_limits(one.name) and not is_word_of_pages(one.name)) or flagged:
            raise _closed(
                f"its front matter has `{one.name}` inside another field, where it is not read: write it at the top"
            )
        return
    if one.key not in _NAMES and (_speaks_of_readers(_limit_key(one.name)) or _is_disguised(one)):
        raise _closed(f"its front matter has `{one.name}`, which may limit its readers: write `audience`")
    if one.key in _IF_NAMED and text_of(one.value).lstrip("'\" [").startswith(("#", "@")):
        raise _closed(f"its front matter has `{one.name}`, which may limit its readers: write `audience`")
    if one.key in _DENIALS and is_given(one.value):
        raise _closed(
            f"its front matter says by `{one.name}` who may not read it: name who may by `audience: ['#people-leads']`"
        )
    if named:
        return
    if one.key in _FLAGS and said and truth_of(one.value) is not False:
        raise _limited(one, said)
    if one.key in _OPEN_FLAGS and said and truth_of(one.value) is not True:
        raise _limited(one, said)
    if one.key in _CLASSES and _is_high(one.key, key_of(said)):
        raise _limited(one, said)
    if one.key == "password" and said:
        raise _closed("it has a `password` in its front matter: name its readers by `audience` instead")


def _is_disguised(one: Field) -> bool:
    """Whether it is a limit to the eye alone: a letter in its name is of another script."""
    return _limit_key(one.name) != one.key and names_a_limit(one.name)


def _is_high(key: str, said: str) -> bool:
    return said in _CLOSED_WORDS or (key in _GRADED and said in _HIGH)


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
    if _ADDRESSED.fullmatch(entry):
        raise _closed(
            f"its {one.name} {entry!r} is no group of readers: write channels or user groups, or 'everyone' for all of the company"
        )
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
        for found in re.findall(r"^\W*([\w -]{1,40}?)[\"'`*]*[ \t]*[:=]", head, re.MULTILINE)
    )
