"""Logs on stderr: time, level, event and its fields, one line each. No message text above debug."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

ROOMS = ("bot", "kb", "ingest")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class EventFormatter(logging.Formatter):
    """`2026-11-27T10:02:03 INFO kb.llm llm.completed model=claude-sonnet-5-5 ms=840`."""

    def __init__(self, *, traces: bool = True) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s", datefmt="%Y-%m-%dT%H:%M:%S")
        self._traces = traces

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the base class's name
        return super().formatException(ei) if self._traces else f"  {ei[1]}"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the base class's name
        fields = [f"{name}={_shown(value)}" for name, value in vars(record).items() if name not in _STANDARD]
        return " ".join([super().formatMessage(record), *fields])


def start_logging(*, level: int, traces: bool = True) -> None:
    """Our own rooms at `level`, every library at warnings. Without `traces` an error shows its text alone."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(EventFormatter(traces=traces))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for room in ROOMS:
        logging.getLogger(room).setLevel(level)


def _shown(value: object) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or any(c in text for c in ' "=\n') else text
