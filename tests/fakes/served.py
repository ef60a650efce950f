"""What fakes of services have in common: an aiohttp application on a free port of this machine."""

from __future__ import annotations

from aiohttp import web


class Served:
    """A fake builds its application in `__aenter__` and serves it; it is gone when the block ends."""

    async def serve(self, app: web.Application) -> str:
        """Its origin: `http://127.0.0.1:PORT`."""
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()
