"""The parameter `fields` of Google's APIs (https://developers.google.com/workspace/drive/api/guides/fields-parameter)."""

from __future__ import annotations

from typing import Any

Fields = dict[str, "Fields | None"]


def read_fields(written: str) -> Fields:
    """ "a,b(c,d)" -> {"a": None, "b": {"c": None, "d": None}}."""
    fields, rest = _read(written)
    assert not rest, written
    return fields


def chosen(told: Any, fields: Fields) -> Any:
    if isinstance(told, list):
        return [chosen(one, fields) for one in told]
    return {
        name: told[name] if inner is None else chosen(told[name], inner)
        for name, inner in fields.items()
        if name in told
    }


def _read(written: str) -> tuple[Fields, str]:
    fields: Fields = {}
    while written and written[0] != ")":
        end = next((at for at, sign in enumerate(written) if sign in ",()"), len(written))
        name, written = written[:end], written[end:]
        assert name.isidentifier(), name
        fields[name] = None
        if written.startswith("("):
            fields[name], written = _read(written[1:])
            assert written.startswith(")")
            written = written[1:]
        written = written.removeprefix(",")
    return fields, written
