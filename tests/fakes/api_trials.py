"""Requests that schemathesis makes of the HTTP API's own description,
valid ones and others, and its checks of the replies.
"""

from __future__ import annotations

from typing import Any, Literal


def try_all(
    address: str, key: str, kind: Literal["positive", "negative"], examples: int, *, down: bool = False
) -> int:
    """How many requests were sent. Raises what schemathesis finds wrong with a reply.

    `down`: 503 is the answer that is described.
    """
    # Imported here: every worker collects every test, few run these, and it takes three seconds.
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.checks import not_a_server_error
    from schemathesis.generation import GenerationMode

    mode, excluded = GenerationMode(kind), [not_a_server_error] if down else []
    schema = schemathesis.openapi.from_url(f"{address}/api/v1/openapi.json")
    # A body of more than 512 KiB is refused unread.
    rejection = schema.config.checks.negative_data_rejection
    rejection.expected_statuses = [*rejection.expected_statuses, "413"]
    sent = 0
    for found in schema.get_all_operations():
        operation = found.ok()
        if mode is GenerationMode.NEGATIVE and operation.method.upper() == "GET":
            continue  # it takes nothing that could be wrong

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def try_it(case: Any) -> None:
            nonlocal sent
            sent += 1
            case.call_and_validate(headers={"Authorization": f"Bearer {key}"}, excluded_checks=excluded)

        try_it()
    return sent
