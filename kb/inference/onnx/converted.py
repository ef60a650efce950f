"""A converted model on disk: the graphs, the tokenizer, and a card that tells how to use them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

Kind = Literal["embedder", "reranker"]
Weights = Literal["fp32", "int8"]
CARD = "card.json"
TOKENIZER = "tokenizer.json"


class Card(BaseModel):
    """`inputs`: what the graph takes, by name. `dimension`: numbers that it returns for a text.

    `agreement`: how far each graph's results are those of torch, 1 for the same; a graph that is not there failed it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    dimension: int
    max_tokens: int
    inputs: tuple[str, ...]
    query_prompt: str = ""
    document_prompt: str = ""
    agreement: dict[Weights, float]


def read_card(folder: Path) -> Card | None:
    """Reads the card; None where the folder holds no complete conversion."""
    try:
        return Card.model_validate_json((folder / CARD).read_bytes())
    except (OSError, ValidationError):
        return None


def graph(folder: Path, weights: Weights) -> Path:
    return folder / f"{weights}.onnx"
