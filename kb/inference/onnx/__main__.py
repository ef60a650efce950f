"""`python -m kb.inference.onnx [MODEL ...]`: converts embedding models
ahead of their first use; those that come with packages if none is named.
"""

from __future__ import annotations

import sys

from kb.errors import EmbedderUnavailableError
from kb.inference.e5.file import packaged_file
from kb.inference.encoders import E5, PACKAGED, model_source
from kb.inference.onnx.conversion import converted


def main() -> int:
    """0 where the conversions are there; otherwise the log says what is in the way."""
    return max(map(_prepare, sys.argv[1:] or _packaged()))


def _packaged() -> list[str]:
    return [name for name in PACKAGED if name not in E5 or packaged_file() is not None]


def _prepare(name: str) -> int:
    try:
        source = model_source(name)
    except EmbedderUnavailableError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0 if converted(source, "embedder") is not None else 1


if __name__ == "__main__":
    sys.exit(main())
