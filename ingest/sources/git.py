"""Runs git, the program, safely.

The file system's own times are never used for dates: a checkout or a copy sets them to now, and every page would
look fresh.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from ingest.sources.git_config import LISTING, emptied, risky
from kb.store.private_files import umask

_TIMEOUT_S = 120.0
"""A history of 100,000 commits takes about 10 s."""
_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_READING: Mapping[str, str] = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
"""A command that reads must not go to the server of a partial clone. Git before 2.45 knows only the second."""
_PULLING: Mapping[str, str] = {"GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file", "GIT_MERGE_AUTOEDIT": "no"}
_QUIET = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.pager=cat", "-c", "submodule.recurse=false",
    "-c", "core.quotePath=off",
)  # fmt: skip
"""Runs nothing beside the command itself: no hook, watcher, pager or submodule."""
_ANYBODY = ("-c", "safe.directory=*")
"""Reading a folder that belongs to somebody else is safe where its settings run nothing."""


class GitError(Exception):
    """git is not there, ended with an error or took too long; the text is what it said."""


class ForeignCheckoutError(GitError):
    """Pulling could run what others wrote."""


def is_checkout(root: Path) -> bool:
    return any((folder / ".git").exists() for folder in (root, *root.parents))


def decoded_path(name: bytes) -> str:
    return os.fsdecode(name)


async def shallow_commits(root: Path) -> frozenset[str]:
    """Returns the oldest commits of a clone that has only the latest: each seems to have made all that it holds."""
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
    ours: bool = False,
) -> bytes:
    """Returns what a git command in `root` prints.

    `fed`: its standard input. `ours`: the checkout was made by us, so its settings can be trusted.

    Raises:
        GitError: it failed.
    """
    variables = {**os.environ, **_ENVIRONMENT, **environment}
    if not ours:
        named = risky(await _run(root, *_ANYBODY, *LISTING, variables=variables, timeout_s=timeout_s))
        variables |= emptied(named, variables)
    return await _run(root, *_ANYBODY, *arguments, variables=variables, timeout_s=timeout_s, fed=fed)


async def pull(root: Path) -> None:
    """Brings somebody's checkout up to date without running anything that its files name.

    Raises:
        GitError: it failed, or it belongs to another user of this machine, or has settings that may run programs.
    """
    variables = {**os.environ, **_ENVIRONMENT, **_PULLING}
    try:
        named = risky(await _run(root, *LISTING, variables=variables))
        await _run(root, "rev-parse", "--git-dir", variables=variables)
    except GitError as error:
        if "dubious ownership" in str(error):
            raise ForeignCheckoutError(
                "it belongs to another user of this machine, who could have programs run here: make "
                "it yours (`chown -R`), "
                f"or trust it (`git config --global --add safe.directory {root}`)"
            ) from error
        raise
    if named:
        raise ForeignCheckoutError(
            f"its .git/config has {_listed(named)}, which may run a program: take that out, or set it for all "
            "repositories of yours (`git config --global`)"
        )
    await _run(
        root, "pull", "--quiet", "--ff-only", "--no-rebase", "--no-recurse-submodules", variables=variables
    )


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name!r}`" if not name.isprintable() else f"`{name[:60]}`" for name in names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown


async def _run(
    root: Path,
    *arguments: str,
    variables: Mapping[str, str],
    timeout_s: float = _TIMEOUT_S,
    fed: bytes | None = None,
) -> bytes:
    try:
        process = await asyncio.create_subprocess_exec(
            "git", "-C", str(root), *_QUIET, *arguments,
            stdin=asyncio.subprocess.DEVNULL if fed is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=dict(variables), umask=umask.of_user,
        )  # fmt: skip
    except OSError as error:
        raise GitError(f"git cannot be started: {error.strerror}") from error
    try:
        async with asyncio.timeout(timeout_s):
            output, complaint = await process.communicate(fed)
    except TimeoutError as error:
        command = next((argument for argument in arguments if not argument.startswith(("-", "safe."))), "")
        raise GitError(f"git {command} took longer than {timeout_s:.0f} s") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise GitError(complaint.decode(errors="replace").strip())
    return output
