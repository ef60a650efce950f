"""Where model files come from: a folder, the local cache, or the model hub."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path

logger = logging.getLogger(__name__)

UNUSED = ("*.onnx", "*.h5", "*.ot", "*.msgpack", "*.tflite", "onnx/*", "openvino/*")
"""Weights for other runtimes; several times the size of what is loaded."""


def local_files(model: str) -> Path | None:
    """Returns the folder itself, or the cached snapshot of a hub name; None where this machine has neither."""
    if Path(model).expanduser().is_dir():
        return Path(model).expanduser()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(model, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        return None


def fetched_files(model: str, *, timeout_s: float | None) -> Path | None:
    """Downloads a hub name into the cache. None where the hub does not have it ready within `timeout_s`.

    The download runs in a daemon thread, for its own timeouts add up to minutes and cannot be lowered
    per call. One that is late goes on and fills the cache for the next start; nothing waits for it.
    """
    result: Future[Path | None] = Future()

    def fetch() -> None:
        from httpx2 import HTTPError
        from huggingface_hub import snapshot_download

        try:
            result.set_result(Path(snapshot_download(model, ignore_patterns=list(UNUSED))))
        except (OSError, ValueError, HTTPError) as error:
            logger.info("hub.failed", extra={"model": model, "cause": type(error).__name__})
        finally:
            if not result.done():
                result.set_result(None)

    threading.Thread(target=fetch, name="footnote-hub", daemon=True).start()
    try:
        return result.result(timeout_s)
    except FutureTimeoutError:
        return None
