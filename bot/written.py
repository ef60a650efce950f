"""An unfinished answer as Markdown that only grows: what was shown before is always the beginning of what comes after.

A stream takes Markdown, not blocks, and Slack links and mentions in it of its own accord. So whatever could address
somebody or lead somewhere is broken up by a character that is not seen; the marks of the sources are the only links.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from bot.cited import URL_CHARACTERS
from bot.links import web_address
from kb.answer import Citation, Sentence, is_block

MOST_CHARACTERS = 8000
"""Of a draft: a finished answer has no more, and Slack takes 12,000 at a time."""

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

Kind = Literal["prose", "list", "table", "quote", "fence", "other"]


def as_written(sentences: Sequence[Sentence], citations: Sequence[Citation]) -> str:
    """The sentences so far, each with the marks of its sources, up to `MOST_CHARACTERS`.

    A table's marks come below it, once it is known to be over: inside they would be part of a cell.
    """
    shown = {one.n: _mark(one) for one in citations}
    text, before, waiting = "", "prose", ""
    for sentence in sentences:
        own = _closed_fence(harmless(sentence.text.strip("\n")))
        marks = _marks(sentence, shown)
        kind = _kind(own.split("\n", 1)[0])
        if waiting and kind != "table":
            text, before, waiting = f"{text}\n\n{waiting}", "other", ""
        grown = text + (_joint(before, kind) if text else "") + own
        before = _kind(own.rsplit("\n", 1)[-1])
        if before == "table":
            waiting += marks
        elif before == "fence":
            grown += f"\n\n{marks}" if marks else ""
            before = "other" if marks else before
        else:
            grown += f" {marks}" if marks else ""
        if len(grown) + len(waiting) > MOST_CHARACTERS:
            break
        text = grown
    return text


def harmless(markdown: str) -> str:
    """The text without anything that pings, mentions or links."""
    return _LEADS_SOMEWHERE.sub(lambda found: found[0] + _UNSEEN, _COMMENT.sub("", markdown))


def _marks(sentence: Sentence, shown: Mapping[int, str]) -> str:
    return "".join(shown[n] for n in sentence.citations if n in shown)


def _mark(citation: Citation) -> str:
    address = web_address(citation.chunk.url)
    if address is None or len(address) > URL_CHARACTERS or not address.lower().startswith("http"):
        return f"({citation.n})"
    return f"([{citation.n}]({address.translate(_IN_ADDRESS)}))"


def _kind(line: str) -> Kind:
    if not is_block(line):
        return "prose"
    kinds: Mapping[str, Kind] = {"|": "table", ">": "quote", "`": "fence", "#": "other"}
    return kinds.get(line.lstrip()[:1], "list")


def _joint(before: str, kind: str) -> str:
    if before == kind == "prose":
        return " "
    return "\n" if before == kind and kind in {"list", "table", "quote"} else "\n\n"


def _closed_fence(text: str) -> str:
    fences = sum(line.lstrip().startswith("```") for line in text.split("\n"))
    return f"{text}\n```" if fences % 2 else text
