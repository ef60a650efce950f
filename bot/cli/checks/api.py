"""`footnote doctor` for the HTTP API: who can reach it, and whether anybody has a key."""

from __future__ import annotations

from datetime import datetime

from bot.api.guards import LOOPBACK
from bot.cli.checks.check import Check
from bot.cli.composition.runtime import utc_now
from bot.cli.session.session import open_session
from kb.config.settings import Settings


async def api_checks(settings: Settings) -> list[Check]:
    """Checks who can reach the HTTP API and whether it has a key; returns no checks where the API is not served."""
    api = settings.api
    if api.port is None:
        return []
    return [*_reach(api.host, api.hosts, api.port), await _keys(settings)]


def _reach(host: str, hosts: tuple[str, ...], port: int) -> list[Check]:
    where = f"listens on {host} port {port}"
    if host in LOOPBACK:
        return [Check.ok("http api", f"{where}: reached from this machine alone")]
    checks = [
        Check.warning(
            "http api",
            f"{where} without TLS: keys, questions and answers travel in the clear",
            "put a proxy that ends TLS in front, and let nothing else reach this port",
        )
    ]
    if not hosts:
        mend = "set FOOTNOTE_API__HOSTS to the names by which clients call it, such as kb.example.com"
        finding = "no host name is known: requests that are not for localhost are refused"
        checks.append(Check.warning("http api hosts", finding, mend))
    return checks


async def _keys(settings: Settings) -> Check:
    async with open_session(settings, "doctor") as session:
        keys = await session.keys()
    valid = [
        key for key in keys if not key["expires_at"] or datetime.fromisoformat(key["expires_at"]) > utc_now()
    ]
    if not valid:
        mend = "run `footnote keys add NAME`"
        return Check.warning("http api keys", "nobody has a key: every question is refused", mend)
    return Check.ok("http api keys", f"{len(valid)} of {len(keys)} count")
