"""Pages in a folder, which may be (part of) a git checkout.

What is listed: files that match the source's include globs and none of its exclude globs (gitignore syntax, so
`drafts/` and `**/*.md` mean what they mean there). Names that start with a dot are skipped, as are links to folders.
A listed file that cannot be used, whatever the reason, fails in `fetch`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path, PurePosixPath
from stat import S_ISREG
from urllib.parse import quote

from ingest.errors import PageError, SourceUnavailableError
from ingest.parsers.formats import max_bytes
from ingest.sources.generators import Generators
from ingest.sources.git import ForeignCheckoutError, GitError, is_checkout, pull, run_git
from ingest.sources.git_history import Edit, PageHistory
from ingest.sources.globs import globs
from ingest.sources.hosting import HostedFolder, hosted_folder
from ingest.sources.port import ConfiguredSource, PageRef, RawPage, fingerprint
from kb.config.sources import DriveSettings, FolderSettings

_DRAFTS = "_drafts"
"""Jekyll's folder of drafts."""


class FolderSource(ConfiguredSource[FolderSettings]):
    """`hosted`: where the folder's files are shown, where the settings name no `base_url`.

    `history`: when its pages were edited; else what git has of that here.
    """

    def __init__(
        self,
        settings: FolderSettings,
        _folder: Path | None = None,
        *,
        hosted: HostedFolder | None = None,
        history: PageHistory | None = None,
    ) -> None:
        super().__init__(settings)
        self._hosted = hosted
        self._root = settings.path.expanduser().resolve()
        self._include = globs(settings.include)
        self._exclude = globs(settings.exclude)
        self._history = history or PageHistory(self._root)
        self._edited: Mapping[str, Edit] | None = None
        self._generators = Generators(self._root)

    def url_of(self, path: str) -> str:
        """Returns base_url + path, or the file on its repository's host; else the path, never a local address."""
        if self._settings.base_url is None:
            return path if self._hosted is None else self._hosted.url_of(path)
        return f"{self._settings.base_url.rstrip('/')}/{quote(path)}"

    async def discover(self) -> AsyncIterator[PageRef]:
        if not self._root.is_dir():
            raise SourceUnavailableError(f"source {self.name!r}: there is no folder {self._root}")
        if self._settings.pull:
            await self._pull()
        self._edited = None
        self._generators = Generators(self._root)
        await self._learn_from_git()
        for ref in await asyncio.to_thread(lambda: list(self._list())):
            yield ref

    async def fetch(self, ref: PageRef) -> RawPage:
        if ref.path.endswith("/"):
            raise PageError("this folder cannot be read: check its permissions")
        if _DRAFTS in ref.path.split("/")[:-1]:
            reason = f"it is in a folder of drafts ({_DRAFTS}): nothing of it is indexed"
            raise PageError(reason, withdraw=True, left_out=True)
        edited = await self._learn_from_git()
        content = await asyncio.to_thread(self._read, ref.path)
        edit = edited.get(ref.path)
        return RawPage(
            path=ref.path,
            revision=self._revision(ref.path, content),
            content=content,
            url=self.url_of(ref.path),
            edited=edit.day if edit else None,
            arrived=edit is not None and edit.added,
            media_type=self._generators.media_type(ref.path),
        )

    async def close(self) -> None:
        """Does nothing: a folder holds nothing open."""

    async def _pull(self) -> None:
        try:
            await pull(self._root)
        except ForeignCheckoutError as error:
            raise SourceUnavailableError(
                f"source {self.name!r}: {self._root} is not pulled: {error}; or switch `pull` off"
            ) from error
        except GitError as error:
            last = str(error).strip().splitlines()[-1:] or ["git failed"]
            raise SourceUnavailableError(
                f"source {self.name!r}: {self._root} cannot be brought up to date: {last[0]}; "
                "run `git pull --ff-only` there, or switch `pull` off"
            ) from error

    async def _learn_from_git(self) -> Mapping[str, Edit]:
        """Reads dates and links of a checkout, once a listing."""
        if self._edited is None:
            self._edited = await self._history.edits() if self._settings.git_dates else {}
            if self._hosted is None and self._settings.git_dates and is_checkout(self._root):
                self._hosted = await _hosted(self._root)
        return self._edited

    def _list(self) -> Iterator[PageRef]:
        unreadable: list[str] = []
        for folder, folders, files in os.walk(
            self._root, onerror=lambda error: unreadable.append(error.filename)
        ):
            below = PurePosixPath(Path(folder).relative_to(self._root).as_posix())
            folders[:] = sorted(
                name for name in folders if not name.startswith(".") and self._enters(below / name)
            )
            for name in sorted(files):
                path = str(below / name)
                if self._wants(path):
                    yield self._ref(path)
        if str(self._root) in unreadable:
            raise SourceUnavailableError(f"source {self.name!r}: the folder {self._root} cannot be read")
        for folder in unreadable:
            yield PageRef(path=f"{Path(folder).relative_to(self._root).as_posix()}/", revision=None)

    def withdraws(self, path: str) -> bool:
        return not self._may_be_read(path)

    def lists(self, path: str) -> bool:
        """Tells whether a listing would have this path if there was such a file."""
        real, named = (self._root / path).parent.resolve(), PurePosixPath(path).parent
        return self._wants(path) and real == self._root / named  # no link to a folder on the way

    def _wants(self, path: str) -> bool:
        return self._may_be_read(path) and self._include.match_file(path)

    def _may_be_read(self, path: str) -> bool:
        """Refuses `.git/config` and its like, and what the settings exclude."""
        hidden = any(part.startswith(".") for part in PurePosixPath(path).parts)
        return not hidden and not self._exclude.match_file(path)

    def _enters(self, folder: PurePosixPath) -> bool:
        return not self._exclude.match_file(f"{folder}/")

    def _ref(self, path: str) -> PageRef:
        if (
            not path.isprintable()
        ):  # bytes that are no UTF-8 arrive as lone surrogates, which nothing later can store
            return PageRef(path=path.encode(errors="replace").decode(), revision=None)
        try:
            content = self._read(path)
        except PageError:
            return PageRef(path=path, revision=None)
        return PageRef(path=path, revision=self._revision(path, content), size=len(content))

    def _read(self, path: str) -> bytes:
        """Reads a file after every check.

        Raises:
            PageError: it leaves the folder, is no ordinary file, is too large, or the system refuses.
        """
        try:
            named = os.path.join(self._root, path)
            real = os.path.realpath(named, strict=True)
            if real != named:  # there is a link on the way
                self._check_target(Path(real))
            status = os.stat(real)
            if not S_ISREG(status.st_mode):
                raise PageError("it is not an ordinary file")
            limit = max_bytes(path)
            if status.st_size > limit:
                raise PageError(
                    f"it is too large: {status.st_size / 1e6:.1f} MB, the limit is {limit / 1e6:.0f} MB"
                )
            return Path(real).read_bytes()
        except FileNotFoundError as error:
            raise PageError(
                "it is gone, a link that leads nowhere, or has a name that cannot be printed"
            ) from error
        except PermissionError as error:
            raise PageError("it cannot be read: check its permissions") from error
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, before Python 3.13
            raise PageError("it cannot be read: the file system reports an error") from error

    def _check_target(self, real: Path) -> None:
        if not real.is_relative_to(self._root):
            raise PageError("it is a link that leads out of the folder: not followed")
        if not self._may_be_read(real.relative_to(self._root).as_posix()):
            raise PageError("it is a link to a file that is kept out: not followed")

    def _revision(self, path: str, content: bytes) -> str:
        """Fingerprints everything of the source's side that ends up in the index."""
        parts = [content, str((self._edited or {}).get(path)).encode(), self.url_of(path).encode()]
        if (read_as := self._generators.media_type(path)) is not None:
            parts.append(read_as.encode())
        return fingerprint(parts)


class DriveSource(FolderSource):
    """Reads a folder that was exported from Google Drive."""

    def __init__(self, settings: DriveSettings, _folder: Path | None = None) -> None:
        super().__init__(settings.as_folder())


async def _hosted(root: Path) -> HostedFolder | None:
    """Finds the host by the checkout's own remote and branch; None where it has none that we know."""
    try:
        remote = await run_git(root, "config", "--get", "remote.origin.url")
        branch = await run_git(root, "symbolic-ref", "--short", "HEAD")
        folder = await run_git(root, "rev-parse", "--show-prefix")
    except GitError:
        return None
    return hosted_folder(remote.decode().strip(), branch.decode().strip(), folder.decode().strip())
