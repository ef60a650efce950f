"""Renders the line above a quote, which is its citation: page, section, link and date.

"*Leave policy › Annual leave* (reviewed 3 May 2024) says:", as Slack's rich text, as mrkdwn and as Markdown.
"""

from __future__ import annotations

import re

from bot.messages.catalog import Messages
from bot.rendering.citation_blocks import URL_CHARACTERS, dated, section_of, title_of, titled_link
from bot.rendering.mrkdwn import escape
from bot.rendering.styled_text import Span, link_spans
from kb.answer import Citation

_MARKUP = re.compile(r"([\\`*_\[\]<>])")


def header_spans(citation: Citation, messages: Messages, *, says: bool) -> list[Span]:
    """Returns the head as spans. `says`: it leads in the quote by itself; else a sentence before it does."""
    chunk, bold = citation.chunk, Span(text="", bold=True)
    url = chunk.url if len(chunk.url) <= URL_CHARACTERS else ""
    section = Span(text=_section(citation), bold=True)
    before, after = _around(citation, messages, says=says)
    spans = [Span(text=before), *link_spans(url, title_of(chunk.page.title), bold), section, Span(text=after)]
    return [span for span in spans if span.text]


def header_mrkdwn(citation: Citation, messages: Messages, *, says: bool) -> str:
    chunk = citation.chunk
    before, after = _around(citation, messages, says=says)
    place = f"*{titled_link(chunk.page.title, chunk.url)}{escape(_section(citation))}*"
    return f"{before}{place}{escape(after)}"


def header_markdown(citation: Citation, messages: Messages, *, says: bool) -> str:
    chunk = citation.chunk
    before, after = _around(citation, messages, says=says)
    place = _literal(title_of(chunk.page.title) + _section(citation))
    return f"{before}**{markdown_link(chunk.url, place)}**{after}"


def markdown_link(url: str, label: str) -> str:
    """Returns a link in Markdown; `label` is Markdown. What would end the address is quoted."""
    address = "".join(url.split()).replace("<", "%3C").replace(">", "%3E")
    return f"[{label}](<{address}>)" if address else label


def _literal(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)


def _section(citation: Citation) -> str:
    section = section_of(citation.chunk)
    return f" › {section}" if section else ""


def _around(citation: Citation, messages: Messages, *, says: bool) -> tuple[str, str]:
    """Returns what stands before and after the page."""
    day = dated(citation.chunk.page, messages)
    beside = f" ({day})" if day else ""
    if not says:
        return "", beside
    before, _, after = messages.says.partition("{page}")
    return before, f"{beside}{after}"
