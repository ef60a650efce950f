"""Chunking: cuts sections into chunks that fit the models."""
