"""A Qdrant server as the index: one collection a generation."""
