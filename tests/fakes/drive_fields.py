"""The parameters `fields` and `q` of the Drive API
(https://developers.google.com/workspace/drive/api/guides/fields-parameter and
.../search-files)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
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


def read_query(written: str) -> Callable[[Mapping[str, Any]], bool]:
    """The search terms that we use: parents, joined by "or", and whether it is in the trash."""
    rest = re.sub(r"'[^']+' in parents", "", written)
    assert re.fullmatch(r"[()\s]*(?:or\s*|[()\s])*(?:and\s*)?(?:trashed = false)?", rest), written
    parents = set(re.findall(r"'([^']+)' in parents", written))
    whole = "trashed = false" not in written

    def wanted(told: Mapping[str, Any]) -> bool:
        above: Iterable[str] = told.get("parents") or ()
        return (whole or not told["trashed"]) and (not parents or bool(parents & set(above)))

    return wanted


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
