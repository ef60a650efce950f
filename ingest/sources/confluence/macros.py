"""What each macro of Confluence becomes in Markdown. A macro that is not named here becomes its body."""

from __future__ import annotations

from ingest.sources.confluence.elements import Macro, attribute, name_of
from ingest.sources.confluence.links import PageLinks
from ingest.sources.confluence.shapes import fenced, quoted

SILENT = frozenset(
    [
        "toc",
        "toc-zone",
        "children",
        "pagetree",
        "pagetreesearch",
        "recently-updated",
        "livesearch",
        "contributors",
        "contributors-summary",
        "content-by-label",
        "contentbylabel",
        "blog-posts",
        "labels-list",
        "listlabels",
        "popular-labels",
        "related-labels",
        "navmap",
        "space-list",
        "profile",
        "profile-picture",
        "change-history",
        "create-from-template",
        "attachments",
        "gallery",
        "favpages",
        "detailssummary",
        "tasks-report-macro",
        "style",
        "anchor",
    ]
)
"""Made of other pages' data, or of no words at all."""
INLINE = frozenset(
    [
        "status",
        "jira",
        "jiraissues",
        "anchor",
        "eazy-math-inline",
        "mathinline",
        "mention",
        "profile",
        "unmigrated-inline-wiki-markup",
    ]
)
_PANELS = {"info": "Info", "note": "Note", "tip": "Tip", "warning": "Warning", "panel": ""}


def inline(macro: Macro, links: PageLinks) -> str:
    """A macro within a line."""
    match macro.name:
        case "status":
            return macro.parameters.get("title") or macro.parameters.get("colour", "")
        case "jira" | "jiraissues":
            return _jira(macro, links)
        case "eazy-math-inline" | "mathinline":
            return f"${macro.parameters.get('body', '')}$"
        case "unmigrated-inline-wiki-markup":
            return " ".join((macro.plain or "").split())
        case _:
            return ""


def _jira(macro: Macro, links: PageLinks) -> str:
    key = macro.parameters.get("key")
    if key:
        return links.issue(key)
    query = macro.parameters.get("jqlQuery") or macro.parameters.get("jql")
    return f"Jira issues: {query}" if query else ""


def block(macro: Macro, body: list[str], links: PageLinks) -> list[str]:
    """A macro that stands alone; `body` is its rich text as Markdown."""
    match macro.name:
        case "info" | "note" | "tip" | "warning" | "panel":
            return _panel(macro, body)
        case "code" | "noformat" | "paste-code-macro" | "plantuml" | "mermaid" | "mermaid-cloud":
            return _code(macro, body)
        case "expand" | "ui-expand":
            return [f"**{title}**", *body] if (title := macro.parameters.get("title")) and body else body
        case "include" | "excerpt-include" | "excerptinclude":
            return _include(macro, links)
        case "easy-math-block" | "mathblock" | "mathdisplay":
            return [f"$${formula}$$"] if (formula := macro.parameters.get("body") or macro.plain) else []
        case "view-file" | "viewpdf" | "viewdoc" | "viewxls" | "viewppt":
            names = [attribute(target, "ri:filename") for target in macro.targets]
            return [f"Attached: {', '.join(filter(None, names))}"] if any(names) else body
        case _:
            return body or _code(macro, body)


def _panel(macro: Macro, body: list[str]) -> list[str]:
    head = ": ".join(part for part in (_PANELS[macro.name], macro.parameters.get("title", "")) if part)
    return [quoted([f"**{head}**", *body] if head else body)] if body or macro.parameters.get("title") else []


def _code(macro: Macro, body: list[str]) -> list[str]:
    title = macro.parameters.get("title")
    code = macro.plain if macro.plain is not None else "\n".join(body)
    shown = [fenced(code, macro.parameters.get("language", "").split(" ")[0])] if code.strip() else []
    return [f"**{title}**", *shown] if title and shown else shown


def _include(macro: Macro, links: PageLinks) -> list[str]:
    for target in macro.targets:
        if name_of(target) in ("ri:page", "ri:blog-post"):
            title = attribute(target, "ri:content-title")
            return [f"See {links.markdown(title, links.page(title, attribute(target, 'ri:space-key')))}"]
    named = macro.parameters.get("") or macro.parameters.get("default-parameter", "")
    return [f"See {links.markdown(named, links.page(named))}"] if named else []
