"""`footnote ask`: one question in the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from bot.cli.as_json import print_json
from bot.cli.open import open_session
from bot.cli.session import AskReply, AskRequest
from kb.settings import Settings

EXIT_CODES = {"answered": 0, "chat": 0, "declined": 3, "unclear": 4, "unavailable": 5}


async def ask(settings: Settings, request: AskRequest, *, as_json: bool, why: bool) -> int:
    async with open_session(settings, "ask", models=True) as session:
        reply = await session.ask(request)
    if as_json:
        print_json(_told(reply, why=why))
    else:
        _show(reply, why=why)
    return EXIT_CODES[reply.answer["outcome"]]


def _told(reply: AskReply, *, why: bool) -> dict[str, Any]:
    """The documented keys and no others; `--why` adds how it came about and what else was near."""
    told = {name: value for name, value in reply.answer.items() if name != "nearest"}
    return {**told, "nearest": reply.answer["nearest"], "trace": reply.trace} if why else told


def _show(reply: AskReply, *, why: bool) -> None:
    console = Console()
    answer = reply.answer
    if answer["rewritten"]:
        console.print(f"Interpreted as: [italic]{_plain(answer['rewritten'])}[/italic]\n", highlight=False)
    console.print(Markdown(answer["answer"]))
    for warning in answer["warnings"]:
        console.print(f"\n[yellow]Outdated:[/yellow] {_plain(warning['text'])}", highlight=False)
    if answer["citations"]:
        console.print()
    for citation in answer["citations"]:
        console.print(_source(citation), highlight=False)
    for page in answer["nearest"]:
        console.print(
            f"  nearest: {_plain(page['title'])}  [dim]{_plain(page['url'])}[/dim]", highlight=False
        )
    if answer["notes"]:
        console.print(f"\n[dim]{', '.join(answer['notes'])}[/dim]", highlight=False)
    if why:
        _show_why(console, reply)


def _source(citation: dict[str, Any]) -> str:
    place = " › ".join(part for part in (citation["title"], citation["section"]) if part)
    dated = f"{citation['date'] or 'no date'}, {citation['freshness']}"
    return (
        f"[{citation['n']}] {_plain(place)} · {dated} · {citation['score']:.0%}"
        f"  [dim]{_plain(citation['url'])}[/dim]"
    ).replace(f"[{citation['n']}]", f"\\[{citation['n']}]", 1)


def _show_why(console: Console, reply: AskReply) -> None:
    rewrite, anchors = reply.trace["rewrite"], reply.trace["anchors"]
    console.print(
        f"\nSearched for: {_plain(rewrite['query'])}  ({rewrite['method']}: {_plain(rewrite['reasoning'])})"
    )
    console.print(
        f"Topics: {_plain(', '.join(rewrite['topics']) or 'none')}; anchors: {_plain(anchors['reason'] or 'none')}"
    )
    stages = ("dense", "lexical", "fused", "anchor", "rerank", "final")
    table = Table("passage", *stages, box=None)
    for hit in reply.trace["hits"][:10]:
        place = " › ".join(part for part in (hit["title"], hit["section"]) if part)
        scores = [hit["scores"][stage] for stage in stages]
        table.add_row(_plain(place), *("–" if score is None else f"{score:.3f}" for score in scores))
    console.print(table)
    console.print(f"[dim]{reply.answer['timings_ms']}[/dim]", highlight=False)


def _plain(text: str) -> str:
    """Text from pages and people, kept from being read as markup of the terminal."""
    return text.replace("[", "\\[")
