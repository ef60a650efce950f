"""Settings of the store, and of a rebuild of the index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr

from kb.config.sections import Section


class ReindexSettings(Section):
    golden: Path | None = None
    """A file of questions that must still find their page, or a rebuilt index does not go live (docs/reindexing.md)."""


class StoreSettings(Section):
    redis_url: SecretStr | None = None
    """None: Valkey in the data folder. Several replicas need one Redis."""
    namespace: str = "footnote"
    """Put before each key in Redis. Bots that share a Redis need their own."""
    keep_threads_days: Annotated[int, Field(ge=1, le=3650)] = 90
    """Days for which a thread's conversation is kept after its last question."""
