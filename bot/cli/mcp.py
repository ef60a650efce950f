"""`footnote mcp`: the pages as tools for an agent or an editor, on its standard input and output."""

from __future__ import annotations

import httpx2

from bot.api.mcp_tools import create_mcp
from bot.api.remote import TIMEOUT_S, RemoteAsker
from kb.config.settings import Settings
from kb.errors import SettingsError

DEFAULT_PORT = 8080


async def mcp(settings: Settings) -> int:
    """
    Raises:
        SettingsError: there is no key to ask by.
    """
    api = settings.api
    if api.key is None:
        raise SettingsError(
            "there is no key to ask by: set FOOTNOTE_API__KEY to what `footnote keys add NAME` shows"
        )
    url = api.url or f"http://127.0.0.1:{api.port or DEFAULT_PORT}"
    headers = {"Authorization": f"Bearer {api.key.get_secret_value()}"}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=TIMEOUT_S) as client:
        asker = RemoteAsker(client)
        await create_mcp(lambda _: asker).run_stdio_async()
    return 0
