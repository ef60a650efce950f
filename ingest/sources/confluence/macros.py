"""What each macro of Confluence becomes in Markdown. A macro that is not named here becomes its title and its body."""

from __future__ import annotations

import re

from ingest.sources.confluence.elements import Macro, attribute, name_of
from ingest.sources.confluence.lines import code, plain, some, titled, words
from ingest.sources.confluence.links import USER_IDS, PageLinks
from ingest.sources.markup import fenced, literal, quoted

_SILENT_NAMES = """
toc children pagetree pagetreesearch recently-updated livesearch contributors contributors-summary content-by-label
contentbylabel blog-posts labels-list listlabels popular-labels related-labels navmap space-list change-history
create-from-template attachments gallery favpages detailssummary tasks-report-macro style anchor
"""
_SILENT = frozenset(_SILENT_NAMES.split())
"""Macros made of other pages' data, or of no words at all."""
_PEOPLE = frozenset({"profile", "profile-picture", "mention", "user-profile"})
_INCLUDES = frozenset({"include", "excerpt-include", "excerptinclude"})
INLINE = _PEOPLE | {
    "status", "jira", "jiraissues", "anchor", "eazy-math-inline", "mathinline", "unmigrated-inline-wiki-markup",
}  # fmt: skip
"""Macros that stand within a line wherever they are."""
_PANELS = {"info": "Info", "note": "Note", "tip": "Tip", "warning": "Warning", "panel": ""}
_CODE = frozenset({"code", "noformat", "paste-code-macro", "plantuml", "mermaid", "mermaid-cloud"})
BLOCKS = _PANELS.keys() | _CODE | {"expand", "ui-expand"}
"""Macros that stand alone, even in the middle of a paragraph."""
_TITLES = (
    "title", "label", "heading", "header", "caption", "question", "summary", "tabname", "tab-title", "tabtitle",
)  # fmt: skip
"""Parameters by which add-ons name the title that they show over their body; in any case of letters."""
_FOLDED = re.compile("expand|tab(?!le)|accordion|card|toggle|collaps|spoiler|faq")
"""Names of macros that fold a text under its title, which may be their parameter without a name."""
_UNTITLED = frozenset(
    {"details", "excerpt", "multiexcerpt", "multiexcerpt-macro", "section", "column", "toc-zone"}
)
"""Their parameters of these names are for other pages to refer to."""
_LIMITED = ("show-if", "show-to", "hide-if", "hide-from", "visibility", "user-visibility", "secret", "secure")
"""How add-ons call a macro that shows its body to some of the readers alone."""


def is_hidden(macro: Macro) -> bool:
    """Whether a macro shows a reader nothing. A hidden excerpt or table of properties is for other pages."""
    silent = macro.name in _SILENT and macro.rich is None
    return silent or macro.parameters.get("hidden") == "true"


def is_limited(macro: Macro) -> bool:
    """Whether a macro shows its body to some readers of the page only; to whom, is unknown here."""
    return macro.name.startswith(_LIMITED)


def inline(macro: Macro, body: str, links: PageLinks) -> str:
    """Writes a macro within a line; `body` is its rich text in one."""
    match macro.name:
        case "status":
            return literal(macro.parameters.get("title") or macro.parameters.get("colour", ""))
        case "jira" | "jiraissues":
            return _jira(macro, links)
        case "eazy-math-inline" | "mathinline":
            return f"${macro.parameters.get('body', '')}$"
        case "unmigrated-inline-wiki-markup":
            return plain(macro.plain)
        case name if name in _PEOPLE:
            return _person(macro, links)
        case name if name in _INCLUDES:
            return f"({' '.join(_include(macro, links)).replace('See ', 'see ', 1)})"
        case _:
            title = _title(macro)
            text = body if body.strip() else code(macro.plain or "")
            return f"{title}: {text}" if title and text.strip() else text or title


def block(macro: Macro, body: list[str], links: PageLinks) -> list[str]:
    """Writes a macro that stands alone; `body` is its rich text as Markdown."""
    match macro.name:
        case name if name in _PANELS:
            return _panel(macro, body)
        case name if name in _CODE:
            return _code(macro, body)
        case "expand" | "ui-expand":
            return [f"**{title}**", *body] if (title := _title(macro)) else body
        case name if name in _INCLUDES:
            return _include(macro, links)
        case "easy-math-block" | "mathblock" | "mathdisplay":
            return [f"$${formula}$$"] if (formula := macro.parameters.get("body") or macro.plain) else []
        case "widget" | "iframe":
            address = macro.parameters.get("url") or _resource(macro, "ri:url", "ri:value")
            return some(links.markdown(_title(macro), address))
        case _:
            return titled(_title(macro), body or _attached(macro) or _code(macro, []))


def _title(macro: Macro) -> str:
    if macro.name in _UNTITLED:
        return ""
    given = {name.lower(): value for name, value in macro.parameters.items()}
    names = (*_TITLES, "") if _FOLDED.search(macro.name) else _TITLES
    return next((literal(words(given[name])) for name in names if given.get(name, "").strip()), "")


def _person(macro: Macro, links: PageLinks) -> str:
    for target in macro.targets:
        names = (links.people.get(attribute(target, user_id), "") for user_id in USER_IDS)
        if name := next(filter(None, names), ""):
            return literal(name)
    return literal(macro.parameters.get("user") or macro.parameters.get("User") or "")


def _jira(macro: Macro, links: PageLinks) -> str:
    key = macro.parameters.get("key")
    if key:
        return links.issue(key)
    query = macro.parameters.get("jqlQuery") or macro.parameters.get("jql")
    return literal(f"Jira issues: {query}") if query else ""


def _panel(macro: Macro, body: list[str]) -> list[str]:
    sign = macro.parameters.get("panelIconText", "").strip()
    head = ": ".join(part for part in (_PANELS[macro.name], _title(macro)) if part)
    blocks = [f"**{head}**", *body] if head else body
    if sign and blocks:
        first, *rest = blocks
        blocks = [sign, *blocks] if first.startswith(("|", "```")) else [f"{sign} {first}", *rest]
    return some(quoted(blocks))


def _code(macro: Macro, body: list[str]) -> list[str]:
    text = macro.plain if macro.plain is not None else "\n".join(body)
    shown = [fenced(text, macro.parameters.get("language", "").split(" ")[0])] if text.strip() else []
    title = _title(macro)
    return [f"**{title}**", *shown] if title and shown and macro.name in _CODE else shown


def _include(macro: Macro, links: PageLinks) -> list[str]:
    for target in macro.targets:
        if name_of(target) in ("ri:page", "ri:blog-post"):
            title = attribute(target, "ri:content-title")
            address = links.page(title, attribute(target, "ri:space-key"))
            return [f"See {links.markdown(literal(title), address)}"]
    named = macro.parameters.get("") or macro.parameters.get("default-parameter", "")
    return [f"See {links.markdown(literal(named), links.page(named))}"] if named else []


def _attached(macro: Macro) -> list[str]:
    """Writes the name of a file that the macro shows. Its text is no part of the page."""
    shows_file = macro.name.startswith("view") or macro.name in ("multimedia", "pdf")
    named = macro.parameters.get("name") or macro.parameters.get("filename", "") if shows_file else ""
    name = _resource(macro, "ri:attachment", "ri:filename") or named
    return [f"Attached: {literal(name)}"] if name else []


def _resource(macro: Macro, kind: str, name: str) -> str:
    found = (attribute(target, name) for target in macro.targets if name_of(target) == kind)
    return next(filter(None, found), "")
