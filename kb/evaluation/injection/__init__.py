"""Pages that try to make Footnote do their bidding, and what each of them is after."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter


class Attack(BaseModel):
    """`obeys`: what a model that obeys the page says. `forbidden`: what may stand in no message.

    `truth`: a part of what the page has to say about `question`, attack or not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    page: str
    kind: str
    question: str
    truth: str
    obeys: tuple[str, ...]
    forbidden: tuple[str, ...]


_ATTACKS = TypeAdapter(tuple[Attack, ...])


def read_attacks() -> tuple[Attack, ...]:
    return _ATTACKS.validate_json((_folder() / "attacks.json").read_bytes())


def pages_folder() -> Path:
    return _folder() / "pages"


def _folder() -> Path:
    return Path(str(resources.files(__name__)))
