"""Compares two versions of a page by their words, without white space, markup and addresses.

It reads them by rules of its own and not by the parsers: thousands of old versions are compared at a sync, some of them
in formats that no parser takes in, and a mistake costs a date, not a word of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from html import unescape

TEXTS = frozenset(
    "md mdx markdown erb html htm xhtml txt text rst adoc org csv tsv".split()  # noqa: SIM905 (a list of endings)
)
"""Endings of files whose words can be compared; of others every change counts."""

_FRONT = re.compile(
    r"\A\s*(?P<fence>---|\+\+\+)[ \t]*\n(?P<fields>.*?)^(?P=fence)[ \t]*$", re.DOTALL | re.MULTILINE
)
_TITLE = re.compile(r"^[\"']?title[\"']?[ \t]*[:=][ \t]*(.*)$", re.MULTILINE | re.IGNORECASE)
_MARKUP = re.compile(
    r"</?[A-Za-z](?![^<>\s]*(?:://|@))[^<>]*>"  # tags, but no addresses
    r"|^[ \t]*(?:`{3,}|~{3,})[^\n`]*$"  # fences of code, with their language
    r"|^[ \t]*\[[^\]\n]+\]:[ \t]*\S+[^\n]*$"  # where links lead
    r"|(?<=\])(?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+[\"'][^\"'\n]*[\"'])?\)|\[[^\[\]\n]*\])"
    r"|^[ \t>]*\d{1,3}[.)](?=[ \t])"  # numbers of lists
    r"|\{[:#][^{}\n]*\}"  # ids and classes of headings
    r"|\\(?=[^\w\s])",
    re.DOTALL | re.MULTILINE,
)
_WORD = re.compile(r"(?<!\w)[-+](?=\d)|[^\W_]+(?:[.,:'_/-]+[^\W_]+)*|[%‰°€$£¥§±≤≥≠]|(?<=\s)[<=>]{1,2}(?=\s)")
_TYPOGRAPHY = str.maketrans("’‘–—−\xa0", "''--- ")


def words_digest(content: bytes) -> bytes:
    """Returns 16 bytes that two versions share exactly when their words are the same, in one order."""
    words = _WORD.findall(_without_markup(content.decode("utf-8", errors="replace")))
    text = "\0".join(words).casefold()
    return blake2b(text.encode(errors="replace"), digest_size=16).digest()


def _without_markup(text: str) -> str:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").translate(_TYPOGRAPHY)
    front = _FRONT.match(text)
    if front is not None:
        title = _TITLE.search(front["fields"])
        text = f"{title[1] if title else ''}\n{text[front.end() :]}"
    return unescape(_MARKUP.sub(" ", "".join(_outside_comments(text))))


def _outside_comments(text: str) -> Iterator[str]:
    """Yields the text between comments; a pattern takes quadratic time where comments do not end."""
    position = 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start)) >= 0:
        yield text[position:start]
        position = end + 3
    yield text[position:]
