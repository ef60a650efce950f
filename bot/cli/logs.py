"""Logs on stderr: time, level, event and its fields, one line each. No message text above debug."""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Any

from kb.runtime.tracing import current_ids

_INPUT = re.compile(r"(\[type=[^,\]]*), input_value=.*, input_type=[^\],]*(?=\])")
ROOMS = ("bot", "kb", "ingest")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class EventFormatter(logging.Formatter):
    """`2026-11-27T10:02:03 INFO kb.llm llm.completed model=claude-sonnet-5-5 ms=840`."""

    def __init__(self, *, traces: bool = True) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s", datefmt="%Y-%m-%dT%H:%M:%S")
        self._traces = traces

    def format(self, record: logging.LogRecord) -> str:
        return without_inputs(super().format(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the base class's name
        return super().formatException(ei) if self._traces else f"  {ei[1]}"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the base class's name
        fields = [f"{name}={_shown(value)}" for name, value in vars(record).items() if name not in _STANDARD]
        return " ".join([super().formatMessage(record), *fields])


class JsonFormatter(EventFormatter):
    """Writes events as JSON, one object a line, for log collectors;
    `trace_id` and `span_id` where a trace is under way.
    """

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "event": record.getMessage(),
        }
        if ids := current_ids():
            fields["trace_id"], fields["span_id"] = ids
        fields |= {
            name: without_inputs(str(value)) if isinstance(value, str | BaseException) else value
            for name, value in vars(record).items()
            if name not in _STANDARD
        }
        if record.exc_info:
            fields["traceback"] = without_inputs(self.formatException(record.exc_info))
        return json.dumps(fields, ensure_ascii=False, default=str)


def start_logging(*, level: int, traces: bool = True, as_json: bool = False) -> None:
    """Logs our packages at `level`, libraries at warnings; without `traces` an error has no traceback."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter((JsonFormatter if as_json else EventFormatter)(traces=traces))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for room in ROOMS:
        logging.getLogger(room).setLevel(level)
    # Who types a command waits for it anyway: that its loop was late is for those who run a bot.
    logging.getLogger("kb.runtime.loop_watch").setLevel(logging.NOTSET if traces else logging.ERROR)


def without_inputs(text: str) -> str:
    """Removes the values that pydantic quotes in its errors, since people wrote them."""
    return _INPUT.sub(r"\1", text)


def _shown(value: object) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or any(c in text for c in ' "=\n') else text
