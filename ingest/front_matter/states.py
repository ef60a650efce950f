"""Whether a page is in force, by its front matter: a draft is not indexed, a deprecated page is, with a warning.

Drafts of Hugo, Zola, Docusaurus, Quarto, MkDocs, Astro and Starlight (`draft`), Jekyll,
Hexo and Gatsby (`published`), Obsidian (`publish`), Docusaurus' `unlisted`, Hugo's
`headless`, `build` and `publishDate`, `search: {exclude: true}` of MkDocs, `valid_from`, and `status` as wikis and
WordPress have it.
"""

from __future__ import annotations

import re
from datetime import date

from ingest.errors import PageError
from ingest.front_matter.dates import UnreadableDateError, parse_date
from ingest.front_matter.fields import Field, Fields, is_given, key_of, text_of, truth_of
from ingest.front_matter.language_words import field_names, folded, listed, words
from kb.text.language_files import sections

_DRAFTS = ("draft", "is_draft", "unlisted", "hidden", "headless", "unpublished")
_DRAFTS_IF_TRUE = ("embargo", *field_names("draft_fields"))
"""Words that are the names of other things as well."""
_UNSEARCHED_IF_TRUE = (
    "search.exclude",
    "search_exclude",
    "exclude_search",
    "exclude_from_search",
    "book_search_exclude",
)
_UNSEARCHED_IF_FALSE = ("search", "searchable", "in_search", "pagefind")
"""Material for MkDocs, Just the Docs, Docsy, Hugo Book; VitePress, Starlight."""
_PUBLISHED = ("published", "publish", "is_published", "listed", "render", *field_names("published_fields"))
_STARTS = (
    "publish_date",
    "publish_on",
    "publish_at",
    "scheduled",
    "embargo",
    "embargo_until",
    "embargoed_until",
    "pub_date",
    "published_on",
    "published_at",
)
_IN_FORCE_FROM = (
    "valid_from",
    "effective_date",
    "effective_from",
    "effective_as_of",
    "in_force_from",
    "in_effect_from",
    "applies_from",
)
_STATUS = (
    "status", "state", "page_status", "doc_status", "document_status", "publication_status", "lifecycle", "stage", "workflow",
    "workflow_state", "workflow_status", *field_names("status_fields"),
)  # fmt: skip
_DRAFT_WORDS = listed("front_matter", "drafts") | words(
    "bozza szkic kladd kladde utkast luonnos taslak черновик 草稿 下書き 草案 초안"
)
"""With those of languages that have no file."""
_NOT_PUBLISHED = listed("front_matter", "unpublished")
_FEW = 4
"""Most words of a state; of a sentence only the first word counts."""
_NEGATIONS = listed("front_matter", "negations") - {"de", "un"}
"""What is "un-" or "de-" something is no negation of a state: "un brouillon"."""
_RETIRED = field_names("retired_fields")
_RETIRED_WORDS = listed("front_matter", "retired")
_BEFORE_SUCCESSOR = [
    r"\s+".join(phrase.split())
    for texts in sections("front_matter")
    for phrase in texts.get("replaced_by", ())
]
_REPLACED_BY = re.compile(rf"(?:{'|'.join(_BEFORE_SUCCESSOR)})\s+(?P<named>.+)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*)[^)]*\)")


def check_published(fields: Fields, today: date) -> None:
    """Leaves out a page that is not in force.

    Raises:
        PageError: the page is a draft, is hidden, is kept out of searches, or is published or in force later.
    """
    for field in fields.named(*_DRAFTS):
        if is_given(field.value) and truth_of(field.value) is not False:
            raise _draft(field)
    for field in fields.named(*_DRAFTS_IF_TRUE):
        if truth_of(field.value):
            raise _draft(field)
    for field in fields.named(*_PUBLISHED):
        if truth_of(field.value) is False or _is_draft(text_of(field.value)):
            raise _draft(field)
    for field in fields.named(*_STATUS):
        if _is_draft(text_of(field.value)):
            raise _draft(field)
    for field in fields.named("build", "_build"):
        shown = field.value if isinstance(field.value, dict) else {}
        if any(truth_of(shown.get(name)) is False for name in ("render", "list")):
            raise _left_out(f"it is not published (`{field.name}` in its front matter)")
    for excludes, names in ((True, _UNSEARCHED_IF_TRUE), (False, _UNSEARCHED_IF_FALSE)):
        for field in fields.named(*names):
            if truth_of(field.value) is excludes:
                raise _left_out(f"it is kept out of searches (`{field.name}` in its front matter)")
    _check_begun(fields, today)


def _check_begun(fields: Fields, today: date) -> None:
    for begins, names in (("published on", (*_STARTS, "published")), ("in force from", _IN_FORCE_FROM)):
        for field in fields.named(*names):
            if _is_later(text_of(field.value), today):
                day = parse_date(text_of(field.value))
                raise _left_out(f"it is {begins} {day} (`{field.name}` in its front matter)")


def _draft(field: Field) -> PageError:
    return _left_out(f"it is a draft (`{field.name}: {text_of(field.value)}` in its front matter)")


def _left_out(why: str) -> PageError:
    return PageError(f"{why}: nothing of it is indexed", withdraw=True, left_out=True)


def _is_draft(text: str) -> bool:
    """Recognizes "Draft", "draft v0.2", "Final draft", "draft (do not share)"."""
    if key_of(text) in _NOT_PUBLISHED:
        return True
    parts = [key_of(word) for word in _WORD.findall(text)]
    if not parts or parts[0] in _NEGATIONS:
        return False
    return parts[0] in _DRAFT_WORDS or (len(parts) <= _FEW and parts[-1] in _DRAFT_WORDS)


def retired_as(fields: Fields, today: date) -> str | None:
    """Returns the author's own word for a page that is no longer kept up ("deprecated"); None: it is."""
    for field in fields.named(*_STATUS):
        if word := _retired_word(text_of(field.value)):
            return word
    for field in fields.named(*_RETIRED):
        if (
            is_given(field.value)
            and truth_of(field.value) is not False
            and not _is_later(text_of(field.value), today)
        ):
            return folded(field.name)
    return None


def _retired_word(text: str) -> str | None:
    """Recognizes "Deprecated", "no longer valid", "deprecated since 2025", "now obsolete"; not "never archived"."""
    parts = _WORD.findall(text)
    if key_of(text) in _RETIRED_WORDS:
        return " ".join(parts)
    if not parts or key_of(parts[0]) in _NEGATIONS:
        return None
    candidates = parts if len(parts) <= _FEW else parts[:1]
    return next((word for word in candidates if key_of(word) in _RETIRED_WORDS), None)


def _is_later(text: str, today: date) -> bool:
    """Tells whether a state holds only from a day to come on: `archived: 2027-01-01`."""
    try:
        return parse_date(text) > today
    except UnreadableDateError:
        return False


def replaced_by(fields: Fields) -> str | None:
    """Returns what `status: superseded by [Leave](leave.md)` names, as decision records have it."""
    for field in fields.named(*_STATUS):
        if found := _REPLACED_BY.match(text_of(field.value)):
            link = _LINK.search(found["named"])
            return (link[2] or link[1]) if link else found["named"].strip(" .")
    return None
