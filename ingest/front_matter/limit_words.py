"""The words by which front matter says who may read a page: names of fields, and what they hold.

Each in one spelling (`key_of`): without case, accents, spaces and signs. Lists for what is said in
one word, a rule where people put names together: `who_can_read`, `viewable_by`, `permitted_groups`.
"""

from __future__ import annotations

import re

from ingest.front_matter.fields import key_of
from ingest.front_matter.language_words import listed, words
from ingest.front_matter.lookalikes import plainly
from kb.models import EVERYONE

OURS = frozenset({"audience", "channels"})


def _of(name: str) -> frozenset[str]:
    return listed("front_matter", name)


NAMES = (
    OURS
    | _of("readers")
    | words("""
    audiences visibility visible channel readers readable readableby visibleto visiblefor visiblein restrictedto restrictto
    restrictions restriction restrict targetgroup targetgroups limitedto limitto limitedfor accessible accessibleto access
    accesslevel accesscontrol accessgroups accessroles acl permissions permission permittedto allowedchannels allowedgroups
    allowedreaders allowedusers allowedroles allow allowed viewers viewer viewableby viewableto sharedwith sharewith sharedto
    groups usergroups usergroup readergroups requiredroles requiredrole requiredgroups roles onlyfor privacy reader readby
    clearance only
    pubblico destinatari visibilita lettori malgrupp malgruppe synlighet odbiorcy widocznosc soloper riservatoa odbiorca
    kohderyhma hedefkitle
    公開範囲 対象読者 対象者 閲覧者 الجمهور קהל 受众 读者 可见性 可见范围 公开范围
    """)
    | {
        key_of(plainly(name))
        for name in ("аудитория", "целевая аудитория", "독자", "대상", "читатели", "видимость", "доступ")
    }
)
"""Here and below: those of languages that have no file stand among the names that programs and English have."""
SURE = (
    OURS
    | _of("readers_surely")
    | words("""
    channel readers viewers acl readableby visibleto visiblefor visiblein restrictedto limitedto onlyfor sharedwith allowedchannels
    allowedgroups allowedreaders viewableby accessibleto malgrupp 公開範囲 対象読者
    """)
    | {key_of(plainly("аудитория"))}
)
WORDS_OF_PAGES = frozenset({"channel", "channels"})
"""An ordinary page says "Slack channel: #help-pay", which tells where to ask and limits nobody."""
FLAGS = _of("closed_fields") | words("""
    private confidential restricted internal internalonly secret protected membersonly loginrequired requirelogin
    requireslogin requiresauth requireauth authrequired authenticated passwordprotected staffonly hronly managersonly
    managementonly leadersonly employeesonly adminonly
    adminsonly nonpublic notpublic gated encrypted limited embargoed needtoknow isprivate isconfidential isrestricted
    isinternal issecret sensitive protect offlimits riservato poufne
    """)
"""Closed by a yes, and by whatever is no plain no."""
IF_NAMED = words("""
    for who share show showto shownto sharing group role scope distribution distributionlist
    """)
"""Names of much else: a limit where Slack's names are what they hold."""
DENIALS = words("deny denied denyto hiddenfrom notfor notvisibleto invisibleto excludedaudience")
"""Closed by whatever they name."""
OPEN_FLAGS = _of("open_fields") | words("public ispublic publicaccess unrestricted shareable")
PASSWORDS = words("password passphrase passcode accesscode pagepassword")
"""Closed by whatever they hold."""
GRADED = _of("graded_fields") | words("""
    classification confidentiality confidentialitylevel sensitivity securitylevel securityclassification security tlp
    sensitivitylabel protectivemarking datalabel dataclassification informationclassification handling distribution
    accessrights
    """)
CLASSES = GRADED | words(
    "status state scope view share sharing distribution level type category marking mode policy"
)
"""Closed where they say so; most of what they say limits nobody."""
CLOSED_WORDS = _of("closed") | words("""
    private confidential restricted secret hidden strictlyconfidential highlyconfidential topsecret companyconfidential
    officialsensitive sensitive tlpred tlpamber tlpamberstrict needtoknow eyesonly riservato
    """)
HIGH = _of("high") | words("high veryhigh critical red amber amberstrict")
"""Words of a sensitivity; of a `status` they say something else."""
OPEN = (
    {EVERYONE}
    | _of("open")
    | words("""
    everyone everybody anyone anybody all any public open visible listed world
    """)
)
CLOSED = (
    CLOSED_WORDS
    | _of("nobody")
    | words("""
    internal none nobody unlisted draft me self admin admins owner false no true yes members team
    """)
)
"""Words that look like a channel's name but are not: they do not say whom they mean."""


MADE_OF = re.compile(
    r"(?:who)?(?:can|may)(?:be)?(?:read|view|see|access|seen|viewed)(?:by|it|this|thispage)?|whohasaccess|(?:visible|viewable|readable)\w+"
    r"|(?:only)?(?:visible|viewable|readable|shown|intended|reserved|restricted|limited|private|confidential|accessible|permitted|shared)"
    r"(?:only)?(?:to|for|by|with)(?:only)?"
    r"|(?:read|view|page)(?:access|rights?|permissions?|roles?|groups?)"
    r"|(?:page|doc|document|intended|approved|allowed|primary)?(?:readers?|viewers?|recipients?|readership)"
    r"|(?:security|ad|aad|ldap|iam|okta|permitted|authori[sz]ed|allowed|access|viewer)"
    r"(?:groups?|users?|roles?|teams?|members?|emails?|domains?|people|persons?|employees?|departments?)"
    r"|(?:access|allow|allowed|white|reader)(?:list|policy)|(?:roles?|groups?|users?|teams?)(?:allowed|permitted)|memberof|min(?:imum)?roles?"
    r"|require[ds]?(?:roles?|groups?|teams?|permissions?)|viewable|permitted|authori[sz]ed|entitlements?|principals|publishedto"
)
"""Names for readers that people put together."""
ONLY = re.compile(
    r"(?:is|page|doc|team|document)(?:private|confidential|restricted)|(?:private|confidential|restricted)(?:page|doc|document|access|notice|content|info)"
    r"|(?:do)?(?:not?|nt|dont)(?:be)?(?:shared?|sharing|distributed?|distribution|disclosed?|disclosure|forward(?:ed)?|circulated?|access|forn)"
    rf"|(?:non|not|{'|'.join(sorted(_of('negations')))})(?:{'|'.join(sorted(_of('open_fields')))})"
    r"|confidentialitynotice|limitedaccess|(?:under)?nda|need(?:s)?login|(?:hiddenfrom|notfor)\w+|(?!(?:read|append|write|text|web|mobile|desktop|client|server|browser|print|html|pdf|api|css|js|dev|test|build|local|toc|nav|sidebar|menu|link"
    r"|title|icon|image|code|docs?|linux|windows|mac|macos|ios|android|cloud|english|online|light|dark|head(?:ings?|ers?)?)only)\w+only"
)
"""Flags that people put together: `private_page`, `team_only`,
`finance-only`. What is for a kind of machine only is for all.
"""
SIGNED_IN = re.compile(
    r"(?:is|requires?|needs?|must)?(?:be)?(?:login|signin|sso|auth|authentication|authenticated|loggedin|signedin)(?:required|needed)?"
)
"""Closed by a yes, or by "required"; a page about an interface says `auth: jwt`."""
_READ_ONLY = "lectura|lettura|leitura|lecture|lesen|lezen|text"
ONLY_FOR = re.compile(rf"(?:{'|'.join(sorted(_of('limiting')))})(?!{_READ_ONLY})\w+")
"""`nur_hr`, `alleen_hr`: closed by a yes."""
LABELS = words(
    "tags tag labels label categories category keywords keyword topics topic filetags markings flags"
)
LIMITING_LABELS = _of("closed_labels") | words("""
    private confidential restricted strictlyconfidential highlyconfidential companyconfidential topsecret internalonly
    eyesonly needtoknow riservato
    """)
"""Labels that limit a page; "secret" and "sensitive" are what pages are about."""
BEGINS = words("status state scope view share sharing marking rights license licence copyright")
"""Which begin with what they say: "Private (HR)"."""
_WORDS_OF_LABELS = _of("labels_of_subjects") | words(
    "secret protected sensitive internal encrypted gated limited embargoed loginrequired authrequired"
)
_CLASS = re.compile(
    r"classification|confidentiality|sensitivity|secrecy|^(?:data|info|information|security|document|doc)?class$|^protection(?:level)?$"
)
_NUMBERED = frozenset("3456789")
_LIMITING = _of("limiting") | words("soltanto")
_NEGATIONS = _of("negations")
_WORD = re.compile(r"[^\W\d_]+")
_FEW = 4
"""Most words of a state; more are a sentence."""
_LABELLED = re.compile(r"(?:^|[\s,;#])audiences?[/:=]\s*(?!everyone|all\b|public)\S", re.IGNORECASE)
GRADE = re.compile(rf"\b(?:[cls]|level|tier|class|{'|'.join(sorted(_of('grades')))})[ -]?[3-9]\b")
"""Where a company numbers its classes, the first is public and the second for all of the company."""


def is_name(key: str) -> bool:
    """Tells whether a field of this key names readers."""
    return key in NAMES or MADE_OF.fullmatch(key) is not None


def is_flag(key: str) -> bool:
    """Tells whether a field of this key limits readers by a yes."""
    return key in FLAGS or ONLY.fullmatch(key) is not None


def is_closed_by_yes(key: str, text: str, *, truth: bool | None) -> bool:
    """Tells whether a field limits readers by a plain yes, and says yes; of a flag, whatever is no plain no is one."""
    required = SIGNED_IN.fullmatch(key) is not None and (truth is True or key_of(text) == "required")
    return required or (truth is True and ONLY_FOR.fullmatch(key) is not None)


def is_graded(key: str) -> bool:
    """Tells whether a field of this key holds a class of confidentiality."""
    return key in GRADED or _CLASS.search(key) is not None


def is_closed_class(key: str, text: str) -> bool:
    """Tells whether a class, a state or a kind says that a page is not for all: "Confidential - HR only", "C3"."""
    if not (key in CLASSES or key in BEGINS or is_graded(key)):
        return False
    class_ = key_of(text)
    if class_ in CLOSED_WORDS:
        return True
    parts = [key_of(part) for part in _WORD.findall(plainly(text))]
    if not parts or parts[0] in _NEGATIONS:
        return is_graded(key) and text.strip() in _NUMBERED
    if key in BEGINS:
        return parts[0] in CLOSED_WORDS and len(parts) <= _FEW
    if not is_graded(key):
        return False
    degrees = parts[1:] if parts[0] == "tlp" else [class_]
    limiting = any(part in CLOSED_WORDS or part in _LIMITING for part in parts)
    return limiting or any(degree in HIGH for degree in degrees) or GRADE.search(text.casefold()) is not None


def is_limiting_label(key: str, text: str) -> bool:
    """Tells whether one of a page's labels says that it is not for all."""
    if key in LABELS and _LABELLED.search(text):
        return True
    labels = (key_of(part) for part in re.split(r"[,;:|/()\n]|\s[-–—]\s", text)) if key in LABELS else ()
    return any(label in LIMITING_LABELS or label in FLAGS - _WORDS_OF_LABELS for label in labels)
