"""Opens a session on the data folder: through its owner where a bot runs, else by owning it for this command."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.cli.session.remote import RemoteSession
from bot.cli.session.session import Session
from kb.config.settings import Settings
from kb.store.data_folder import DataFolder


@asynccontextmanager
async def open_session(settings: Settings, command: str, *, models: bool) -> AsyncIterator[Session]:
    """`models`: whether the command needs the embedder and the reranker, which take seconds to load."""
    owner = DataFolder(settings.data).owner()
    if owner is not None:
        yield RemoteSession(owner.socket)
        return
    from bot.cli.composition.runtime import open_runtime  # heavy: not needed where an owner answers
    from bot.cli.session.local import LocalSession

    async with open_runtime(settings, command, models=models) as runtime:
        yield LocalSession(runtime)
