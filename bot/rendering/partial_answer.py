"""Renders an unfinished answer as Markdown that only grows: each text begins with the one before.

A stream takes Markdown, not blocks, and Slack links and mentions in it of its own accord. So whatever could address
somebody or lead somewhere is broken up by a character that is not seen; the marks of the sources are the only links.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.messages.catalog import Messages, messages_in
from bot.rendering.citation_blocks import URL_CHARACTERS
from bot.rendering.links import web_address
from kb.answer import Citation, Sentence
from kb.marked import growing_markdown

MOST_CHARACTERS = 8000
"""Most characters of a draft: a finished answer has no more, and Slack takes 12,000 at a time."""

_UNSEEN = "\u200b"
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LEADS_SOMEWHERE = re.compile(
    r"(<)(?=[a-z@#!/])"  # a mention, a channel, a ping, an address in angle brackets, HTML
    r"|(\])(?=[(:\[])"  # a Markdown link, an image, what a link refers to
    r"|(@)(?=(?:here|channel|everyone)\b)"
    r"|(:)(?=//)"
    r"|(&)(?=#?\w+;)"  # any of these, as an entity
    r"|\b(www)(?=\.)",
    re.IGNORECASE,
)
_IN_ADDRESS = {ord(letter): f"%{ord(letter):02X}" for letter in "()[]\\<> \"'"}


def partial_markdown(
    sentences: Sequence[Sentence], citations: Sequence[Citation], messages: Messages | None = None
) -> str:
    """Returns the sentences so far with their marks, up to `MOST_CHARACTERS`. English without `messages`."""
    shown = {citation.n: _citation_link(citation) for citation in citations}
    clean = [replace(sentence, text=sanitize_links(sentence.text)) for sentence in sentences]
    below = (messages or messages_in(None)).sources_below
    text = ""
    for grown, waiting in growing_markdown(clean, lambda n: shown.get(n, ""), below=below):
        if len(grown) + len(waiting) > MOST_CHARACTERS:
            break
        text = grown
    return text


def sanitize_links(markdown: str) -> str:
    """Returns the text without anything that pings, mentions or links."""
    return _LEADS_SOMEWHERE.sub(lambda found: found[0] + _UNSEEN, _COMMENT.sub("", markdown))


def _citation_link(citation: Citation) -> str:
    address = web_address(citation.chunk.url)
    if address is None or len(address) > URL_CHARACTERS or not address.lower().startswith("http"):
        return f"({citation.n})"
    return f"([{citation.n}]({address.translate(_IN_ADDRESS)}))"
