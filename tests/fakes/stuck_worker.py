"""A worker that parses as the real one does, but for files whose names say what goes wrong with them."""

from __future__ import annotations

import os
import time
from typing import Any

from ingest.parsers import worker
from ingest.parsers.formats import parse_file


def main() -> None:
    worker.parse_file = _parse_file
    worker.main()


def _parse_file(content: bytes, *, path: str, media_type: str | None = None) -> Any:
    match path:
        case "hang.md":
            time.sleep(3600)
        case "crash.md":
            os.abort()
        case "hungry.md":
            return bytearray(64 << 30)
        case "chatty.md":
            os.write(1, b"a converter prints this" * 100)
        case "writes.md":
            with open(os.environ.get("TMPDIR", "/tmp") + "/footnote-worker-wrote", "wb") as file:
                file.write(b"x" * 100)
        case "bug.md":
            raise ZeroDivisionError("the secret text of the page")
        case "environment.md":
            return parse_file(" ".join(sorted(os.environ)).encode(), path=path)
        case "torch.md":
            import sys

            return parse_file(b"torch" if "torch" in sys.modules else b"no torch", path=path)
    return parse_file(content, path=path, media_type=media_type)
