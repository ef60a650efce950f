"""Reads the arguments of a Web API call, whether they come as JSON, as a form or in the query."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from bot.playground.refusal import Refused, invalid


class Arguments(dict[str, Any]):
    """Reads untyped arguments as typed ones; each reader refuses as Slack does. An argument that is null is absent."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__({name: value for name, value in values.items() if value is not None})

    def text(self, name: str, default: str = "") -> str:
        value = self.get(name, default)
        return value if isinstance(value, str) else str(value)

    def required(self, name: str) -> str:
        value = self.text(name)
        if not value:
            raise invalid("invalid_arguments", f"[ERROR] missing required field: {name}")
        return value

    def number(self, name: str, default: int) -> int:
        try:
            return int(self.get(name, default))
        except (TypeError, ValueError):
            raise invalid("invalid_arguments", f"[ERROR] must be an integer [json-pointer:/{name}]") from None

    def flag(self, name: str) -> bool:
        return str(self.get(name, "")).lower() in ("1", "true")

    def structure(self, name: str, *, refusal: str = "invalid_arguments") -> Any:
        """Returns a list or an object, which a form carries as JSON text; None when it is absent.

        Raises:
            Refused: with `refusal`, when the text is not JSON.
        """
        value = self.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except ValueError:
            raise Refused(refusal) from None


async def read_arguments(request: web.Request) -> tuple[Arguments, str | None]:
    """Returns the arguments of a request, and the token if it came among them."""
    values: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        try:
            body = json.loads(await request.text() or "{}")
        except ValueError:
            raise Refused("invalid_json") from None
        if not isinstance(body, dict):
            raise Refused("json_not_object")
        values.update(body)
    elif request.can_read_body:
        form = await request.post()
        values.update({name: value for name, value in form.items() if isinstance(value, str)})
    token = values.pop("token", None)
    return Arguments(values), str(token) if token else None
