"""Reads files of cases and labels: one JSON document, or one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from kb.errors import SettingsError

_Model = TypeVar("_Model", bound=BaseModel)


def read_json(file: Path, model: type[_Model], *, fault: str) -> _Model:
    """Reads a file as a `model`.

    Args:
        fault: how the message of an error goes on after the file's name: "is not an answer set".

    Raises:
        SettingsError: the file cannot be read or has another form; the message says where.
    """
    try:
        return model.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise SettingsError(f"{file} {fault}: {error}") from error


def read_lines(file: Path, model: type[_Model]) -> Iterator[_Model]:
    """Reads a file with a JSON object on each line; empty lines are passed over.

    Raises:
        SettingsError: the file cannot be read, or a line has another form; the message says which.
    """
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield model.model_validate_json(line)
        except ValidationError as error:
            problem = error.errors()[0]
            where = "".join(f"{part}: " for part in problem["loc"])
            raise SettingsError(f"{file}, line {number}: {where}{problem['msg']}") from error
