"""`python -m kb.inference.onnx [MODEL]`: converts an embedding model ahead of its first use, the default one if none is named."""

from __future__ import annotations

import sys

from kb.errors import EmbedderUnavailableError
from kb.inference.encoders import model_folder
from kb.inference.onnx.conversion import converted
from kb.settings import EmbedSettings


def main() -> int:
    """0 where the model's conversion is there; otherwise the log says what is in its way."""
    try:
        folder = model_folder(sys.argv[1] if len(sys.argv) > 1 else EmbedSettings().model)
    except EmbedderUnavailableError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0 if converted(folder, "embedder") is not None else 1


if __name__ == "__main__":
    sys.exit(main())
