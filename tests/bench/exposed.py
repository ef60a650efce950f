"""What a bot that was started with `FOOTNOTE_API__PORT` tells Prometheus."""

from __future__ import annotations

import re

import aiohttp


async def exposed(port: int, name: str) -> float:
    """A figure without labels.

    Raises:
        LookupError: it is not told.
    """
    async with aiohttp.ClientSession() as http, http.get(f"http://127.0.0.1:{port}/metrics") as reply:
        told = await reply.text()
    found = re.search(rf"^{re.escape(name)} (\S+)", told, re.MULTILINE)
    if found is None:
        raise LookupError(f"/metrics does not tell {name}: {told[:200]}")
    return float(found[1])


async def longest_lag_s(port: int) -> float:
    """The latest that the bot's event loop was since it began."""
    return await exposed(port, "footnote_event_loop_lag_max_seconds")
