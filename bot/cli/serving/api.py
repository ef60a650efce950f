"""The HTTP API beside the bot: built from what runs, and its description for docs/openapi.json."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import ModuleType

from bot.api.concurrency import ConcurrencyLimit
from bot.api.keys import ApiKeys
from bot.api.service import Service
from bot.cli.composition.runtime import Runtime, utc_now
from bot.cli.session.local import LocalSession
from kb.store.redis import STORE_FAILURES


@asynccontextmanager
async def serving_api(
    runtime: Runtime, session: LocalSession, *, loaded: Callable[[], bool]
) -> AsyncIterator[str | None]:
    """Serves the API while the block runs, where a port is set; yields
    its address. `loaded`: whether the models are.
    """
    settings = runtime.settings.api
    if settings.port is None:
        yield None
        return
    app, guards, mcp_tools, server = await asyncio.to_thread(_modules)
    service = build_service(runtime, session, loaded=loaded)
    served = await asyncio.to_thread(app.create_app, service)
    guarded = guards.Guards(served, hosts=settings.hosts)
    async with mcp_tools.mounted(served, service), server.listening(guarded, settings) as address:
        yield address


def _modules() -> tuple[ModuleType, ModuleType, ModuleType, ModuleType]:
    """Imports the API's modules, which takes two seconds: only where it is served, in a thread beside the loop."""
    from bot.api import app, guards, mcp_tools, server

    return app, guards, mcp_tools, server


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
        concurrency=ConcurrencyLimit(runtime.settings.api.concurrency),
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
