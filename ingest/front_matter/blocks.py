"""Where the front matter of a page stands, and what it holds: YAML, TOML
or JSON, by every fence that a generator knows.

    ---            +++            ;;;   or {{{ }}}     {                   title: Leave
    title: Leave   title = "x"    "title": "Leave"     "title": "Leave"    date: 2026-01-31
    ---            +++            ;;;                  }                   ---

`---toml` and `---json` name the language themselves. Hexo leaves out the upper fence; MultiMarkdown, Pelican
and MkDocs both, and a field list of reStructuredText looks alike (`:date: 2026-01-31`): those are taken where
every line is a field and one that we know is among them. Org has keywords (`#+DATE: 2026-01-31`).
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from kb.text.unicode import well_formed_value

Values = Mapping[str, Any]

_BLOCK = re.compile(
    r"\A\s*^(?P<fence>---|\+\+\+|;;;)[ \t]*(?P<language>ya?ml|toml|json)?[ \t]*\n"
    r"(?P<fields>.*?)^(?:(?P=fence)|\.\.\.)[ \t]*(?:\n|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_BRACED = re.compile(r"\A\s*^\{\{\{[ \t]*\n(?P<fields>.*?)^\}\}\}[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_OBJECT = re.compile(
    r"\A\s*(?P<fields>\{\s*(?:[\"'}]|\w[\w-]*\s*:).*?^\s*\}|\{[^\n{]*\})[ \t]*(?:\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_BARE = re.compile(
    r"(?P<fields>(?:(?::?[^\W\d][\w -]{0,40}:(?:[ \t][^\n]*)?|[ \t]+\S[^\n]*|[\"'][\w -]+[\"'][ \t]*:[^\n]*)\n)+)"
    r"(?:(?P<fence>---|;;;)[ \t]*(?:\n|\Z)|\n|\Z)"
)
_ORG = re.compile(r"(?:[ \t]*(?:#\+|:)[\w-]+:[^\n]*\n|#[ \t]+-\*-[^\n]*\n|[ \t]*\n)+")
_ORG_KEYWORD = re.compile(
    r"^[ \t]*#\+(?:hugo_|property:[ \t]*)?(?P<name>[\w-]+)[: \t][ \t]*[<\[]?(?P<value>[^\n<>\[\]]*)",
    re.MULTILINE | re.IGNORECASE,
)
_KEY = re.compile(
    r"(?:^[ \t]*(?:- +)?|[{,;]\s*):?[\"']?(?P<name>[^\W\d][\w .-]{0,40}?)[\"']?[ \t]*:{0,2}[:=]", re.MULTILINE
)
_LINE = re.compile(r"^[\"']?([A-Za-z][\w-]*)[\"']?[ \t]*[:=][ \t]*(\S.*?),?$", re.MULTILINE)
_HEADED = re.compile(
    r"(?:#{1,6}[ \t][^\n]+\n|(?:([=~*^#-])\1{2,}\n)?[^\n:]+\n[=~*^#-]{3,}[ \t]*\n)\s*?(?=\S)(?P<rest>.*)",
    re.DOTALL,
)
_MARKS = re.compile(
    r"^[ \t]*(?:[-*+>|] ?)?(?:\*\*|__|\*|_|:)?(?=[^\W\d])|\*\*|__|(?<=\w):(?=:)|(?<=:)[*_]", re.MULTILINE
)
_SPACED_LINE = re.compile(r"^[\"']?([^\W\d][\w -]{0,40}?)[\"']?[ \t]*[:=][ \t]*(\S.*?),?$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """`values`: the fields; None where what stands between the fences is prose. `broken`: the language that it is not.

    `fields`: its text. `end`: where the page's own text begins. `bare`: it has no upper fence, so it may be prose.
    """

    values: Values | None
    fields: str
    end: int
    broken: str | None = None
    bare: bool = False
    json: bool = False
    twice: tuple[str, ...] = field(default=())
    """Names that are given more than once: which of them counts, only their author knows."""


def find_block(text: str) -> Block | None:
    if block := _BLOCK.match(text):
        language = (
            block["language"] or {"---": "yaml", "+++": "toml", ";;;": "json"}[block["fence"]]
        ).lower()
        return _read(block["fields"], language, end=block.end())
    if block := _BRACED.match(text):
        return _read(block["fields"], "json", end=block.end())
    if text.lstrip().startswith("{"):
        return _object(text)
    if (org := _ORG.match(text)) and "#+" in org[0]:
        return _keywords(org[0])
    return _unfenced(text)


def _unfenced(text: str) -> Block | None:
    """Reads fields that begin the page without a fence; with none below either, they stay text too."""
    skipped = len(text) - len(text.lstrip("\n"))
    block = _BARE.match(text, skipped)
    if block is None:
        return None
    fields = re.sub(r"^:(?=\w)", "", block["fields"], flags=re.MULTILINE)
    if block["fence"]:
        language = "json" if block["fence"] == ";;;" else "yaml"
        return replace(_read(fields, language, end=block.end()), bare=True)
    read = _read(fields, "yaml", end=0)
    return replace(read, values=lines_of(fields, spaced=True) | _given(read.values), bare=True, broken=None)


def _keywords(text: str) -> Block:
    """Reads the keywords at the top of an Org file: `#+DATE: <2026-01-31 Sat>`, `#+PROPERTY: status draft`."""
    names: list[str] = []
    pairs = [(found["name"].lower(), found["value"].strip()) for found in _ORG_KEYWORD.finditer(text)]
    return Block(values=_once(pairs, names), fields=text, end=len(text), twice=tuple(names))


def _object(text: str) -> Block | None:
    """Reads an object of JSON at the top of a page."""
    start = len(text) - len(text.lstrip())
    names: list[str] = []
    try:
        values, end = json.JSONDecoder(object_pairs_hook=lambda pairs: _once(pairs, names)).raw_decode(
            text, start
        )
        values = well_formed_value(values)
    except (json.JSONDecodeError, RecursionError):
        found = _OBJECT.match(text)
        return (
            replace(_read(found["fields"], "json", end=found.end()), bare=True, json=True) if found else None
        )
    newline = re.compile(r"[ \t]*(?:\n|\Z)").match(text, end)
    if newline is None:
        return None
    return Block(
        values=values, fields=text[start:end], end=newline.end(), bare=True, json=True, twice=tuple(names)
    )


def _read(fields: str, language: str, *, end: int) -> Block:
    names: list[str] = []
    try:
        values = _parsed(fields, language, names)
    except (tomllib.TOMLDecodeError, yaml.YAMLError, json.JSONDecodeError, RecursionError):
        name = {"yaml": "YAML", "yml": "YAML", "toml": "TOML", "json": "JSON"}[language]
        return Block(values=_salvaged(fields), fields=fields, end=end, broken=name)
    if not isinstance(values, dict):
        values = None if values else {}
    return Block(values=values, fields=fields, end=end, twice=tuple(names))


def _parsed(fields: str, language: str, names: list[str]) -> object:
    if language == "toml":
        return tomllib.loads(fields)
    if language == "json":
        whole = fields.strip()
        if not whole.startswith("{"):
            whole = f"{{{whole.rstrip(',')}}}"
        values = json.loads(whole, object_pairs_hook=lambda pairs: _once(pairs, names))
        return well_formed_value(values)
    loader = _LOADER(fields)
    try:
        node = loader.get_single_node()
        names += _repeated(node)
        return None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


class _Strings(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
    """Every scalar stays a string: `lang: no` is Norwegian, and an impossible date is no exception."""


_LOADER = _Strings


def _once(pairs: list[tuple[str, Any]], names: list[str]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for name, value in pairs:
        if name in seen:
            names.append(name)
        seen[name] = value
    return seen


def _repeated(node: Any) -> Iterator[str]:
    if not isinstance(node, yaml.MappingNode):
        return
    seen: set[Hashable] = set()
    for key, _ in node.value:
        if key.value.__hash__ is not None and isinstance(key.value, str):
            if key.value in seen:
                yield key.value
            seen.add(key.value)


def _salvaged(block: str) -> Mapping[str, str] | None:
    """Reads the one-line fields of a broken block: the usual fault is a colon in an unquoted title."""
    lines = [line for line in block.splitlines() if line.strip().strip("{}")]
    fields = lines_of(block)
    return fields if 2 * len(fields) >= len(lines) else None


def lines_of(block: str, *, spaced: bool = False) -> dict[str, Any]:
    """Reads the fields that stand on one line each, whatever the rest is. `spaced`: names may have several words."""
    pattern = _SPACED_LINE if spaced else _LINE
    return {name: value.strip().strip("\"'") for name, value in pattern.findall(block)}


def _given(values: Values | None) -> dict[str, Any]:
    """Drops what YAML takes for nothing: it reads `audience: #leads` as a comment."""
    return {name: value for name, value in (values or {}).items() if value not in (None, "")}


def find_head(text: str) -> Block | None:
    """Finds fields in the text itself, in the first paragraph below a heading, as Notion exports them: `Status: Draft`.

    They are words of the page, so nothing is cut off: `end` is 0. Marks of bold, lists and Obsidian's `::` do not count.
    """
    headed = _HEADED.match(text.lstrip())
    if headed is None:
        return None
    paragraph = headed["rest"].split("\n\n", 1)[0]
    lines = _MARKS.sub("", paragraph).strip("\n") + "\n"
    block = _BARE.match(lines)
    if block is None or block["fields"] != lines:
        return None
    return Block(values=lines_of(block["fields"], spaced=True), fields=block["fields"], end=0, bare=True)


def keys_in(text: str) -> list[str]:
    """Returns what looks like the name of a field, in whichever of the languages, broken or not."""
    return [found["name"] for found in _KEY.finditer(text)]
