"""Which languages an embedding model reads well enough to find by them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from kb.config.model_settings import EmbedSettings

READS: Mapping[str, frozenset[str] | None] = {
    "all-MiniLM-L6-v2": frozenset({"en"}),
    "multilingual-e5-small": None,
}
"""Languages by the last part of the model's name, ISO 639-1; None: all that we tell apart."""


@cache
def reads(model: str, language: str) -> bool:
    """Whether an embedder (a value of `embed.model`: a name, a folder, or several joined by "+") reads a language.

    Models that we do not know count as reading everything.
    """
    known = [READS.get(Path(name).name) for name in EmbedSettings(model=model).models]
    return any(languages is None or language in languages for languages in known)
