"""Removes the secrets of a settings file, and its comments, which may hold some too."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, SecretStr

from kb.config.settings import Settings
from kb.config.sources import AnySourceSettings

_LOGIN = re.compile(r"(?<=://)[^/@\s]*@")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def without_secrets(file: Path) -> str | None:
    """Returns the settings as TOML without secrets; None where the file is missing or is not TOML."""
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return "".join(f"{line}\n" for line in _lines(_public(document), ()))


def _public(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _public(inner) for key, inner in value.items() if key.lower() not in secret_names()}
    if isinstance(value, list):
        return [_public(item) for item in value]
    return _LOGIN.sub("", value) if isinstance(value, str) else value


@cache
def secret_names() -> frozenset[str]:
    """Names every setting that is a secret in some section, or of some kind of source."""
    return frozenset(_secrets(Settings)) | frozenset(
        name for kind in _models(AnySourceSettings) for name in _secrets(kind)
    )


def _secrets(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if SecretStr in (field.annotation, *get_args(field.annotation)):
            yield from filter(None, (name, field.alias))
        for kind in _models(field.annotation):
            yield from _secrets(kind)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Yields the lines of a TOML table: its own values, then the tables in it."""
    for key, value in table.items():
        if not _is_table(value):
            yield f"{_key(key)} = {_value(value)}"
    for key, value in table.items():
        if _is_table(value):
            head = ".".join(map(_key, (*path, key)))
            for inner in value if isinstance(value, list) else [value]:
                yield f"[[{head}]]" if isinstance(value, list) else f"[{head}]"
                yield from _lines(inner, (*path, key))


def _is_table(value: Any) -> bool:
    tables = isinstance(value, list) and value and all(isinstance(item, dict) for item in value)
    return bool(tables) or isinstance(value, dict)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + "}"
    return str(value)  # numbers, and dates and times, whose text is TOML's


def _text(value: str) -> str:
    """Writes a TOML string: with JSON's escapes, and U+007F escaped too, which JSON leaves as it is."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
