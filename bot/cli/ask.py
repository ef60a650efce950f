"""`footnote ask`: one question in the terminal."""

from __future__ import annotations

import logging
from datetime import date
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from bot.cli.output import print_json
from bot.cli.session.requests import AskReply, AskRequest
from bot.cli.session.session import open_session
from bot.messages.catalog import Messages, messages_in
from bot.rendering.notes import note_wording, relevant_notes
from kb.config.settings import Settings

EXIT_CODES = {"answered": 0, "chat": 0, "closest": 3, "declined": 3, "unclear": 4, "unavailable": 5}


async def ask(settings: Settings, request: AskRequest, *, as_json: bool, why: bool) -> int:
    # That the cross-encoder could not be had is told by `footnote status` and `doctor`, not before each answer.
    logging.getLogger("kb.retrieval.rerank").setLevel(logging.ERROR)
    async with open_session(settings, "ask", models=True) as session:
        reply = await session.ask(request)
    if as_json:
        print_json(_told(reply, why=why))
    else:
        _show(reply, why=why)
    return EXIT_CODES[reply.answer["outcome"]]


def _told(reply: AskReply, *, why: bool) -> dict[str, Any]:
    """Returns the documented keys of an answer and no others; with `why` also its trace and the nearest passages."""
    fields = {name: value for name, value in reply.answer.items() if name != "nearest"}
    return {**fields, "nearest": reply.answer["nearest"], "trace": reply.trace} if why else fields


def _show(reply: AskReply, *, why: bool) -> None:
    console = Console()
    answer = reply.answer
    messages = messages_in(answer["language"])
    if answer["interpreted"]:
        template = messages.interpreted_as.replace("_{query}_", "[italic]{query}[/italic]")
        console.print(f"{template.format(query=_plain(answer['interpreted']))}\n", highlight=False)
    quotes = answer["quotes"]
    # Under quotes stand the addresses of all that is named: within their heads they would be hard to read.
    console.print(_in_words(Markdown(answer["answer"], hyperlinks=bool(quotes))))
    for warning in reply.warnings:
        console.print()
        console.print(Markdown(warning), style="yellow")
    quoted = {quote["url"].partition("#")[0] for quote in quotes}
    named = [*quotes, *(page for page in answer["nearest"] if page["url"] not in quoted)]
    sources = (
        [_address(page) for page in named]
        if quotes
        else [_source(citation, messages) for citation in answer["citations"]]
    )
    for index, line in enumerate(dict.fromkeys(sources)):
        console.print(line if index else f"\n{line}", highlight=False)
    notes = _notes(reply)
    if notes:
        console.print(f"\n[dim]{_plain(' '.join(notes))}[/dim]", highlight=False)
    if why:
        _show_why(console, reply)


def _in_words(markdown: Markdown) -> Markdown:
    """Puts the words of an image in its place, and the address in that of a `mailto:`."""
    for token in (token for block in markdown.parsed for token in block.children or ()):
        if token.type == "image":
            token.type = "text"
        if token.type == "text":
            token.content = token.content.removeprefix("mailto:")
    return markdown


def _notes(reply: AskReply) -> list[str]:
    """Words what was degraded, except that the reranker is off, which `footnote status` shows."""
    answer, checked = reply.answer, reply.trace["checked"]
    notes = relevant_notes(answer["notes"], answer["outcome"], quoted=bool(answer["quotes"]))
    messages, removed = messages_in(answer["language"]), checked["removed"] if checked else 0
    quoted_in = [quote["language"] for quote in answer["quotes"]]
    return [note_wording(note, messages, removed=removed, quoted_in=quoted_in) for note in notes]


def _address(page: dict[str, Any]) -> str:
    place = " › ".join(part for part in (page["title"], page.get("section")) if part)
    return f"{_plain(place)}  [dim]{_plain(page['url'])}[/dim]"


def _source(citation: dict[str, Any], messages: Messages) -> str:
    """Renders a source as Slack shows it: its title and section, its date, a warning, its score; then its address."""
    place = " › ".join(part for part in (citation["title"], citation["section"]) if part)
    parts = [
        _plain(place),
        messages.on(date.fromisoformat(citation["date"])) if citation["date"] else messages.undated,
        {"outdated": messages.outdated, "superseded": messages.replaced}.get(citation["freshness"], ""),
        "" if citation["score"] is None else messages.percent(citation["score"]),
    ]
    shown = " · ".join(part for part in parts if part)
    return f"\\[{citation['n']}] {shown}  [dim]{_plain(citation['url'])}[/dim]"


def _show_why(console: Console, reply: AskReply) -> None:
    rewrite, anchors = reply.trace["rewrite"], reply.trace["anchors"]
    how = ": ".join(filter(None, (rewrite["method"], rewrite["reasoning"])))
    console.print(f"\nSearched for: {_plain(rewrite['query'])}  ({_plain(how)})")
    if rewrite["translated"]:
        console.print(f"In the pages' language: {_plain(rewrite['translated'])}")
    console.print(
        f"Topics: {_plain(', '.join(rewrite['topics']) or 'none')}; anchors: {_plain(anchors['reason'] or 'none')}"
    )
    if reply.trace["searches"]:
        console.print(f"The model searched further for: {_plain('; '.join(reply.trace['searches']))}")
    for page in reply.answer["nearest"]:
        console.print(
            f"  nearest: {_plain(page['title'])}  [dim]{_plain(page['url'])}[/dim]", highlight=False
        )
    stages = ("dense", "lexical", "fused", "anchor", "rerank", "final")
    table = Table("passage", *stages, box=None)
    for hit in reply.trace["hits"][:10]:
        place = " › ".join(part for part in (hit["title"], hit["section"]) if part)
        scores = [hit["scores"][stage] for stage in stages]
        table.add_row(_plain(place), *("–" if score is None else f"{score:.3f}" for score in scores))
    console.print(table)
    stages_ms = reply.answer["timings_ms"].items()
    timings = " · ".join(f"{stage} {milliseconds:.0f} ms" for stage, milliseconds in stages_ms)
    console.print(f"[dim]{timings}[/dim]", highlight=False)


def _plain(text: str) -> str:
    """Escapes text from pages and people, which the terminal would read as markup."""
    return text.replace("[", "\\[")
