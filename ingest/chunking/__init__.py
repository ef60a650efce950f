"""Chunking: sections to chunks that fit the models."""
