"""The embedded engine: Qdrant Edge in this process, one folder a generation."""
