"""The tokenizer of multilingual-e5-small by sentencepiece.

The `tokenizers` library takes three times the time and 230 MB more for it (`python -m tests.bench.loading`).
Both make the same tokens, apart from text that spells a mark of the model (`</s>`): here it is text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from kb.inference.word_counts import WordTokenCounts

PIECES = "pieces.model"
CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
SPACES = re.compile(r"\s+")


class PieceTokens:
    """Any thread may call it. No piece of this vocabulary goes on over a space."""

    def __init__(self, file: Path, max_tokens: int) -> None:
        import sentencepiece

        self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(file))
        self._begin, self._end = self._pieces.bos_id(), self._pieces.eos_id()
        self._padding = self._pieces.pad_id()
        self._room = max_tokens - self.special
        self._count = WordTokenCounts(self._counts)

    @property
    def special(self) -> int:
        """Marks around a text."""
        return 2

    def count(self, text: str) -> int:
        return self._count(text)

    def _counts(self, texts: Sequence[str]) -> list[int]:
        """Counts the pieces text by text: for a list, the library starts a thread each time."""
        return [len(self._pieces.encode(normalized(text))) for text in texts]

    def encode(self, texts: Sequence[str]) -> dict[str, list[list[int]]]:
        """Encodes texts: cuts those that are too long, and pads the others to the longest."""
        cut = [self._pieces.encode(normalized(text))[: self._room] for text in texts]
        longest = max(map(len, cut), default=0)
        filling = [longest - len(ids) for ids in cut]
        return {
            "input_ids": [
                [self._begin, *ids, self._end, *[self._padding] * rest]
                for ids, rest in zip(cut, filling, strict=True)
            ],
            "attention_mask": [
                [1] * (len(ids) + self.special) + [0] * rest for ids, rest in zip(cut, filling, strict=True)
            ],
        }


def normalized(text: str) -> str:
    return SPACES.sub(" ", CONTROL.sub("", unicodedata.normalize("NFKC", text)))
