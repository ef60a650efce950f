"""The globs of a source, in gitignore syntax: `drafts/` and `**/*.md` mean what they mean there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pathspec import GitIgnoreSpec


def globs(patterns: Sequence[str]) -> GitIgnoreSpec:
    """Compiles globs once: at every sync sources are reopened, and compiling takes longer than a page's check."""
    return _compiled(tuple(patterns))


@lru_cache(maxsize=256)
def _compiled(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(patterns)
