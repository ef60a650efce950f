"""Programs that read documents: pandoc, pdftotext, LibreOffice. An error names the one that is missing."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from kb.errors import FootnoteError

SECONDS = 120.0
"""For one file: LibreOffice takes some seconds to start."""
_PACKAGES = {"pandoc": "pandoc", "pdftotext": "poppler-utils", "soffice": "libreoffice"}


class UncheckedError(FootnoteError):
    """The file cannot be read a second time; the text says what is missing.

    UncheckedError
    └── MissingToolError    no program here reads the format
    """


class MissingToolError(UncheckedError):
    def __init__(self, tool: str) -> None:
        super().__init__(f"{tool} is not installed (package {_PACKAGES[tool]})")


def pandoc(content: bytes, *, reader: str, suffix: str) -> bytes:
    """Returns the document as HTML."""
    arguments = [
        "--from",
        reader,
        *["--to", "html", "--wrap", "preserve", "--no-highlight", "--mathjax", "--quiet"],
    ]
    return _output("pandoc", content, suffix, arguments)


def pdf_text(content: bytes) -> str:
    """Returns a PDF's text in reading order; a form feed ends a page."""
    return _output("pdftotext", content, ".pdf", ["-enc", "UTF-8"], ["-"]).decode("utf-8", "replace")


def office(content: bytes, *, suffix: str, target: str) -> bytes:
    """Returns the document as LibreOffice saves it in another format, cells as they are shown."""
    program = _found("soffice")
    with TemporaryDirectory(prefix="footnote-fidelity-") as folder:
        file = Path(folder, f"original{suffix}")
        file.write_bytes(content)
        profile = f"-env:UserInstallation=file://{folder}/profile"
        _run([program, profile, "--headless", "--convert-to", target, "--outdir", folder, str(file)])
        made = Path(folder, f"original.{target.partition(':')[0]}")
        if not made.is_file():
            raise UncheckedError("LibreOffice cannot read it")
        return made.read_bytes()


def _output(tool: str, content: bytes, suffix: str, before: list[str], after: Sequence[str] = ()) -> bytes:
    program = _found(tool)
    with TemporaryDirectory(prefix="footnote-fidelity-") as folder:
        file = Path(folder, f"original{suffix}")
        file.write_bytes(content)
        return _run([program, *before, str(file), *after])


def _found(tool: str) -> str:
    program = shutil.which(tool)
    if program is None:
        raise MissingToolError(tool)
    return program


def _run(command: list[str]) -> bytes:
    name = Path(command[0]).name
    try:
        return subprocess.run(command, capture_output=True, check=True, timeout=SECONDS).stdout
    except subprocess.TimeoutExpired as error:
        raise UncheckedError(f"{name} took longer than {SECONDS:.0f} s") from error
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UncheckedError(f"{name} cannot read it{f': {lines[-1]}' if lines else ''}") from error
