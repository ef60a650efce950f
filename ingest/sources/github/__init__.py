"""GitHub: issues and discussions that were answered, and wikis."""
