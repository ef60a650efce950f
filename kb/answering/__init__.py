"""Composes answers from passages: `written` by a model, or `quoted` from the pages; `reading` prepares the passages."""
