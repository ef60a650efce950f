"""Runs one peer's driver in processes of its own, and reads what it tells.

index once -> ask every question in a new process -> ask one question in a few more, each from its start
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import psutil
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tests.bench_peers.driver import ENCODER, MODEL, VECTORS

QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
    "LANGSMITH_TRACING": "false",
    "LOGFIRE_SEND_TO_LOGFIRE": "false",
    "ORT_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
}
"""No peer tells anybody that it ran, and none looks for a model elsewhere."""
LAST_LINES = 12
"""Of its errors, shown for a driver that failed."""


class DriverFailedError(Exception):
    """A driver ended, or told something else than it should."""


class Cost(BaseModel):
    """Of the whole process, embedding included; `embedding_*` is that part of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: float
    cpu_s: float
    embedding_s: float
    embedding_cpu_s: float


class Indexed(Cost):
    event: Literal["indexed"]
    about: dict[str, str]


class Answered(Cost):
    """`process_cpu_s`: CPU seconds of the process since its start."""

    event: Literal["answered"]
    id: str
    ranking: tuple[str, ...]
    process_cpu_s: float


_LINE: TypeAdapter[Indexed | Answered] = TypeAdapter(
    Annotated[Indexed | Answered, Field(discriminator="event")]
)
_Told = TypeVar("_Told", Indexed, Answered)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    id: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """`python` runs the driver `module`; `model` is the folder of what `encoder` runs.

    `vectors`: a file in which each passage's vector is kept for the next peer.
    """

    name: str
    module: str
    python: Path
    model: Path
    encoder: Literal["onnx", "torch"]
    vectors: Path | None = None

    def command(self, *arguments: str | Path) -> list[str]:
        return [str(self.python), "-m", f"tests.bench_peers.drivers.{self.module}", *map(str, arguments)]

    def environ(self, command: str) -> Mapping[str, str]:
        kept = {VECTORS: str(self.vectors)} if self.vectors is not None and command == "index" else {}
        return {**os.environ, **QUIET, MODEL: str(self.model), ENCODER: self.encoder, **kept}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """`answers` in the questions' order. `first_s`, `first_cpu_s`: from
    the start of a process to its first passages, once a start.

    `memory_mb`: resident, of the process and those that it started, after all questions.
    """

    name: str
    indexed: Indexed
    answers: Sequence[Answered]
    first_s: Sequence[float]
    first_cpu_s: Sequence[float]
    memory_mb: float
    loads: tuple[float, float]


def measure(
    setup: Setup, passages: Path, questions: Sequence[Asked], *, folder: Path, starts: int
) -> Measured:
    """
    Raises:
        DriverFailedError: with the last lines of what the driver complained about.
    """
    folder.mkdir(parents=True)
    before = os.getloadavg()[0]
    with _driver(setup, folder, "index", folder, passages) as process:
        indexed = _read(process, Indexed)
    answers, seconds, memory_mb = _asked(setup, questions, folder)
    first = [(seconds, answers[0].process_cpu_s)]
    for question in questions[1:starts]:
        (answer,), seconds, _ = _asked(setup, [question], folder)
        first.append((seconds, answer.process_cpu_s))
    return Measured(
        name=setup.name,
        indexed=indexed,
        answers=answers,
        first_s=[one[0] for one in first],
        first_cpu_s=[one[1] for one in first],
        memory_mb=memory_mb,
        loads=(before, os.getloadavg()[0]),
    )


def _asked(setup: Setup, questions: Sequence[Asked], folder: Path) -> tuple[list[Answered], float, float]:
    """A new process's answers, the seconds from its start to the first of
    them, and its memory after all of them, in MB.
    """
    started = time.monotonic()
    with _driver(setup, folder, "ask", folder) as process:
        answers = [_answer(process, questions[0])]
        first_s = time.monotonic() - started
        answers += [_answer(process, question) for question in questions[1:]]
        return answers, first_s, _memory_mb(process.pid)


def parse(line: str) -> Indexed | Answered:
    """One line that a driver told.

    Raises:
        DriverFailedError: it is something else.
    """
    try:
        return _LINE.validate_json(line)
    except ValidationError as error:
        raise DriverFailedError(f"the driver told {line[:200]!r}") from error


def _answer(process: subprocess.Popen[str], question: Asked) -> Answered:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"id": question.id, "text": question.text}) + "\n")
    process.stdin.flush()
    answered = _read(process, Answered)
    if answered.id != question.id:
        raise DriverFailedError(f"{question.id} was asked, {answered.id} was answered")
    return answered


def _read(process: subprocess.Popen[str], wanted: type[_Told]) -> _Told:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise DriverFailedError("the driver ended")
    told = parse(line)
    if not isinstance(told, wanted):
        raise DriverFailedError(f"the driver told {told.event}")
    return told


@contextmanager
def _driver(setup: Setup, folder: Path, command: str, *arguments: Path) -> Iterator[subprocess.Popen[str]]:
    errors = folder / "errors.log"
    with (
        errors.open("w", encoding="utf-8") as output,
        subprocess.Popen(
            setup.command(command, *arguments),
            env=setup.environ(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
        ) as process,
    ):
        try:
            yield process
        except (DriverFailedError, BrokenPipeError) as error:
            process.kill()
            last = "\n".join(errors.read_text(encoding="utf-8").splitlines()[-LAST_LINES:])
            raise DriverFailedError(f"{setup.name}, {command}: {error}\n{last}") from error
        except BaseException:
            process.kill()
            raise


def _memory_mb(pid: int) -> float:
    process = psutil.Process(pid)
    tree = [process, *process.children(recursive=True)]
    return float(sum(one.memory_info().rss for one in tree) / 2**20)


def own_python() -> Path:
    return Path(sys.executable)
