"""Local models run by ONNX Runtime: converted once from their own weights, kept on disk, loaded without torch.

Since 1.29 the runtime's builds for Linux and macOS tell Microsoft what they run (names
and hashes of models, the machine) unless this variable is set before they are loaded.
Nothing here is told to anybody. https://github.com/microsoft/onnxruntime/pull/27379
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
