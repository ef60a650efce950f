"""What `footnote doctor` and a starting bot say of a Qdrant server: its
version, and who can read what is sent to it.
"""

from __future__ import annotations

import logging
from importlib.metadata import version

from bot.cli.checks.check import Check
from kb.config.index_settings import IndexSettings
from kb.config.settings import Settings
from kb.errors import IndexUnavailableError

logger = logging.getLogger(__name__)

OLDEST = (1, 18)
"""The oldest server that the contract suite was passed on."""
READ_FOR_S = 1.0
"""Seconds for which a server that does not answer is asked again."""
SHOWN = "QDRANT_API_KEY travels unencrypted: whoever sees the network can read and change the index"
ENCRYPT = "use an https:// address as QDRANT_URL (index.ca_file for an authority of your own)"


async def qdrant_checks(settings: Settings) -> list[Check]:
    """Checks a configured server. One that does not answer is reported elsewhere."""
    if settings.index.qdrant_url is None:
        return []
    try:
        checks = version_checks(await server_version(settings.index, for_s=READ_FOR_S))
    except IndexUnavailableError:
        checks = []
    return [*key_checks(settings.index), *checks]


def key_checks(settings: IndexSettings) -> list[Check]:
    return [Check.warning("qdrant", SHOWN, ENCRYPT)] if settings.shows_key else []


def warn_of_qdrant(settings: IndexSettings) -> None:
    """Warns at the start of who can read the key."""
    if settings.shows_key:
        logger.warning("index.exposed", extra={"told": SHOWN, "mend": ENCRYPT})


def version_checks(server: str, client: str | None = None) -> list[Check]:
    """Compares the server's version with the client's. Qdrant promises that a client fits servers of its own minor
    version, the one before and the one after; older ones work down to `OLDEST`, which was tried.
    """
    client = client or version("qdrant-client")
    theirs, ours = _numbers(server), _numbers(client)
    if theirs is None or ours is None:
        return []
    if theirs < OLDEST or theirs[0] != ours[0]:
        oldest = ".".join(map(str, OLDEST))
        wanted = f"{ours[0]}.{ours[1]}"
        what = (
            f"the server is Qdrant {server}; Footnote needs {oldest} to {ours[0]}.{ours[1] + 1} (its "
            f"client is {client})"
        )
        return [Check.broken("qdrant version", what, f"run a server of version {wanted}")]
    if theirs[1] > ours[1] + 1:
        what = f"the server is Qdrant {server}, newer than the client {client} knows"
        return [
            Check.warning(
                "qdrant version", what, f"update Footnote, or run a server up to {ours[0]}.{ours[1] + 1}"
            )
        ]
    return [Check.ok("qdrant version", f"{server} (client {client})")]


async def server_version(settings: IndexSettings, *, for_s: float) -> str:
    """Asks for the server's version, again and again for `for_s` seconds while it does not answer.

    Raises:
        IndexUnavailableError: it did not answer, or refused the key.
    """
    from kb.index.server.calls import asked
    from kb.index.server.client import connect  # two seconds of a start

    client = connect(settings)
    try:
        return (await asked("asking for its version", client.info, for_s=for_s)).version
    finally:
        await client.close()


def _numbers(version_text: str) -> tuple[int, int] | None:
    """Returns the major and minor version; None if the text is not a version."""
    major, _, rest = version_text.partition(".")
    minor = rest.partition(".")[0]
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else None
