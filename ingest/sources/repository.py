"""A git repository on a server as a source: a clone in the data folder, brought up to date before each listing."""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from ingest.errors import PageError, SourceUnavailableError
from ingest.sources.folder import FolderSource
from ingest.sources.git import GitError, run_git
from ingest.sources.git_history import PageHistory
from ingest.sources.hosting import hosted_folder
from ingest.sources.port import ConfiguredSource, PageRef, RawPage
from kb.config.sources import FolderSettings, GitSettings

logger = logging.getLogger(__name__)

_TIMEOUT_S = 900.0
"""For a first clone. History without file contents is small, even for large repositories."""
_SAFE: Mapping[str, str] = {
    "GIT_ALLOW_PROTOCOL": "https:http:ssh",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
    "GIT_LFS_SKIP_SMUDGE": "1",
}
_ADVICE = (
    (re.compile(r"authentication failed|could not read username|403|permission denied", re.IGNORECASE),
     "the server does not let us in: set GIT_TOKEN (or FOOTNOTE_SOURCES__<NAME>__TOKEN) to a token that may read it"),
    (re.compile(r"remote branch .* not found|couldn't find remote ref", re.IGNORECASE),
     "there is no such branch: correct `branch`"),
    (re.compile(r"not found|does not exist", re.IGNORECASE),
     "there is no such repository, or the token may not see it: correct `url`, or set GIT_TOKEN"),
    (re.compile(r"could not resolve|unable to access|connection|timed out|took longer", re.IGNORECASE),
     "the server cannot be reached from here"),
)  # fmt: skip


class GitSource(ConfiguredSource[GitSettings]):
    """`folder`: where clones are kept."""

    def __init__(self, settings: GitSettings, folder: Path) -> None:
        super().__init__(settings)
        self._checkout = folder / f"{settings.name}.checkout"
        self._history = PageHistory(self._checkout / settings.folder, obtain=self._obtain)
        self._pages: FolderSource | None = None

    def url_of(self, path: str) -> str:
        return self._folder().url_of(path)

    async def discover(self) -> AsyncIterator[PageRef]:
        try:
            await self._bring_up_to_date()
        except GitError as error:
            raise SourceUnavailableError(f"source {self.name!r}: {_advice(str(error))}") from error
        self._pages = None  # its links depend on the branch
        if not self._is_inside():
            raise SourceUnavailableError(
                f"source {self.name!r}: `folder` {self._settings.folder!r} leads out of the repository: not followed"
            )
        async for ref in self._folder().discover():
            yield ref

    def withdraws(self, path: str) -> bool:
        return self._folder().withdraws(path)

    async def fetch(self, ref: PageRef) -> RawPage:
        if not self._is_inside():
            raise PageError("its folder leads out of the repository: not followed")
        return await self._folder().fetch(ref)

    async def close(self) -> None:
        self._pages = None

    def _folder(self) -> FolderSource:
        if self._pages is None:
            chosen = self._settings
            self._pages = FolderSource(
                FolderSettings(
                    name=chosen.name,
                    path=self._checkout / chosen.folder,
                    base_url=chosen.base_url,
                    include=chosen.include,
                    exclude=chosen.exclude,
                    audience=chosen.audience,
                ),
                hosted=hosted_folder(chosen.url, self._branch(), chosen.folder),
                history=self._history,
            )
        return self._pages

    def _is_inside(self) -> bool:
        """Tells whether the folder lies in the clone: it may be a link to anywhere on this machine."""
        return (self._checkout / self._settings.folder).resolve().is_relative_to(self._checkout.resolve())

    def _branch(self) -> str:
        if self._settings.branch is not None:
            return self._settings.branch
        head = self._checkout / ".git" / "HEAD"
        return head.read_text().strip().removeprefix("ref: refs/heads/") if head.is_file() else "HEAD"

    async def _bring_up_to_date(self) -> None:
        """Fetches the branch, or clones it.

        Raises:
            GitError: it cannot be cloned; an earlier clone stays as it is.
        """
        if await self._is_ours():
            try:
                await self._update()
            except GitError as error:  # a clone that a kill left half-written is made anew
                logger.warning("git.update_failed", extra={"source": self.name, "error": str(error)})
            else:
                return
        await self._clone()

    async def _is_ours(self) -> bool:
        if not (self._checkout / ".git").is_dir():
            return False
        try:
            remote = await run_git(self._checkout, "config", "--get", "remote.origin.url")
        except GitError:
            return False
        return remote.decode().strip() == self._settings.url

    async def _update(self) -> None:
        branch = self._settings.branch or await self._default_branch()
        await self._git(
            self._checkout, "fetch", "--quiet", "--no-tags", "--prune", "origin", f"+refs/heads/{branch}"
        )
        await self._git(self._checkout, "checkout", "--quiet", "--force", "-B", branch, "FETCH_HEAD")
        await self._git(self._checkout, "clean", "-ffdxq")

    async def _obtain(self, blobs: Sequence[bytes]) -> None:
        """Fetches old versions of pages, which the clone lacks until they are compared."""
        await self._git(
            self._checkout, "-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
            "--recurse-submodules=no", "--filter=blob:none", "--stdin", "origin", fed=b"\n".join([*blobs, b""]),
        )  # fmt: skip

    async def _default_branch(self) -> str:
        """Returns the branch that the server shows at present: the one that was cloned may stay behind unused."""
        refs = await self._git(self._checkout, "ls-remote", "--symref", "origin", "HEAD")
        named = re.match(rb"ref: refs/heads/(\S+)\tHEAD", refs)
        return named[1].decode() if named else self._branch()

    async def _clone(self) -> None:
        """Clones into a folder beside it, moved into place when whole."""
        draft = self._checkout.with_suffix(".new")
        await asyncio.to_thread(shutil.rmtree, draft, ignore_errors=True)
        draft.parent.mkdir(parents=True, exist_ok=True)
        branch = ("--branch", self._settings.branch) if self._settings.branch else ()
        await self._git(
            draft.parent, "clone", "--quiet", "--filter=blob:none", "--no-tags", "--single-branch", *branch,
            "--", self._settings.url, str(draft),
        )  # fmt: skip
        await asyncio.to_thread(shutil.rmtree, self._checkout, ignore_errors=True)
        draft.rename(self._checkout)

    async def _git(self, root: Path, *arguments: str, fed: bytes | None = None) -> bytes:
        return await run_git(
            root, *arguments, environment={**_SAFE, **self._credentials()}, timeout_s=_TIMEOUT_S, fed=fed, ours=True,
        )  # fmt: skip

    def _credentials(self) -> Mapping[str, str]:
        """Returns a header for this server alone, by the environment: everybody on the machine sees arguments."""
        token = self._settings.token
        server = re.match(r"https?://[^/]+/", self._settings.url)
        if token is None or server is None:
            return {}
        pair = b64encode(f"{self._settings.user}:{token.get_secret_value()}".encode()).decode()
        return {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{server[0]}.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {pair}",
        }


def _advice(complaint: str) -> str:
    advice = next((advice for pattern, advice in _ADVICE if pattern.search(complaint)), None)
    last = complaint.splitlines()[-1] if complaint else "git failed"
    return f"{advice} ({last})" if advice else f"git failed: {last}"
