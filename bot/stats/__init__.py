"""How well Footnote does: statistics, metrics, status, gaps and stale pages."""
