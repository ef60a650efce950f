"""What was asked of each model and what it cost, in tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelUsage:
    """Counts of one model. `input_tokens` leaves out what was read from the cache or written to it."""

    calls: int = 0
    retries: int = 0
    failures: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_written_tokens: int = 0

    def __add__(self, other: ModelUsage) -> ModelUsage:
        mine, more = asdict(self), asdict(other)
        return ModelUsage(**{name: mine[name] + more[name] for name in mine})

    def __sub__(self, other: ModelUsage) -> ModelUsage:
        mine, less = asdict(self), asdict(other)
        return ModelUsage(**{name: mine[name] - less[name] for name in mine})


USAGE_FIGURES: tuple[str, ...] = tuple(field.name for field in fields(ModelUsage))

UsageByModel = Mapping[str, ModelUsage]
