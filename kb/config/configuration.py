"""Where the settings come from: `footnote.toml`, then the environment over it, then the command line over both.

A misspelt name is refused with the nearest right one; no message shows the value of a secret.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kb.config.sections import Section
from kb.config.settings import Settings
from kb.config.sources import nearest, unknown_key, with_environment
from kb.errors import SettingsError

PREFIX = "FOOTNOTE_"
SOURCES_PREFIX = f"{PREFIX}SOURCES__"

WELL_KNOWN: Mapping[str, tuple[str, ...]] = {
    "FOOTNOTE_DATA": ("data",),
    "ANTHROPIC_API_KEY": ("model", "api_key"),
    "ANTHROPIC_BASE_URL": ("model", "base_url"),
    "OLLAMA_BASE_URL": ("model", "ollama_base_url"),
    "QDRANT_URL": ("index", "qdrant_url"),
    "QDRANT_API_KEY": ("index", "qdrant_api_key"),
    "REDIS_URL": ("store", "redis_url"),
    "SLACK_BOT_TOKEN": ("slack", "bot_token"),
    "SLACK_APP_TOKEN": ("slack", "app_token"),
    "SLACK_SIGNING_SECRET": ("slack", "signing_secret"),
    "SLACK_API_URL": ("slack", "api_url"),
    "OTEL_EXPORTER_OTLP_ENDPOINT": ("telemetry", "traces"),
    "OTEL_SERVICE_NAME": ("telemetry", "service_name"),
}
"""Environment names without our prefix -> where they go."""


def load_settings(
    *, environ: Mapping[str, str] | None = None, file: Path | None = None, **overrides: Any
) -> Settings:
    """Reads `footnote.toml` (or `file`), then the environment over it, then `overrides` over both.

    Raises:
        SettingsError: a value is out of bounds or a name is unknown; the message names the nearest right one.
    """
    environ = os.environ if environ is None else environ
    merged = _from_toml(file)
    for path, value in _from_environment(environ):
        _put(merged, path, value)
    for name, value in overrides.items():
        if value is not None:
            _put(merged, (name,), value)
    _fill_sources(merged, environ)
    _reject_unknown(merged)
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise SettingsError(_explain(error)) from None  # the original would show the value of a secret


def _from_toml(file: Path | None) -> dict[str, Any]:
    path = file or Path("footnote.toml")
    if not path.exists():
        if file is not None:
            raise SettingsError(f"there is no settings file {file}; create it or drop --config")
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from error


def _from_environment(environ: Mapping[str, str]) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for name, value in environ.items():
        if name in WELL_KNOWN:
            if value:  # `ANTHROPIC_API_KEY=` in a compose file means "not set"
                found.append((WELL_KNOWN[name], value))
        elif name.startswith(PREFIX) and name != "FOOTNOTE_CONFIG" and not name.startswith(SOURCES_PREFIX):
            path = tuple(part.lower() for part in name.removeprefix(PREFIX).split("__"))
            found.append((path, _as_field(path, value)))
    return found


def _as_field(path: tuple[str, ...], value: str) -> Any:
    """Splits a comma-separated list where the field is a tuple; everything else is parsed by its type."""
    section = Settings.model_fields.get(path[0])
    if len(path) == 2 and section is not None and isinstance(section.default, Section):
        field = type(section.default).model_fields.get(path[1])
        if field is not None and isinstance(field.default, tuple):
            return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _fill_sources(merged: dict[str, Any], environ: Mapping[str, str]) -> None:
    """Applies the environment to the list of sources, in which it reaches each by its name."""
    sources = merged.get("sources", [])
    if not isinstance(sources, list) or not all(isinstance(entry, dict) for entry in sources):
        return  # validation says what is wrong with it
    try:
        merged["sources"] = with_environment(sources, environ, SOURCES_PREFIX)
    except ValueError as error:
        raise SettingsError(str(error)) from error


def _put(target: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *parents, last = path
    for parent in parents:
        target = target.setdefault(parent, {})
        if not isinstance(target, dict):
            raise SettingsError(f"{'.'.join(path)}: {parent} is a value, not a section")
    target[last] = value


def _reject_unknown(merged: Mapping[str, Any]) -> None:
    for name, value in merged.items():
        field = Settings.model_fields.get(name)
        if field is None:
            raise SettingsError(_unknown(name, list(Settings.model_fields)))
        if isinstance(value, dict) and isinstance(field.default, Section):
            known = list(type(field.default).model_fields)
            for key in value:
                if key not in known:
                    raise SettingsError(_unknown(f"{name}.{key}", [f"{name}.{other}" for other in known]))
    for source in merged.get("sources", ()):
        for key in source if isinstance(source, dict) else ():
            hint = unknown_key(source, key)
            if hint is not None:
                raise SettingsError(f"unknown setting {key!r} of source {source.get('name')!r}; {hint}")


def _unknown(name: str, known: list[str]) -> str:
    return f"unknown setting {name!r}; {nearest(name, known)}"


def _explain(error: ValidationError) -> str:
    lines = [
        f"{'.'.join(str(part) for part in problem['loc']) or 'settings'}: {problem['msg']}"
        for problem in error.errors(include_input=False, include_url=False)
    ]
    return "the settings cannot be used:\n  " + "\n  ".join(lines)
