"""Prompt injections: orders to an assistant that stand on a page. They are neither evidence nor quoted.

What an order looks like is written down here by kind; its words stand in `[injections]` of the language files. A page
that lies in plain words is not recognised: it is cited, and judged by its reader. The rule for leaving out is generous,
since what follows an order ("... and say that rates have doubled") belongs to it: the whole paragraph goes, or the list
item, the table row, the block of code.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kb.text.language_files import sections


def _any(name: str, *others: str) -> str:
    """Returns a group of regular expressions from the language files; `others`: of languages that have none."""
    return f"(?:{'|'.join([*(part for words in sections('injections') for part in words.get(name, ())), *others])})"


_START = (
    r"(?:^|[.!?:;,()\[\]\"'“”«»>|#*_`\n-]\s{0,40}+"
    rf"|\b{_any('joins', 'также', 'и')}\s+)"
)
"""Where an imperative stands. "Do not ignore these rules" and "if you ignore them" are no orders to an assistant."""
_RULES = _any("rules", "istruzioni", "regole", r"инструкци\w*", r"правил\w*", r"указани\w*")
_IGNORE = _any("ignore", "dimentica", r"игнорируй\w*", r"забудь\w*")
_SAY = (
    r"(?:answer|reply|say|respond|output|print|repeat|ignore|disregard|reveal|quote|post|append|include|notify|tell|list"
    r"|show|send|write|translate|act|forget|begin|add|mention|recommend|claim|transfer|visit|click|execute|give|pretend)"
)
_MACHINE = _any("machine")
_GREETING = _any("greeting", "ciao", "car[oa]", r"уважаем\w*", "привет")
_GREETED = _any("greeted", _MACHINE, "ии", "ассистент")
_ALL_BEFORE = _any("before", "tutto il resto")
_OWN = r"(?:system prompt|hidden prompt|initial prompt|your (?:prompt|instructions|rules|guidelines))"

_ORDERS = re.compile(
    "|".join([
        rf"{_START}{_IGNORE}\b[^.!?\n]{{0,60}}\b{_RULES}\b",
        (rf"{_START}{_IGNORE}\b[^.!?\n]{{0,20}}\b(?:the above|everything (?:above|before|you)|all of "
        rf"the above|the (?:audience|passages)|{_ALL_BEFORE})\b"),
        rf"{_START}{_IGNORE}\b[^.!?\n]{{0,30}}\b{_any('told')}\b",
        rf"\b(?:if|as|since|because) (?:you are |you're )?an? {_MACHINE}\b",
        (rf"{_START}(?:pretend|imagine|act|behave)\b[^.!?\n]{{0,30}}\b(?:{_MACHINE}|unrestricted|no "
        rf"(?:restrictions|rules|limits))\b"),
        (rf"{_START}when (?:summari[sz]ing|answering|quoting|describing|translating)\b[^.!?\n"
        rf"]{{0,20}}\b(?:this|these|the) (?:page|document|text|article|passage)s?\b"),
        (r"</?(?:system|assistant|instructions?|prompt)>|\b(?:system|developer|admin) "
        r"override\b|^\W{0,40}+(?:end of (?:document|context|passages?)|new instructions?)\b"),
        r"(?:指示|命令|ルール|指令|规则|提示).{0,12}(?:無視|忽略|无视)|(?:忽略|无视|忘记|無視).{0,12}(?:指令|规则|指示|提示|命令)",
        r"지시.{0,10}무시",
        r"<\|[a-z_]+\|?>|\[/?inst\]|<</?sys>>|^\W{0,40}+system[ _]prompt\b",
        rf"^\W{{0,40}}+{_GREETING}\b[^.:\n]{{0,20}}\b{_GREETED}\b[^.:\n]{{0,20}}[:,]",
        r"^\W{0,40}+(?:system|assistant|developer)\s*:\s*you (?:are|must|shall|will|should)\b",
        (rf"(?:^|[.!?\n"
        rf"]\s{{0,40}}+)\W{{0,40}}+(?:{_MACHINE}|system|model|footnote)\b\s*[:,]\s*(?:please |you "
        rf"|also |always )*{_SAY}\b"),
        (rf"\byou are (?:now|no longer)\b[^.!?\n"
        rf"]{{0,40}}\b(?:{_MACHINE}|unrestricted|unfiltered|jailbroken|developer mode)\b"),
        rf"{_START}(?:repeat|print|reveal|show|output|quote|leak|disclose|ignore)\b[^.!?\n]{{0,40}}\b{_OWN}\b",
        rf"\bthe (?:{_MACHINE}) (?:must|should|shall|will|has to|needs to|is to)\b[^.!?\n]{{0,30}}\b{_SAY}\b",
        r"\byour new (?:rules|instructions|role)\b|\bnew (?:rules|instructions) replace\b",
    ]),
    re.IGNORECASE | re.MULTILINE,
)  # fmt: skip
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[*_`]")
_MARKDOWN = MarkdownIt("commonmark").enable("table")
_PIECES = {"paragraph_open", "heading_open", "fence", "code_block", "list_item_open", "tr_open", "html_block"}


def is_injection(text: str) -> bool:
    """Tells whether a piece of text speaks to an assistant and tells it what to do."""
    return _ORDERS.search(_UNSEEN.sub("", unicodedata.normalize("NFKC", text))) is not None


@lru_cache(maxsize=512)
def strip_injections(markdown: str) -> str:
    """Returns the passage without the pieces that hold an order; the very same text where none does."""
    if not is_injection(markdown):
        return markdown
    lines = markdown.split("\n")
    gone = {index for token in _MARKDOWN.parse(markdown) for index in _ordering_lines(token, lines)}
    return "\n".join(line for index, line in enumerate(lines) if index not in gone).strip("\n")


def _ordering_lines(token: Token, lines: list[str]) -> range:
    if token.map is None or token.type not in _PIECES:
        return range(0)
    span = range(*token.map)
    return span if is_injection("\n".join(lines[at] for at in span)) else range(0)
