"""Each peer's own virtual environment, made once and kept: nothing of a peer is ever installed beside Footnote."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "requirements"
SETUP = HERE.parents[1] / "deploy" / "setup.sh"
NEEDS = {"haiku_rag": (3, 12)}
"""The oldest Python that a peer runs on, where Footnote's own may be older."""
NAMES = ("python3.13", "python3.12")
READY = ".ready"


class EnvironmentFailedError(Exception):
    """A peer cannot be installed here."""


def environment(module: str, folder: Path, *, torch: bool) -> Path:
    """The Python of the peer's environment below `folder`, which is made where it is not there as it should be.

    Raises:
        EnvironmentFailedError: no Python is new enough, or something cannot be installed.
    """
    venv = (folder / module).absolute()
    python = venv / "bin" / "python"
    files = [REQUIREMENTS / "encoder.txt", REQUIREMENTS / f"{module}.txt"]
    if torch:
        files.append(REQUIREMENTS / "sentence-transformers.txt")
    done = venv / READY
    wanted = _digest(files)
    if done.is_file() and wanted in done.read_text(encoding="utf-8").split():
        return python
    print(f"installing {module} in {venv} ...", file=sys.stderr, flush=True)
    if not python.exists():
        _run([_python(module), "-m", "venv", str(venv)])
    if torch:  # first, and as its CPU build
        _run(["sh", str(SETUP), str(venv), "torch"])
    listed = [argument for file in files for argument in ("-r", str(file))]
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *listed])
    with done.open("a", encoding="utf-8") as output:
        output.write(wanted + "\n")
    return python


def _python(module: str) -> str:
    """
    Raises:
        EnvironmentFailedError: none is new enough.
    """
    least = NEEDS.get(module, (3, 11))
    for candidate in (os.environ.get("PEERS_PYTHON"), sys.executable, *NAMES):
        found = shutil.which(candidate) if candidate else None
        if found is not None and _is_new_enough(found, least):
            return found
    raise EnvironmentFailedError(
        f"{module} needs Python {'.'.join(map(str, least))} or newer: set PEERS_PYTHON=/path/to/python"
    )


def _is_new_enough(python: str, least: tuple[int, ...]) -> bool:
    code = f"import sys; sys.exit(sys.version_info < {least!r})"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def _run(command: Sequence[str]) -> None:
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        said = (finished.stdout + finished.stderr).strip().splitlines()[-5:]
        raise EnvironmentFailedError(f"{' '.join(command)}:\n" + "\n".join(said))


def _digest(files: Sequence[Path]) -> str:
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:16]
