"""`footnote settings`: every setting with its meaning, what it takes, its default and what it is now.

The meaning is the text below the setting in the code, so that
docs/settings.md, which is made from the same, cannot lag behind.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from rich.console import Console
from rich.table import Table

from bot.cli.output import print_result
from kb.config.configuration import PREFIX, WELL_KNOWN
from kb.config.sections import Section
from kb.config.settings import Settings

_CREDENTIALS = re.compile(r"//[^/@]*@")
"""A name and a password in an address, which are not shown with the settings."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One setting. `name` as in `footnote.toml`, with its section;
    `takes` in words; `default` as TOML would have it.
    """

    name: str
    environment: str
    takes: str
    default: str
    now: str
    meaning: str


def all_settings(settings: Settings) -> Iterator[Setting]:
    """Yields the settings in the order of the code, a secret as set or not; sources have a manual of their own."""
    usual_names = {path: name for name, path in WELL_KNOWN.items()}
    for (section, kind), values in _sections(settings):
        meanings = _meanings(kind)
        schema = kind.model_json_schema()
        properties, definitions = schema["properties"], schema.get("$defs", {})
        for key, field in kind.model_fields.items():
            if isinstance(field.default, Section) or key == "sources":
                continue
            path = (section, key) if section else (key,)
            yield Setting(
                name=".".join(path),
                environment=usual_names.get(path, PREFIX + "__".join(path).upper()),
                takes=_taken(properties[key], definitions),
                default=_shown(field.default),
                now=_shown(getattr(values, key)),
                meaning=meanings.get(key, ""),
            )


def show(settings: Settings, *, as_json: bool) -> None:
    print_result([asdict(setting) for setting in all_settings(settings)], _show, as_json=as_json)


def _show(settings: list[dict[str, str]]) -> None:
    table = Table("setting", "now", "meaning", show_lines=True)
    for setting in settings:
        now, default = setting["now"], setting["default"]
        table.add_row(
            f"{setting['name']}\n[dim]{setting['environment']}[/dim]",
            now if now == default else f"[bold]{now}[/bold] (default: {default})",
            f"{setting['meaning']}\n[dim]{setting['takes']}[/dim]",
        )
    Console().print(table)


def manual() -> str:
    """Returns the text of docs/settings.md."""
    lines = [
        "# Settings",
        "",
        (
            "Made by `make docs` from the code; do not edit. Each setting stands in `footnote.toml` "
            "under its section, or in the environment;"
        ),
        (
            "the environment wins. `footnote settings` shows what each is now. A default of `none`: not set; "
            'what holds then is said behind "None:". [Sources](sources.md) have settings of their own.'
        ),
    ]
    by_section: dict[str, list[Setting]] = {}
    for setting in all_settings(Settings()):
        by_section.setdefault(setting.name.rpartition(".")[0], []).append(setting)
    for section, settings in by_section.items():
        kind = type(getattr(Settings(), section)) if section else Settings
        described = inspect.getdoc(kind) if section and "__doc__" in vars(kind) and kind.__doc__ else ""
        lines += ["", f"## {section}" if section else "## Top level", ""]
        if described:
            lines += [" ".join(described.split()), ""]
        lines += ["| setting | environment | takes | default | meaning |", "|---|---|---|---|---|"]
        lines += [
            (
                f"| `{setting.name.rpartition('.')[2]}` | `{setting.environment}` | {_cell(setting.takes)} | "
                f"`{setting.default}` | {_cell(setting.meaning)} |"
            )
            for setting in settings
        ]
    return "\n".join(lines) + "\n"


def _sections(settings: Settings) -> Iterator[tuple[tuple[str, type[Section]], Section]]:
    yield ("", Settings), settings
    for name, field in Settings.model_fields.items():
        if isinstance(field.default, Section):
            yield (name, type(field.default)), getattr(settings, name)


def _meanings(kind: type[Section]) -> dict[str, str]:
    """Maps each field to the docstring below it in the code."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for field, following in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match following:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    found[field.target.id] = " ".join(text.split())
    return found


def _taken(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Words what a field takes, by its JSON schema."""
    if "$ref" in schema:
        return _taken(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return " or ".join(
            _taken(option, definitions) for option in schema["anyOf"] if option.get("type") != "null"
        )
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    match schema.get("type"):
        case "boolean":
            return "true or false"
        case "integer" | "number":
            low = schema.get("minimum", schema.get("exclusiveMinimum"))
            above = "above " if "exclusiveMinimum" in schema else ""
            high = schema.get("maximum")
            return f"{above}{low:g} to {high:g}" if low is not None and high is not None else "a number"
        case "array":
            return "a list"
        case "object":
            return f"a table of {_taken(schema['additionalProperties'], definitions)}"
    return {"password": "a secret", "path": "a path", "uri": "an address", "duration": "30s, 5m, 6h, 1d"}.get(
        schema.get("format", ""), "text"
    )


def _shown(value: object) -> str:
    match value:
        case None:
            return "none"
        case SecretStr():
            return "set"
        case bool():
            return str(value).lower()
        case timedelta():
            return f'"{_span(value)}"'
        case tuple() | list():
            return "[" + ", ".join(map(_shown, value)) + "]"
        case Mapping():
            return "{" + ", ".join(f"{name} = {_shown(inner)}" for name, inner in value.items()) + "}"
        case str() | Path():
            return f'"{_CREDENTIALS.sub("//", str(value))}"'
    return str(value)


def _span(value: timedelta) -> str:
    """Writes a duration as `kb.config.sources.common.as_span` reads it."""
    seconds = round(value.total_seconds())
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
