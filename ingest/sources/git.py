"""When each file of a git checkout was last committed: one `git log` for all of them.

A date is given only where git knows it. A shallow clone shows every file as made by its oldest commit, so that
commit's files get none; neither do uncommitted files. The file system's own times are never used: a checkout or a copy sets
them to now, and every page would look fresh.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from datetime import date
from pathlib import Path

logger = logging.getLogger(__name__)

_TIMEOUT_S = 120.0
"""A history of 100,000 commits takes about 10 s."""
_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_READING: Mapping[str, str] = {"GIT_NO_LAZY_FETCH": "1"}
"""A command that reads must not go to the server of a partial clone."""
_COMMIT = b"\x01"


class GitError(Exception):
    """git is not there, ended with an error or took too long; the text is what it said."""


async def commit_dates(root: Path) -> Mapping[str, date]:
    """Path relative to `root`, with forward slashes -> day of the last commit, in the committer's time zone.

    Empty where `root` is no git checkout, or git is not installed or fails.
    """
    if not is_checkout(root):
        return {}
    try:
        boundary = await _shallow_commits(root)
        log = await run_git(
            root, "log", "-z", "--format=%x01%H %cs", "--name-only", "--relative", "--no-renames",
            "--no-show-signature", "--no-ext-diff", "--no-textconv", "--", ".",
        )  # fmt: skip
    except GitError as error:
        logger.warning("source.no_git_dates", extra={"root": str(root), "error": str(error)})
        return {}
    return _latest(log, boundary)


def is_checkout(root: Path) -> bool:
    return any((folder / ".git").exists() for folder in (root, *root.parents))


def _latest(log: bytes, boundary: frozenset[str]) -> dict[str, date]:
    """The log is newest first: the first commit that names a file is its last."""
    dates: dict[str, date] = {}
    day: date | None = None
    for field in log.split(b"\0"):
        name = field.lstrip(b"\n")
        if name.startswith(_COMMIT):
            commit, _, stamp = name.removeprefix(_COMMIT).decode().partition(" ")
            day = None if commit in boundary else date.fromisoformat(stamp)
        elif name and day is not None:
            dates.setdefault(os.fsdecode(name), day)
    return dates


async def _shallow_commits(root: Path) -> frozenset[str]:
    listing = Path(os.fsdecode(await run_git(root, "rev-parse", "--git-path", "shallow")).strip())
    try:
        return frozenset((root / listing).read_text(encoding="ascii").split())
    except FileNotFoundError:
        return frozenset()


async def run_git(
    root: Path, *arguments: str, environment: Mapping[str, str] = _READING, timeout_s: float = _TIMEOUT_S
) -> bytes:
    """What a git command in `root` prints.

    Raises:
        GitError: it failed.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            "git", "-C", str(root), "-c", "safe.directory=*", "-c", "core.quotePath=off", *arguments,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **_ENVIRONMENT, **environment},
        )  # fmt: skip
    except OSError as error:
        raise GitError(f"git cannot be started: {error.strerror}") from error
    try:
        async with asyncio.timeout(timeout_s):
            output, complaint = await process.communicate()
    except TimeoutError as error:
        raise GitError(f"git {arguments[0]} took longer than {timeout_s:.0f} s") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise GitError(complaint.decode(errors="replace").strip())
    return output
