"""What a generation of the index says of itself: measured when it is built, kept with it.

Whether a cross-encoder helps depends on the pages. So it is tried on the knowledge base itself:
`kb.retrieval.measuring` measures, this module says what was measured.
"""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict, ValidationError

CHANGED = 0.2
"""Share by which the number of passages may change before it is measured again."""


class _Stored(BaseModel):
    """Fields of other versions, earlier and later, are ignored: both may look at one index."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Reranking(_Stored):
    """Whether a cross-encoder earns its time on this knowledge base. `weight` 0: it does not, and is not run.

    `before` and `after`: mean reciprocal rank of the sections that were searched for, without and with it; `chance`:
    how often scores without meaning would have gained as much. `milliseconds` for the candidates of one question.
    """

    model: str
    weight: float
    candidates: int
    before: float = 0.0
    after: float = 0.0
    chance: float = 1.0
    milliseconds: float = 0.0
    samples: int = 0

    @property
    def helps(self) -> bool:
        return self.weight > 0


class Calibration(_Stored):
    """`passages` of the index when it was measured, at `measured`. `reranking` None: by a version that tried none."""

    reranking: Reranking | None = None
    passages: int
    measured: datetime | None = None

    def outgrown(self, passages: int) -> bool:
        """Tells whether the index has changed so much that it should be measured again."""
        return abs(passages - self.passages) > CHANGED * self.passages


def to_text(calibration: Calibration) -> str:
    return calibration.model_dump_json(indent=1) + "\n"


def from_text(text: str) -> Calibration | None:
    """Reads a calibration; None where it cannot be read, so that it is measured again."""
    try:
        return Calibration.model_validate_json(text)
    except ValidationError:
        return None
