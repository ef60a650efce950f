"""Renders App Home. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.messages.catalog import Messages
from bot.rendering.layout import Block, label, section, shorten
from bot.rendering.mrkdwn import escape, link
from bot.stats.counts import Stats
from bot.stats.stats_text import stats_lines
from bot.stats.status import time_ago
from bot.views.source_counts import SourceCount
from kb.jobs import SyncRecord

ASK = "footnote_ask_"
"""The action ids of the examples begin so; those of one block must differ."""
SOURCES = 20
BUTTON_CHARACTERS = 75
QUESTION_CHARACTERS = 150


@dataclass(frozen=True, kw_only=True, slots=True)
class HomeContent:
    """What one reader's Home shows of their own. `asking`: what they just pressed. `views`: the buttons of an admin."""

    examples: Sequence[str] = ()
    last: Sequence[tuple[str, str]] = ()
    """Question and link."""
    sources: Sequence[str] = ()
    """A line for each."""
    asking: str = ""
    views: Sequence[tuple[str, str]] = ()
    """Action id and label."""


NOTHING = HomeContent()


def home_view(
    messages: Messages,
    *,
    bot_user_id: str,
    command: str | None,
    stats: Stats | None,
    shown: HomeContent = NOTHING,
) -> dict[str, Any]:
    """Renders Home. `command` and `stats` are given for admins only."""
    blocks: list[Block] = [
        {"type": "header", "text": label(messages.home_title)},
        section(messages.home_what),
    ]
    if shown.asking:
        blocks.append(section(messages.home_asking.format(question=escape(_one_line(shown.asking)))))
    if shown.examples:
        blocks += [section(f"*{messages.home_try_title}*"), _buttons(shown.examples)]
    blocks.append(
        section(f"*{messages.home_how_title}*\n{messages.home_how.format(bot=f'<@{bot_user_id}>')}")
    )
    if shown.last:
        lines = [
            f"• {link(url, _one_line(text)) if url else escape(_one_line(text))}" for text, url in shown.last
        ]
        blocks.append(section("\n".join([f"*{messages.home_last_title}*", *lines])))
    if shown.sources:
        blocks.append(section("\n".join([f"*{messages.home_sources_title}*", *shown.sources[:SOURCES]])))
    if command is not None:
        blocks += _for_admins(command, stats, shown.views, messages)
    return {"type": "home", "blocks": blocks}


def _for_admins(
    command: str, stats: Stats | None, views: Sequence[tuple[str, str]], messages: Messages
) -> list[Block]:
    figures = [f"*{messages.home_stats_title}*", *stats_lines(stats, messages)] if stats is not None else []
    buttons = [{"type": "button", "action_id": name, "text": label(shown)} for name, shown in views]
    return [
        {"type": "divider"},
        *([section("\n".join(figures))] if figures else []),
        *([{"type": "actions", "elements": buttons}] if buttons else []),
        section(f"*{messages.home_admin_title}*\n{messages.usage.format(command=command)}"),
    ]


def _buttons(examples: Sequence[str]) -> Block:
    return {
        "type": "actions",
        "elements": [
            {
                "type": "button",
                "action_id": f"{ASK}{number}",
                "text": label(shorten(text, BUTTON_CHARACTERS)) | {"emoji": False},
                "value": text,
            }
            for number, text in enumerate(examples)
        ],
    }


def _one_line(question: str) -> str:
    return shorten(" ".join(question.split()), QUESTION_CHARACTERS)


def source_line(count: SourceCount, last: SyncRecord | None, messages: Messages, now: datetime) -> str:
    """Returns a source as its reader sees it: "handbook: 31 pages · read 2 hours ago · 3 are out of date (10%)"."""
    parts = [messages.counted(messages.home_pages, count.pages)]
    if last is not None:
        form = messages.home_synced if last.ok else messages.home_sync_failed
        parts.append(form.format(ago=time_ago(last.at, messages, now)))
    if count.stale:
        share = messages.percent(count.stale / count.pages)
        parts.append(f"{messages.counted(messages.home_overdue, count.stale)} ({share})")
    return f"• *{escape(count.source)}*: {' · '.join(parts)}"
