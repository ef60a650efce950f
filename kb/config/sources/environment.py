"""What the environment adds to the sources of a settings file, and what is said of a misspelt key.

Tokens are given by the environment: `FOOTNOTE_SOURCES__<NAME>__TOKEN`, or for every source of a kind by the
name that its vendor's users know (`CONFLUENCE_API_TOKEN`, `NOTION_TOKEN`, `GIT_TOKEN`, `GITHUB_TOKEN`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kb.config.sources.common import nearest
from kb.config.sources.kinds import KINDS, kind_of

TOKEN_VARIABLES = frozenset(variable for settings in KINDS.values() for variable in settings.variables)
"""Names of the environment, without our prefix, that fill a key of every source of some kind."""


def with_environment(
    sources: list[dict[str, Any]], environ: Mapping[str, str], prefix: str
) -> list[dict[str, Any]]:
    """Adds to the sources of a settings file what the environment has: `<prefix><NAME>__<KEY>`, then a kind's names.

    In a variable's name a source's dashes are underscores.

    Raises:
        ValueError: a variable names no source, with the nearest name.
    """
    filled = [dict(source) for source in sources]
    by_variable = {str(source.get("name", "")).upper().replace("-", "_"): source for source in filled}
    for variable, value in environ.items():
        if variable.startswith(prefix):
            name, _, key = variable.removeprefix(prefix).partition("__")
            if name not in by_variable or not key:
                raise ValueError(f"{variable} names no source; {nearest(name, list(by_variable))}")
            by_variable[name][key.lower()] = value
    for source in filled:
        settings = KINDS.get(kind_of(source))
        for variable, key in settings.variables.items() if settings else ():
            if environ.get(variable):
                source.setdefault(key, environ[variable])
    return filled


def unknown_key(source: object, key: str) -> str | None:
    """Returns what to say about a key that this source's kind does not have; None where it has the key."""
    known = KINDS.get(kind_of(source))
    if known is None or key in known.model_fields:
        return None
    return nearest(key, list(known.model_fields))
