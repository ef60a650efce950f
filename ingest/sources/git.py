"""git, the program: how it is asked, and what a checkout is.

The file system's own times are never used for dates: a checkout or a copy sets them to now, and every page would look fresh.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

_TIMEOUT_S = 120.0
"""A history of 100,000 commits takes about 10 s."""
_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_READING: Mapping[str, str] = {"GIT_NO_LAZY_FETCH": "1"}
"""A command that reads must not go to the server of a partial clone."""


class GitError(Exception):
    """git is not there, ended with an error or took too long; the text is what it said."""


def is_checkout(root: Path) -> bool:
    return any((folder / ".git").exists() for folder in (root, *root.parents))


def decoded_path(name: bytes) -> str:
    return os.fsdecode(name)


async def shallow_commits(root: Path) -> frozenset[str]:
    """The oldest commits of a clone that has only the latest: each seems to have made all that it holds."""
    listing = Path(os.fsdecode(await run_git(root, "rev-parse", "--git-path", "shallow")).strip())
    try:
        return frozenset((root / listing).read_text(encoding="ascii").split())
    except FileNotFoundError:
        return frozenset()


async def run_git(
    root: Path,
    *arguments: str,
    environment: Mapping[str, str] = _READING,
    timeout_s: float = _TIMEOUT_S,
    fed: bytes | None = None,
) -> bytes:
    """What a git command in `root` prints. `fed`: its standard input.

    Raises:
        GitError: it failed.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            "git", "-C", str(root), "-c", "safe.directory=*", "-c", "core.quotePath=off", *arguments,
            stdin=asyncio.subprocess.DEVNULL if fed is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **_ENVIRONMENT, **environment},
        )  # fmt: skip
    except OSError as error:
        raise GitError(f"git cannot be started: {error.strerror}") from error
    try:
        async with asyncio.timeout(timeout_s):
            output, complaint = await process.communicate(fed)
    except TimeoutError as error:
        raise GitError(f"git {arguments[0]} took longer than {timeout_s:.0f} s") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise GitError(complaint.decode(errors="replace").strip())
    return output
