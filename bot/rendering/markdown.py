"""Parses Markdown: CommonMark with tables, bare addresses, and emphasis in Chinese and Japanese.

Slack links nothing by itself in a text of ours, so that a page cannot ping anybody. Addresses therefore become links
here, as on GitHub, and never within code. CommonMark takes `**` for bold only at a word's edge or beside punctuation in
one way, and knows no language that is written without spaces: `**締切日：**毎月` would keep its asterisks.
"""

from __future__ import annotations

import re
import unicodedata

from markdown_it import MarkdownIt
from markdown_it.common.utils import unescapeAll
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from bot.rendering.links import web_address

_SCHEME = re.compile(r"(?<![a-z0-9])https?$", re.IGNORECASE)
_ADDRESS = re.compile(r"""://[\w.-]*\w(?:[^\s<>"`|\[\]]|\[[\w.-]*\](?=[=\[]))*""")
"""Brackets only where they name a parameter: `?filter[team]=x`; "https://host[1]" has a citation behind it."""
_BARE = re.compile(
    r"""(?P<host>(?<![\w@./:-])www\.[\w-]+\.[\w.-]*\w(?:[/?#:][^\s<>"`|\[\]]*)?)"""
    r"|(?P<mail>(?<![\w@./:+-])[a-z0-9][a-z0-9._%+-]*@(?:[a-z0-9-]+\.)+[a-z]{2,}(?![\w@/-]|:\S|\.\w))",
    re.IGNORECASE,
)
"""Hosts that begin with "www." and e-mail addresses; `git@host:path` is neither."""
_TRAILING = "?!.,:;*_~'\"…’”»"
"""Ends a sentence, or the emphasis around an address, and is no part of it."""
_TASK = re.compile(r"^\[([ xX])\] ")
_SPECIAL_MENTION = re.compile(r"<![^\s<>]*$")
"""Begins Slack's `<!date^1392734382^{date}^https://host|now>`: an address in it is shown as it is written."""
_PLACEHOLDER = re.compile(r"[{}]")
"""`https://host/{id}` leads nowhere."""


def parser() -> MarkdownIt:
    """Builds the parser of pages' and models' Markdown."""
    ours = commonmark()
    ours.inline.ruler.at("emphasis", _emphasis)
    ours.inline.ruler.before("escape", "bare_address", _bare_address)
    ours.core.ruler.push("bare_hosts", _bare_hosts)
    return ours


def commonmark() -> MarkdownIt:
    """Builds the parser as other programs have it: CommonMark with tables and strikethrough, raw HTML as text."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def plain_text(node: SyntaxTreeNode) -> str:
    """Returns inline Markdown as text, without its markup."""
    if node.type in {"softbreak", "hardbreak"}:
        return " "
    if node.type in {"text", "code_inline", "html_inline"}:
        return node.content
    if node.type == "image":
        return alt_text(node)
    return "".join(plain_text(child) for child in node.children)


def link_of(node: SyntaxTreeNode) -> tuple[str, str]:
    """Returns the address and the label of a link or an image. Both are "" of an image that says nothing in words."""
    if node.type == "image":
        label = alt_text(node)
        return str(node.attrs.get("src", "")) if label else "", label
    return str(node.attrs.get("href", "")), plain_text(node) or str(node.attrs.get("title", ""))


def alt_text(image: SyntaxTreeNode) -> str:
    """Returns what an image says in words; "" where its author gave it none."""
    return image.content or str(image.attrs.get("title", ""))


def with_checkbox(text: str) -> str:
    """Returns an item's text, its `[ ]` or `[x]` drawn as a box."""
    return _TASK.sub(lambda box: "☐ " if box[1] == " " else "☑ ", text, count=1)


def is_wide(character: str) -> bool:
    """Returns whether it is written as wide as two letters: Chinese, Japanese, Korean, and their punctuation."""
    return bool(character) and unicodedata.east_asian_width(character) in "WF"


def _emphasis(state: StateInline, silent: bool) -> bool:
    marker = state.src[state.pos]
    if silent or marker not in "_*":
        return False
    run = state.scanDelims(state.pos, marker == "*")
    before = state.src[state.pos - 1 : state.pos]
    after = state.src[state.pos + run.length : state.pos + run.length + 1]
    wide = marker == "*" and (is_wide(before) or is_wide(after))
    for _ in range(run.length):
        state.push("text", "", 0).content = marker
        state.delimiters.append(
            Delimiter(
                marker=ord(marker),
                length=run.length,
                token=len(state.tokens) - 1,
                end=-1,
                open=run.can_open or (wide and bool(after.strip())),
                close=run.can_close or (wide and bool(before.strip())),
            )
        )
    state.pos += run.length
    return True


def _bare_address(state: StateInline, silent: bool) -> bool:
    """Links `https://…` in running text: it is read at its colon, before anything in it is read as emphasis."""
    if state.src[state.pos] != ":" or state.linkLevel:
        return False
    scheme = _SCHEME.search(state.src, max(0, state.pos - 6), state.pos)
    found = _ADDRESS.match(state.src, state.pos)
    if scheme is None or found is None or not state.pending.endswith(scheme[0]):
        return False
    if _SPECIAL_MENTION.search(state.src, max(0, state.pos - 200), state.pos):
        return False
    written = _without_trailing(scheme[0] + found[0])
    end = scheme.start() + len(written)
    url = unescapeAll(written)
    if _PLACEHOLDER.search(url) or state.src[end : end + 1] == "<" or web_address(url) is None:
        return False
    if not silent:
        state.pending = state.pending[: -len(scheme[0])]
        state.push("link_open", "a", 1).attrs = {"href": url}
        state.push("text", "", 0).content = url
        state.push("link_close", "a", -1)
    state.pos = end
    return True


def _bare_hosts(state: StateCore) -> None:
    """Links `www.host` and e-mail addresses, which nothing in the middle of a text announces."""
    for block in state.tokens:
        depth = 0
        children: list[Token] = []
        for token in block.children or []:
            depth += token.nesting if token.type in ("link_open", "link_close") else 0
            children.extend([token] if token.type != "text" or depth else _linked(token))
        if block.children is not None:
            block.children = children


def _linked(text: Token) -> list[Token]:
    tokens: list[Token] = []
    position = 0
    for found in _BARE.finditer(text.content):
        written = _without_trailing(found[0])
        url = f"mailto:{written}" if found["mail"] else f"https://{written}"
        if _PLACEHOLDER.search(url) or web_address(url) is None:
            continue
        tokens += [
            Token("text", "", 0, content=text.content[position : found.start()], level=text.level),
            Token("link_open", "a", 1, attrs={"href": url}, level=text.level),
            Token("text", "", 0, content=written, level=text.level + 1),
            Token("link_close", "a", -1, level=text.level),
        ]
        position = found.start() + len(written)
    return (
        [*tokens, Token("text", "", 0, content=text.content[position:], level=text.level)]
        if tokens
        else [text]
    )


def _without_trailing(address: str) -> str:
    """Returns the address without what ends the sentence around it: a full stop, or a bracket that opened before it."""
    address = address[
        : next((index for index, letter in enumerate(address) if is_wide(letter)), len(address))
    ]
    while True:
        entity = re.search(r"&[a-z]+;$", address, re.IGNORECASE)
        if entity:
            address = address[: entity.start()]
        elif address.endswith(tuple(_TRAILING)) or (
            address.endswith(")") and address.count(")") > address.count("(")
        ):
            address = address[:-1]
        else:
            return address
