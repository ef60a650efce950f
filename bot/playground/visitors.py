"""Access control of the playground: admits its own page and programs on this machine.

It listens on loopback, but every site that is open in the same browser can send requests there, and one that
names its own host and lets it resolve to 127.0.0.1 (DNS rebinding) could read the answers. The pages of the
knowledge base, what people write and the app's tokens are at stake, so the rules are the same for every path.
"""

from __future__ import annotations

from collections.abc import Collection

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from kb.addresses import split_address

_FOR_READERS = ("/kb/", "/archives/")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def only_ours(hosts: Collection[str]) -> Middleware:
    """Builds a middleware that answers 403 where a request names none of `hosts`, or comes from another site."""

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        named = split_address(f"//{request.host}")
        if named is None or named.hostname not in hosts or _is_foreign(request):
            raise web.HTTPForbidden(
                text="this is for the playground's own page and for programs on this machine"
            )
        return await handler(request)

    return guard


def _is_foreign(request: web.Request) -> bool:
    """Returns whether a browser sends it for another site's page. A link that a person follows does not count."""
    origin = request.headers.get("Origin")
    if origin is not None and split_address(origin).netloc != request.host:
        return True
    if request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin"):
        return False
    followed = request.method == "GET" and request.headers.get("Sec-Fetch-Mode") == "navigate"
    shown = request.path == "/" or request.path.startswith(_FOR_READERS)
    return not (followed and shown and request.headers.get("Sec-Fetch-Dest") == "document")
