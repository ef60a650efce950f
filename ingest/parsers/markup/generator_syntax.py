"""Drops the syntax of a site generator: ERB, Liquid, shortcodes, MDX, attributes, comments.

Touches only the syntaxes of the page's dialect (`dialects.py`). Prose inside is kept: the words of
`<%= warning_text('Do not ...') %>`, the title of a `{% tab %}`, the body and label of a JSX component, the title and
body of an admonition. Code must be masked before (see `code_masking.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ingest.parsers.markup.dialects import Dialect

_MAX_TAG = 5_000
"""Characters. Marks further apart than this, or with an empty line between them, are not one tag."""
_MAX_DEPTH = 20
"""Levels of nested admonitions. Deeper ones stay as written."""
_LIQUID_COMMENT = re.compile(
    r"\{%-?\s*comment\s*-?%\}(?:(?!\{%-?\s*comment\b).)*?\{%-?\s*endcomment\s*-?%\}", re.DOTALL
)
_ERB_SIDE_CONTENT = re.compile(r"<%-?\s*content_for\b[^%]*\bdo\b[^%]*%>(?:(?!<%-?\s*content_for\b).)*?<%-?\s*end\s*-?%>", re.DOTALL)  # fmt: skip
_TITLE = re.compile(r"[\s=-]*(?:current_page\.data|page)\.title\b")
_STRING = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
_SHOWN = re.compile(
    r"\b(?:title|caption|content|text|message|summary|label|alt|header|heading|name)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|“([^”]*)”)",
    re.IGNORECASE,
)
"""Arguments of a tag that readers see."""
_KRAMDOWN_COMMENT = re.compile(r"\{::comment\}(?:(?!\{::comment\}).)*?\{:/(?:comment)?\}", re.DOTALL)
_KRAMDOWN = re.compile(
    r"^[ \t]*\{:[^}\n]*\}[ \t]*(?:\n|\Z)"  # of the block above or below
    r"|(?<=[*_)\]>`\ufdd1])\{:[^}\n]*\}"  # of the emphasis, link or code before; behind a word it is text
    r"|(?<=[-*+] )\{:[^}\n]*\}[ \t]*"  # of a list item
    r"|\{:[:/][^}\n]*\}",  # an extension
    re.MULTILINE,
)
_KEY = r"(?:[.#][\w:.-]+|[\w:-]+=(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s}\"']+))"
_LIST = rf"\{{:?[ \t]*{_KEY}(?:[ \t]+{_KEY})*[ \t]*\}}"
_ATTRIBUTES = re.compile(
    rf"^[ \t]*{_LIST}[ \t]*(?:\n|\Z)|(?<=[*_)\]>`\ufdd1]){_LIST}|^(#{{1,6}} [^\n]*?)[ \t]*{_LIST}[ \t]*$",
    re.MULTILINE,
)
_ID = re.compile(r"#([\w:.-]+)")
_IMPORT = re.compile(
    r"^import\s+(?:[^;'\"\n]|\n(?!\n)){0,300}?(?:from\s+)?(['\"])[^'\"\n]+\1;?[ \t]*$", re.MULTILINE
)
_EXPORT = re.compile(r"^export\s+(?:const|let|var|default|function|async)\b(?:[^\n]|\n(?!\n))*", re.MULTILINE)
_JSX_SPACE = re.compile(r"\{\s*(['\"`])\s*\1\s*\}")
_JSX_OBJECT = re.compile(r"(?<=[\w-])=\{(?:[^{}\n]|\{(?:[^{}\n]|\{[^{}\n]*\})*\})*\{(?:[^{}]|\{[^{}]*\}){0,500}\}[^{}\n]*\}")  # fmt: skip
_DIRECTIVE = re.compile(r"^[ \t]*:{3,}[ \t]*(?:\{?([a-zA-Z][\w-]*)\}?[ \t]*(?:\[(.*?)\]|([^\n{]*?))[ \t]*(?:\{[^}\n]*\})?)?[ \t]*$", re.MULTILINE)  # fmt: skip
_CALLOUT = re.compile(r"^[ \t]*:{3,}[ \t]*\{([^}\n]*)\}[ \t]*$", re.MULTILINE)
_LAYOUT = frozenset({"code-group", "code-tabs", "tabs", "tab-set", "raw", "v-pre", "grid"})
_ALERT = re.compile(r"^([ \t]*>[ \t]*)\[!(\w+)\]([+-]?)(?=[ \t]|$)", re.MULTILINE)
_ADMONITION = re.compile(
    r"([ \t]*)(?:(?:!!!|\?\?\?\+?)[ \t]+([\w-]+)(?:[ \t]+[\w-]+)*(?:[ \t]+\"([^\"]*)\")?|===[!+]?[ "
    r"\t]+\"([^\"]+)\")[ \t]*"
)
_FOOTNOTE = re.compile(r"[ ]{0,3}\[\^[^\]\s]+\]:")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HIGHLIGHT = re.compile(
    r"^[ \t]*(?:\{%-?\s*highlight\s+(?P<liquid>[\w+-]+)[^%\n]*%\}"
    r"|\{\{<\s*highlight\s+(?P<shortcode>[\w+-]+)[^>\n]*>\}\})[ \t]*\n"
    r"(?P<code>(?:(?!\{%-?\s*(?:end)?highlight\b|\{\{<\s*/?highlight\b).)*)[ "
    r"\t]*(?:\{%-?\s*endhighlight\s*-?%\}|\{\{<\s*/highlight\s*>\}\})",
    re.MULTILINE | re.DOTALL,
)


def unfold(text: str, dialect: Dialect) -> str:
    """Rewrites a generator's blocks, and the prose that is indented below a footnote, as CommonMark has them. To be done
    before code is masked.
    """
    if dialect.has("admonitions") or "[^" in text:
        text = "\n".join(_flattened(text.split("\n"), admonitions=dialect.has("admonitions")))
    if dialect.has("liquid", "shortcodes"):
        text = _HIGHLIGHT.sub(
            lambda found: f"~~~~{found['liquid'] or found['shortcode']}\n{found['code'].rstrip()}\n~~~~", text
        )
    return text


def drop_syntax(text: str, dialect: Dialect, *, title: str) -> str:
    """Drops generator syntax and comments. `title` replaces a template's reference to the page's title."""
    text = _replaced(text, "<!--", "-->", lambda _: "", at_most=None)
    if dialect.has("erb"):
        text = _ERB_SIDE_CONTENT.sub("", text)
        text = _replaced(text, "<%", "%>", lambda code: _of_template(code, title), at_most=None)
    text = _braces(text, dialect, title)
    if dialect.has("jsx"):
        text = _replaced(text, "{/*", "*/}", lambda _: "", at_most=None)
        text = _JSX_SPACE.sub(" ", _EXPORT.sub("", _IMPORT.sub("", text)))
        text = _JSX_OBJECT.sub('=""', text)
    if dialect.has("kramdown"):
        text = _KRAMDOWN.sub("", _KRAMDOWN_COMMENT.sub("", text))
    if dialect.has("attributes"):
        text = _ATTRIBUTES.sub(_without_attributes, text)
    if dialect.has("containers"):
        text = _CALLOUT.sub(_callout, text)
        text = _DIRECTIVE.sub(lambda found: _headline(found[1], found[2] or found[3]), text)
    if dialect.has("alerts"):
        text = _ALERT.sub(lambda found: f"{found[1]}**{found[2].capitalize()}**", text)
    return text


def _braces(text: str, dialect: Dialect, title: str) -> str:
    def interpolated(code: str) -> str:
        return title if _TITLE.match(code) else ""

    if dialect.has("liquid"):
        text = _LIQUID_COMMENT.sub("", text)
    if dialect.has("shortcodes"):
        text = _replaced(text, "{{<", ">}}", _shown)
        text = _replaced(text, "{{%", "%}}", _shown)
    if dialect.has("includes"):
        text = _replaced(text, "{{#", "}}", lambda _: "")
    if dialect.has("liquid", "tags"):
        text = _replaced(text, "{%", "%}", _shown)
    if dialect.has("liquid", "interpolations"):
        text = _replaced(text.replace("${{", "{{"), "{{", "}}", interpolated)
    return text


def _replaced(
    text: str, opening: str, closing: str, replace: Callable[[str], str], *, at_most: int | None = _MAX_TAG
) -> str:
    """Replaces every span between two marks. Not by a pattern: it takes quadratic time where closing marks are missing."""
    pieces: list[str] = []
    position = start = 0
    while (start := text.find(opening, start)) >= 0:
        after = start + len(opening)
        end = text.find(closing, after, None if at_most is None else after + at_most)
        if end < 0 and at_most is None:
            break
        if end < 0 or (at_most is not None and "\n\n" in text[after:end]):
            start = after
            continue
        pieces += [text[position:start], replace(text[after:end])]
        position = start = end + len(closing)
    return "".join([*pieces, text[position:]])


def _of_template(code: str, title: str) -> str:
    """Returns the words in an ERB tag that a reader would see."""
    if code.startswith("#") or not code.startswith("="):
        return ""
    if _TITLE.match(code):
        return title
    strings = [single or double for single, double in _STRING.findall(code)]
    return " ".join(
        string.replace("\\'", "'").replace('\\"', '"') for string in strings if " " in string.strip()
    )


def _shown(code: str) -> str:
    """Returns the arguments of a tag or shortcode that readers see: `{% tab title="macOS" %}`."""
    values = (next(filter(None, alternatives), "").strip() for alternatives in _SHOWN.findall(code))
    return " ".join(f"**{value}**" for value in values if value)


def _without_attributes(found: re.Match[str]) -> str:
    """Drops attributes, but for the anchor of a heading."""
    if not found[1]:
        return ""
    anchor = _ID.search(found[0][len(found[1]) :])
    return f"{found[1]} {{#{anchor[1]}}}" if anchor else found[1]


def _callout(found: re.Match[str]) -> str:
    kind = re.search(r"\.callout-([\w-]+)", found[1])
    title = re.search(r"\btitle=\"([^\"]*)\"", found[1])
    if kind or title or re.match(r"\s*\.", found[1]):
        return _headline(kind[1] if kind else None, title[1] if title else None)
    return found[0]


def _headline(kind: str | None, title: str | None) -> str:
    title = (title or "").strip()
    if not kind or kind in _LAYOUT:
        return f"\n**{title}**\n" if title else ""
    label = kind.replace("-", " ").capitalize()
    return f"\n**{label}: {title}**\n" if title else f"\n**{label}**\n"


def _flattened(lines: list[str], *, admonitions: bool, depth: int = 0) -> Iterator[str]:
    """Yields the lines. Footnotes, and admonitions and tabs of Python-Markdown, lose the indentation of their body."""
    index, fence = 0, ""
    while index < len(lines):
        line = lines[index]
        index += 1
        mark = _FENCE.match(line)
        if mark and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else mark[1]
        found = _ADMONITION.fullmatch(line) if admonitions and not fence else None
        if found is None and (fence or not _FOOTNOTE.match(line)):
            yield line
            continue
        start, inner = index, _indent(line) + 4
        while index < len(lines) and (not lines[index].strip() or _indent(lines[index]) >= inner):
            index += 1
        below = [line.expandtabs(4)[inner:] for line in lines[start:index]]
        body = _flattened(below, admonitions=admonitions, depth=depth + 1) if depth < _MAX_DEPTH else below
        if found is None:
            yield from (line, *body)
            continue
        tab, kind, title = found[4], found[2], found[3]
        # `!!! note ""` has no title.
        headline = f"**{tab}**" if tab else "" if title == "" else _headline(kind, title).strip()
        yield from (found[1] + line if line else "" for line in ("", headline, "", *body, ""))


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))
