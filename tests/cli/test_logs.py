"""What is written to the log, and what of it never is."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from pydantic import BaseModel, TypeAdapter

from bot.cli.logs import EventFormatter, JsonFormatter, start_logging
from bot.queue.queued_question import QueuedQuestion


class Noted(BaseModel):
    text: str
    when: int


def logged(broken: Callable[[], object], *, told: bool = False) -> str:
    """What the log says of an error, as the cause of another and as a field."""
    try:
        try:
            broken()
        except ValueError as error:
            raise RuntimeError("a question broke") from error
    except RuntimeError as error:
        record = logging.LogRecord(
            "bot", logging.ERROR, "x.py", 1, "question.broke", (), (type(error), error, None)
        )
        record.cause = repr(error.__cause__)
        record.told = str(error.__cause__) if told else ""
        return "\n".join(formatter.format(record) for formatter in (EventFormatter(), JsonFormatter()))


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize(
    "secret",
    [
        "my salary",
        "my 'salary' ]",
        "salary\nof mine",
        "my salary, input_type=str]",
        "salary " * 50,
        "]salary",
        "é salary",
    ],
)
def test_an_error_about_what_people_wrote_does_not_quote_it(secret: str, told: bool) -> None:
    for broken in (
        lambda: Noted.model_validate({"text": "a", "when": secret}),
        lambda: Noted.model_validate({"text": [secret], "when": 1}),
        lambda: Noted.model_validate_json(f'{{"text": "{secret}'),
        lambda: TypeAdapter(list[Noted]).validate_python(
            [{"text": "a", "when": secret}, {"when": {"x": secret}}]
        ),
        lambda: QueuedQuestion.model_validate({"text": secret, "mentioned": secret}),
    ):
        line = logged(broken, told=told)
        assert "salary" not in line
        assert "type=" in line or "validation error" in line


@pytest.mark.parametrize(("traces", "told"), [(True, True), (False, False)])
def test_a_late_loop_is_told_to_who_runs_a_bot_and_not_to_who_types_a_command(
    traces: bool, told: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    start_logging(level=logging.WARNING, traces=traces)
    logging.getLogger("kb.runtime.loop_watch").warning("loop.late")
    assert ("loop.late" in capfd.readouterr().err) == told
