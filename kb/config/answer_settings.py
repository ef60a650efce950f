"""Settings of answers: how many passages are read, what counts as evidence, and when a page is outdated."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from kb.config.sections import Section


class FreshnessSettings(Section):
    max_age_days: Annotated[int, Field(ge=1, le=36500)] = 365
    """A page without a review date is outdated when its last edit is older than this."""
    max_age_by_source: Mapping[str, Annotated[int, Field(ge=1, le=36500)]] = {}
    """Age limit in days for the pages of a source, by its name. A source's own `max_age_days` wins."""
    max_age_by_path: Mapping[str, Annotated[int, Field(ge=1, le=36500)]] = {}
    """Age limit in days for pages whose path matches (gitignore syntax); the first match wins, over any source's."""


class AnswerSettings(Section):
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    """Where no model writes: evidence below this is called the closest, below
    a quarter of it nothing is shown. None: what the file of weights says."""
    relevance_file: Path | None = None
    """Weights of the evidence's confidence, as `footnote eval decline
    --fit --weights FILE` writes them. None: the bundled ones.
    """
    max_sentences: Annotated[int, Field(ge=1, le=30)] = 4
    """Sentences that a model is asked to write at most."""
    read_passages: Annotated[int, Field(ge=1, le=50)] = 16
    """Passages that a model reads; the neighbours of the best are added where there is room."""
    read_tokens: Annotated[int, Field(ge=500, le=100_000)] = 6000
    """About so many tokens of passages a question."""
    judge: Literal["auto", "off"] = "auto"
    """auto: the small model is asked whether each sentence is what its passage says, within three seconds."""
