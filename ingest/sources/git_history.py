"""The day on which the words of each page of a git checkout last changed.

The last commit that names a file says little: one that reformats a repository, moves a folder or adds a
licence header would make every page fresh. So the commits of a page are gone through from its last one back,
as long as they leave its words as they were (`page_words`); where one only moved the file, along with it. One
`git log` lists the commits of all pages, and the versions that are compared are read together, a commit back
at a time.

A date is given only where git knows it: not for files that are not
committed, nor for what the oldest commit of a shallow clone holds.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path, PurePosixPath

from ingest.sources.git import GitError, decoded_path, is_checkout, run_git, shallow_commits
from ingest.sources.page_words import TEXTS, words_digest

logger = logging.getLogger(__name__)

_COMMIT = b"\x01"
_NO_BLOB = b"0" * 40
_MOST_REMOVED = 500
"""Files that one commit takes away, among which a page that it adds is looked for: more are another repository's."""
_READ_TOGETHER = 1000
"""Versions that are in memory at a time."""
_FARTHEST = 200
"""Commits without a new word that are gone back; then the last of them counts."""

Obtain = Callable[[Sequence[bytes]], Awaitable[None]]
"""Brings versions that a clone without old contents lacks, by their hashes."""


@dataclass(frozen=True, slots=True)
class Edit:
    """`day`: in the committer's time zone. `added`: nothing but the commit that brought the page here is known of it.

    Such a page may be older: a handbook that was imported yesterday was not written yesterday.
    """

    day: date
    added: bool = False


@dataclass(frozen=True, slots=True)
class _Change:
    commit: int
    status: bytes
    old: bytes
    new: bytes


@dataclass(slots=True)
class _Log:
    """Commits are numbered from the newest on. `days`: None for those at the edge of a shallow clone."""

    days: list[date | None] = field(default_factory=list)
    changes: dict[bytes, list[_Change]] = field(default_factory=lambda: defaultdict(list))
    removed: dict[int, list[tuple[bytes, bytes]]] = field(default_factory=lambda: defaultdict(list))


@dataclass(slots=True)
class _Trail:
    """How far back a page has been followed: the name that it had there, and which of that name's changes is next."""

    name: bytes
    at: int = 0
    steps: int = 0
    edit: Edit | None = None
    """The last commit that was passed: its day counts where the history ends."""


class PageHistory:
    """The history of one checkout. Comparisons are remembered, and the dates until there is another commit."""

    def __init__(self, root: Path, *, obtain: Obtain | None = None) -> None:
        self._root = root
        self._obtain = obtain
        self._words: dict[bytes, bytes] = {}
        self._partial: bool | None = None
        self._head: bytes | None = None
        self._edits: Mapping[str, Edit] = {}

    async def edits(self) -> Mapping[str, Edit]:
        """Returns path relative to the root, with forward slashes -> when its words last changed.

        Empty where the root is no git checkout, or git is not installed or fails.
        """
        if not is_checkout(self._root):
            return {}
        try:
            head = await run_git(self._root, "rev-parse", "HEAD")
            if head != self._head:
                self._edits = await self._read()
                self._head = head
        except GitError as error:
            logger.warning("source.no_git_dates", extra={"root": str(self._root), "error": str(error)})
            return {}
        return self._edits

    async def _read(self) -> Mapping[str, Edit]:
        boundary = await shallow_commits(self._root)
        output = await run_git(
            self._root, "log", "-z", "--raw", "--no-abbrev", "--format=%x01%H %cs", "--relative", "--no-renames",
            "--no-show-signature", "--no-ext-diff", "--no-textconv", "--", ".",
        )  # fmt: skip
        log = await asyncio.to_thread(_parsed, output, boundary)
        trails = {name: _Trail(name) for name, changes in log.changes.items() if changes[0].status != b"D"}
        edits: dict[str, Edit] = {}
        while trails:
            pages = list(trails)
            await self._learn({blob for page in pages for blob in _wanted(log, trails[page])})
            for page in pages:
                if self._step(log, trails[page]):
                    edit = trails.pop(page).edit
                    if edit is not None:
                        edits[decoded_path(page)] = edit
        return edits

    def _step(self, log: _Log, trail: _Trail) -> bool:
        """Follows the page one commit back. True: its date is known, or cannot be."""
        changes = log.changes.get(trail.name, [])
        if trail.at >= len(changes):
            return True
        change = changes[trail.at]
        day = log.days[change.commit]
        if day is None:
            trail.edit = None
            return True
        moved_from = self._origin(log, trail.name, change) if change.status == b"A" else None
        trail.edit = Edit(day, added=change.status == b"A" and not log.removed.get(change.commit))
        trail.steps += 1
        if trail.steps > _FARTHEST or change.status not in (b"A", b"M"):
            return True
        if moved_from is not None:
            trail.name = moved_from
            trail.at = _after(log.changes[moved_from], change.commit)
            return False
        trail.at += 1
        return change.status == b"A" or not self._same(change.old, change.new)

    def _origin(self, log: _Log, name: bytes, change: _Change) -> bytes | None:
        """Finds a file with these words that the same commit took away; of several, one that is called alike."""
        same = [other for other, blob in _removed_beside(log, name, change) if self._same(blob, change.new)]
        alike = [
            other
            for other in same
            if PurePosixPath(decoded_path(other)).stem == PurePosixPath(decoded_path(name)).stem
        ]
        return next(iter(alike or same), None)

    def _same(self, blob: bytes, other: bytes) -> bool:
        """Compares two versions. One that could not be read counts as changed."""
        if blob == other:
            return True
        words = self._words.get(blob)
        return words is not None and words == self._words.get(other)

    async def _learn(self, blobs: Iterable[bytes]) -> None:
        unknown = sorted(set(blobs) - self._words.keys() - {_NO_BLOB})
        if not unknown:
            return
        if self._partial is None:
            self._partial = await self._is_partial()
        if self._partial:
            unknown = await self._held(unknown)
        for start in range(0, len(unknown), _READ_TOGETHER):
            fed = b"\n".join([*unknown[start : start + _READ_TOGETHER], b""])
            output = await run_git(self._root, "cat-file", "--batch", "--buffer", fed=fed)
            self._words |= await asyncio.to_thread(_digests, output)

    async def _is_partial(self) -> bool:
        """Tells whether git would fetch each missing version by itself, one at a time."""
        try:
            return bool(await run_git(self._root, "config", "--get-regexp", r"^remote\..*\.promisor$"))
        except GitError:
            return False

    async def _held(self, blobs: Sequence[bytes]) -> list[bytes]:
        """Returns the versions that are here, or could be brought here."""
        held = await self._objects()
        missing = [blob for blob in blobs if blob not in held]
        if missing and self._obtain is not None:
            try:
                await self._obtain(missing)
            except GitError as error:
                logger.warning("source.no_old_versions", extra={"root": str(self._root), "error": str(error)})
            else:
                held = await self._objects()
        return [blob for blob in blobs if blob in held]

    async def _objects(self) -> frozenset[bytes]:
        listing = await run_git(
            self._root,
            "cat-file",
            "--batch-all-objects",
            "--unordered",
            "--buffer",
            "--batch-check=%(objectname)",
        )
        return frozenset(listing.split())


def _parsed(output: bytes, boundary: frozenset[str]) -> _Log:
    log = _Log()
    fields = iter(output.split(b"\0"))
    for entry in fields:
        entry = entry.lstrip(b"\n")
        if entry.startswith(_COMMIT):
            commit, _, stamp = entry.removeprefix(_COMMIT).decode().partition(" ")
            log.days.append(None if commit in boundary else date.fromisoformat(stamp))
        elif entry.startswith(b":"):
            _, _, old, new, status = entry.split(b" ")
            name = next(fields)
            change = _Change(len(log.days) - 1, status[:1], old, new)
            log.changes[name].append(change)
            if change.status == b"D":
                log.removed[change.commit].append((name, old))
    return log


def _wanted(log: _Log, trail: _Trail) -> list[bytes]:
    """Returns the versions that the next step of a trail compares."""
    changes = log.changes.get(trail.name, [])
    if trail.at >= len(changes) or not _is_text(trail.name):
        return []
    change = changes[trail.at]
    if change.status == b"M":
        return [change.old, change.new]
    if change.status == b"A":
        others = [blob for _, blob in _removed_beside(log, trail.name, change)]
        return [change.new, *others] if others else []
    return []


def _removed_beside(log: _Log, name: bytes, change: _Change) -> list[tuple[bytes, bytes]]:
    """Returns what the commit that added a file took away, as far as that may be the same page."""
    removed = log.removed.get(change.commit, [])
    if len(removed) > _MOST_REMOVED:
        called = name.rpartition(b"/")[2]
        return [
            (other, blob)
            for other, blob in removed
            if blob == change.new or other.rpartition(b"/")[2] == called
        ]
    return removed


def _after(changes: Sequence[_Change], commit: int) -> int:
    """Returns the index of the first change of a name that is older than the commit that took it away."""
    return next((index for index, change in enumerate(changes) if change.commit > commit), len(changes))


def _is_text(name: bytes) -> bool:
    return name.rpartition(b".")[2].decode(errors="replace").lower() in TEXTS


def _digests(output: bytes) -> dict[bytes, bytes]:
    """Reads what `git cat-file --batch` prints: a line with the hash, the kind and the size, then the content."""
    found: dict[bytes, bytes] = {}
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        head = output[position:end].split(b" ")
        position = end + 1
        if len(head) == 3:
            size = int(head[2])
            found[head[0]] = words_digest(output[position : position + size])
            position += size + 1
    return found
