"""Statistics and metrics, status, gaps and stale pages."""
