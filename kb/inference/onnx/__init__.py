"""Local models run by ONNX Runtime: converted once from their own weights, kept on disk, loaded without torch."""
