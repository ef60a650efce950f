"""What the commands can do to a knowledge base, whoever owns its data folder.

Two implementations: `LocalSession` works on the folder that this process owns; `RemoteSession` asks the owner over the
socket in the folder. A command uses whichever `open_session` hands it and cannot tell them apart.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from bot.cli.backups.requests import BackupProgress, BackupRequest
from bot.cli.session.remote import RemoteSession
from bot.cli.session.requests import (
    AddKeyRequest,
    AskReply,
    AskRequest,
    ForgetReply,
    ForgetRequest,
    IngestRequest,
)
from kb.config.settings import Settings
from kb.jobs import ReindexProgress
from kb.store.data_folder import DataFolder


class Session(Protocol):
    async def ask(self, request: AskRequest) -> AskReply: ...

    def ingest(self, request: IngestRequest) -> AsyncGenerator[ReindexProgress]: ...

    async def forget(self, request: ForgetRequest) -> ForgetReply: ...

    async def status(self) -> dict[str, Any]:
        """Reports whether it is well, and what it is made of. Cheap, however many pages there are: a container asks it
        twice a minute.
        """

    async def syncs(self) -> list[dict[str, Any]]:
        """Returns the state of each source (`bot.cli.session.source_states`). Reads the revision of every page."""

    async def offer(self) -> str:
        """Returns a sentence for the operator, where another embedder knows the languages of pages and questions; else
        "".
        """

    async def stats(self) -> dict[str, Any]: ...

    async def gaps(self, *, again: bool) -> dict[str, Any]:
        """Returns the gaps (`bot.cli.session.replies`); with `again` their questions are first asked anew."""

    async def stale(self) -> list[dict[str, Any]]: ...

    async def dead_letters(self) -> list[dict[str, Any]]:
        """Lists them, as `bot.cli.session.replies` writes them."""

    async def retry_dead_letters(self, *, ids: Sequence[str] | None) -> list[str]:
        """Asks them again. `ids`: None means all. Returns the ids that there were."""

    async def drop_dead_letters(self, *, ids: Sequence[str] | None) -> list[str]:
        """Deletes them; otherwise as `retry_dead_letters`."""

    async def grow(self, *, private: bool) -> dict[str, Any]:
        """Returns test cases from what people asked (`bot.cli.session.replies`)."""

    async def keys(self) -> list[dict[str, Any]]:
        """Lists the keys of the HTTP API, as `bot.cli.session.replies` writes them."""

    async def add_key(self, request: AddKeyRequest) -> dict[str, Any]:
        """Makes a key. Returns it as `keys` does, and as "key" the only copy of what its holder sends."""

    async def revoke_key(self, *, name: str) -> bool:
        """Returns whether there was one."""

    def backup(self, request: BackupRequest) -> AsyncGenerator[BackupProgress]:
        """Writes a backup between two syncs, beside questions. The last step has the reply."""


@asynccontextmanager
async def open_session(settings: Settings, command: str, *, models: bool = False) -> AsyncIterator[Session]:
    """Opens a session through the owner of the data folder where a bot runs, else by owning it for this command.

    `models`: whether the command needs the embedder and the reranker, which take seconds to load.
    """
    owner = DataFolder(settings.data).owner()
    if owner is not None:
        yield RemoteSession(owner.socket)
        return
    # heavy: not needed where an owner answers
    from bot.cli.composition.runtime import open_runtime
    from bot.cli.session.local import LocalSession

    async with open_runtime(settings, command, models=models) as runtime:
        yield LocalSession(runtime)
