"""The HTTP API beside the bot: built from what runs, and its description for docs/openapi.json."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from bot.api.keys import ApiKeys
from bot.api.service import Service
from bot.api.slots import Slots
from bot.cli.compose import Runtime, utc_now
from bot.cli.local import LocalSession
from kb.store import STORE_FAILURES


@asynccontextmanager
async def serving_api(
    runtime: Runtime, session: LocalSession, *, loaded: Callable[[], bool]
) -> AsyncIterator[str | None]:
    """Serves the API while the block runs, where a port is set; yields its address. `loaded`: whether the models are."""
    settings = runtime.settings.api
    if settings.port is None:
        yield None
        return
    # Two seconds of a start, which only those pay who serve it.
    from bot.api.app import create_app, guarded
    from bot.api.mcp_tools import mounted
    from bot.api.server import listening

    service = build_service(runtime, session, loaded=loaded)
    app = create_app(service)
    async with mounted(app, service), listening(guarded(app, hosts=settings.hosts), settings) as address:
        yield address


def build_service(runtime: Runtime, session: LocalSession, *, loaded: Callable[[], bool]) -> Service:
    async def is_well() -> bool:
        return bool((await session.status())["status"] == "ok")

    async def is_ready() -> bool:
        return loaded() and await _store_answers(runtime) and await is_well()

    return Service(
        pipeline=runtime.pipeline,
        freshness=runtime.pipeline.quoted.freshness,
        keys=ApiKeys(runtime.redis, namespace=runtime.settings.store.namespace, clock=utc_now),
        figures=runtime.analytics,
        slots=Slots(runtime.settings.api.concurrency),
        is_well=is_well,
        is_ready=is_ready,
        metrics=session.metrics,
    )


async def _store_answers(runtime: Runtime) -> bool:
    try:
        await runtime.redis.ping()
    except STORE_FAILURES:
        return False
    return True


def openapi() -> None:
    from bot.api.app import create_app

    sys.stdout.write(json.dumps(create_app().openapi(), indent=2, ensure_ascii=False) + "\n")
