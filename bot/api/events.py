"""How the description tells of the stream: each event as an object, the way OpenAPI 3.2 does (section
4.14.4); in 3.1 that has to be the schema of the body. What the events mean is told in `bot.api.streaming`.
"""

from __future__ import annotations

from typing import Any


def _component(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


_INTEGER = {"type": "integer", "minimum": 0}
_TEXT = {"type": "string"}

EVENTS: dict[str, dict[str, Any]] = {
    "stage": _object(
        stage={"type": "string", "enum": ["searching", "reading", "writing", "checking"]}, pages=_INTEGER
    ),
    "citation": _component("Citation"),
    "sentence": _object(index=_INTEGER, text=_TEXT, citations={"type": "array", "items": _INTEGER}),
    "removed": _object(index=_INTEGER),
    "warning": _component("Warned"),
    "answer": _component("Answer"),
    "error": _object(code={"type": "string", "enum": ["unavailable", "busy", "failed"]}, message=_TEXT),
}
"""The schema of each event's data, which is JSON."""

STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": (
            "`stage`: what is being done. `citation`: before the first sentence that cites it. "
            "`sentence`: it is what its pages say, "
            "by the letter. `removed`: the last check took that sentence back. `warning`: why a page "
            "deserves doubt. The last event "
            "is `answer`, the whole answer, which counts whatever came before; or `error`: there is "
            "none, and `unavailable` says "
            "nothing about the pages."
        ),
        "content": {
            "text/event-stream": {
                "schema": {
                    "oneOf": [
                        _object(
                            event={"const": name},
                            data={
                                "type": "string",
                                "contentMediaType": "application/json",
                                "contentSchema": schema,
                            },
                        )
                        for name, schema in EVENTS.items()
                    ]
                }
            }
        },
    },
}
