"""Defines how Slack refuses a call."""

from __future__ import annotations

from typing import Any


class Refused(Exception):  # noqa: N818 - the word Slack's users would use; `SlackError` is the SDK's
    """A Web API call that Slack answers with `{"ok": false, "error": code}`.

    `details` is merged into the answer (`response_metadata`, `needed`, ...).
    """

    def __init__(self, code: str, **details: Any) -> None:
        super().__init__(code)
        self.code = code
        self.details = details


class PlaygroundError(Exception):
    """A person in the playground tried what Slack's own client would not offer: the message says why."""


def invalid(code: str, *problems: str) -> Refused:
    """Returns a refusal that lists its problems as Slack does: `[ERROR] ... [json-pointer:/blocks/0/text]`."""
    return Refused(
        code,
        errors=[problem.removeprefix("[ERROR] ") for problem in problems],
        response_metadata={"messages": list(problems)},
    )
