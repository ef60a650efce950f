"""Counts tokens as an embedder's models do: without the models, and word by word where that is the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kb.inference.onnx.tokens import tokens_of


@dataclass(frozen=True, kw_only=True, slots=True)
class CountedModel:
    """`folder` holds the tokenizer's file. `max_tokens`: of a text that the model reads whole."""

    folder: Path
    max_tokens: int


def counter_of(models: Sequence[CountedModel]) -> Callable[[str], int]:
    """Returns what `Embedder.count_tokens` of the embedder with these models does. Raises whatever the library raises
    that reads the files.
    """
    counts = [(tokens_of(model.folder, model.max_tokens).count, model.max_tokens) for model in models]
    return lambda text: greatest([(count(text), most) for count, most in counts])


def greatest(counts: Sequence[tuple[int, int]]) -> int:
    """Returns the count that uses the greatest part of its model's limit, scaled to the tightest limit."""
    most = min(limit for _, limit in counts)
    return max(-(-count * most // limit) for count, limit in counts)
