"""Finds a model's conversion, or makes it: in a process of its own, whole or not at all, once for each set of weights.

Made at set-up for the default model; at the first start for any other. It is kept beside the Python environment, or in
the user's cache where that cannot be written. The process has torch in memory (some 700 MB) and ends; whatever goes
wrong in it, a crash included, leaves torch to run the model.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import kb
from kb.inference.onnx.converted import Kind, read_card

logger = logging.getLogger(__name__)

FORMAT = 1
"""Raised when the converter makes something else of the same weights."""
TAKES_PART = ("onnxruntime", "onnx", "torch", "transformers", "sentence-transformers")
MARKS = ("modules.json", "config.json")
"""One of them is in the folder of every model."""
WEIGHTS = ("*.safetensors", "*.bin", "*.json", "*.txt", "*.model")
"""The files that make a model; the same patterns in its subfolders."""
PATIENCE_S = 900.0
REFUSED = 3
"""The converter's exit code for a model that it cannot convert; its last line says why."""


def converted(model: Path, kind: Kind) -> Path | None:
    """The folder of the conversion of `model`, which is made if need be: 15 to 40 s of CPU, blocking.

    None where there is none, with one line in the log that says why; a folder without a model is torch's to report.
    """
    if not any((model / name).is_file() for name in MARKS):
        return None
    try:
        key = key_of(model, kind)
    except (OSError, PackageNotFoundError) as error:
        logger.info("onnx.missing", extra={"kind": kind, "reason": str(error)})
        return None
    found = _found(key)
    if found is not None:
        return found
    refusal = _refusal(key)
    if refusal is None:
        try:
            return _make(model, kind, key)
        except (OSError, subprocess.TimeoutExpired, _ConversionError) as error:
            refusal = str(error)
    logger.warning("onnx.unconverted", extra={"kind": kind, "reason": refusal})
    return None


def key_of(model: Path, kind: Kind) -> str:
    """Of the weights and of all that takes part in converting them.

    Raises:
        PackageNotFoundError: ONNX Runtime or another part is not installed.
        OSError: the weights cannot be read.
    """
    digest = hashlib.sha256(f"{FORMAT} {kind}".encode())
    for package in TAKES_PART:
        digest.update(f" {package} {version(package)}".encode())
    for file in sorted({file for pattern in WEIGHTS for file in model.rglob(pattern)}):
        name = file.relative_to(model)
        if file.is_file() and name.parts[0] not in {"onnx", "openvino"}:
            with file.open("rb") as content:
                digest.update(f" {name} {hashlib.file_digest(content, 'sha256').hexdigest()}".encode())
    return f"{kind}-{digest.hexdigest()[:24]}"


def stores() -> list[Path]:
    """Where conversions are kept, the first choice first."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return [Path(sys.prefix) / "share" / "footnote" / "models", cache / "footnote" / "models"]


class _ConversionError(Exception):
    """The converter failed; the message is its last line."""


def _found(key: str) -> Path | None:
    return next((store / key for store in stores() if read_card(store / key) is not None), None)


def _refusal(key: str) -> str | None:
    """Why this model could not be converted before."""
    for store in stores():
        note = _note(store, key)
        if note.is_file():
            return note.read_text(encoding="utf-8")
    return None


def _note(store: Path, key: str) -> Path:
    return store / f"{key}.refused"


def _make(model: Path, kind: Kind, key: str) -> Path:
    store = _writable_store()
    with _alone(store / f"{key}.lock"):
        found = _found(key)  # by another process, while this one waited
        if found is not None:
            return found
        logger.info("onnx.converting", extra={"kind": kind, "model": str(model), "to": str(store / key)})
        started = time.perf_counter()
        draft = Path(tempfile.mkdtemp(prefix=f"{key}.", dir=store))
        try:
            _convert(model, kind, draft, note=_note(store, key))
            draft.chmod(0o755)  # others may run what root made at set-up
            draft.rename(store / key)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    logger.info("onnx.converted", extra={"kind": kind, "seconds": round(time.perf_counter() - started, 1)})
    return store / key


def _convert(model: Path, kind: Kind, draft: Path, *, note: Path) -> None:
    ours = str(Path(kb.__file__).parents[1])  # not a `kb` of the folder that Footnote was started in
    done = subprocess.run(
        [sys.executable, "-P", "-m", "kb.inference.onnx.convert", kind, str(model), str(draft)],
        env={**os.environ, "PYTHONPATH": ours},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    if done.returncode == 0:
        return
    reason = (done.stderr.strip().splitlines() or [f"the converter ended with {done.returncode}"])[-1]
    if done.returncode == REFUSED:
        note.write_text(reason, encoding="utf-8")
    raise _ConversionError(reason)


def _writable_store() -> Path:
    """
    Raises:
        OSError: no store can be written.
    """
    *preferred, last = stores()
    for store in preferred:
        try:
            store.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(store, os.W_OK):
            return store
    last.mkdir(parents=True, exist_ok=True)
    return last


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
