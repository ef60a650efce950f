"""What a converted model's tokens are made by: its own tokenizer's file."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from kb.inference.onnx.converted import TOKENIZER
from kb.inference.onnx.piece_tokens import PIECES, PieceTokens
from kb.inference.word_counts import WordTokenCounts

Text: TypeAlias = str | tuple[str, str]
"""A text, or for a reranker a question and a passage."""


class Tokens(Protocol):
    """Any thread may call it. `special`: marks that are added to a text."""

    @property
    def special(self) -> int: ...

    def count(self, text: str) -> int:
        """Counts without the marks, and without a limit."""

    def encode(self, texts: Sequence[Any]) -> dict[str, list[list[int]]]:
        """Returns, by the name of a graph's input, as many numbers for each text, cut to the model's limit."""


def tokens_of(folder: Path, max_tokens: int) -> Tokens:
    """Raises whatever the library does that reads the file."""
    if (folder / PIECES).is_file():
        return PieceTokens(folder / PIECES, max_tokens)
    return FileTokens((folder / TOKENIZER).read_text(encoding="utf-8"), max_tokens)


class FileTokens:
    """Tokens by the `tokenizers` library: one that cuts and pads, and one that counts."""

    def __init__(self, written: str, max_tokens: int) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the caller's thread, with its priority
        from tokenizers import Tokenizer

        self._read = Tokenizer.from_str
        self._written, self._max_tokens = written, max_tokens
        self._counting = self._read(written)
        self._counting.no_truncation()
        self._counting.no_padding()
        self._count = WordTokenCounts(self._counts) if _is_by_word(json.loads(written)) else self._whole

    @cached_property
    def _fitting(self) -> Any:
        """Loaded when needed, as reading it takes as long again: counting needs no second tokenizer."""
        fitting = self._read(self._written)
        fitting.enable_truncation(self._max_tokens)
        fitting.enable_padding(**_padding(self._written))
        return fitting

    @property
    def special(self) -> int:
        return int(self._counting.num_special_tokens_to_add(False))

    def count(self, text: str) -> int:
        return self._count(text)

    def _whole(self, text: str) -> int:
        return len(self._counting.encode(text, add_special_tokens=False))

    def _counts(self, texts: Sequence[str]) -> list[int]:
        made = self._counting.encode(texts, is_pretokenized=True, add_special_tokens=False)
        counts = Counter(made.word_ids)
        return [counts[index] for index in range(len(texts))]

    def encode(self, texts: Sequence[Text]) -> dict[str, list[list[int]]]:
        encodings = self._fitting.encode_batch(list(texts))
        return {
            "input_ids": [encoding.ids for encoding in encodings],
            "attention_mask": [encoding.attention_mask for encoding in encodings],
            "token_type_ids": [encoding.type_ids for encoding in encodings],
        }


def _is_by_word(tokenizer: dict[str, Any]) -> bool:
    """Whether a tokenizer is of BERT's kind: it splits at white space before it does anything else, and no added token
    contains any.
    """
    kinds = {
        part: (tokenizer.get(part) or {}).get("type") for part in ("normalizer", "pre_tokenizer", "model")
    }
    return (
        kinds["pre_tokenizer"] == "BertPreTokenizer"
        and kinds["normalizer"] in (None, "BertNormalizer")
        and kinds["model"] == "WordPiece"
        and not any(len(mark["content"].split()) != 1 for mark in tokenizer.get("added_tokens") or ())
    )


def _padding(tokenizer: str) -> dict[str, Any]:
    """Returns the model's own padding as keywords of `enable_padding`, to the longest of a batch."""
    own = json.loads(tokenizer)["padding"]
    return {
        "direction": own["direction"].lower(),
        "pad_id": own["pad_id"],
        "pad_type_id": own["pad_type_id"],
        "pad_token": own["pad_token"],
    }
