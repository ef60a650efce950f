"""A Qdrant server to be refused by: its REST interface on a real socket, in front of the client's local mode.

What local mode does not do is done here, as the server was seen to do it: requests are bounded,
points of a request are applied one by one with searches in between, strict mode refuses what it
is set to, keys are checked, and the port can go away and come back with all that was written.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import warnings
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from aiohttp import web
from pydantic import BaseModel, TypeAdapter
from qdrant_client import async_qdrant_client, models
from qdrant_client.local import async_qdrant_local, local_collection, payload_filters

LARGEST = 32 * 1024 * 1024
"""Bytes of a request that the server takes unless it is configured otherwise."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_SELECTOR: TypeAdapter[Any] = TypeAdapter(models.PointsSelector)


_check_match = payload_filters.check_match


def _match(condition: Any, value: Any) -> bool:
    """Looks among many values in a set: local mode compares with each of them, for each point."""
    if not isinstance(condition, models.MatchAny) or isinstance(value, float):
        return bool(_check_match(condition, value))
    wanted = condition.__dict__.get("_wanted")
    if wanted is None:
        wanted = condition.__dict__["_wanted"] = {(type(one), one) for one in condition.any}
    return (type(value), value) in wanted


payload_filters.check_match = _match
# Local mode guards its points from whoever asked. Here all of that is JSON, read for one request and written at once.
local_collection.deepcopy = async_qdrant_local.deepcopy = lambda one: one
# Of what may need an embedding. Each client would copy the schema of every request for one of its own (50 ms).
async_qdrant_client.Inspector = cache(async_qdrant_client.Inspector)


@dataclass(kw_only=True)
class Failure:
    """What the next requests to paths that end in `path` are answered with, `times` times."""

    status: int
    path: str = ""
    times: int = 1
    headers: dict[str, str] = field(default_factory=dict)
    text: str = "the shard moves"
    after: bool = False
    """Whether the request is carried out all the same: its answer gets lost."""


class QdrantServer:
    """Counts what it is sent: `largest_seen` bytes, `points_seen` points
    in one request, `points_put` in all, `paths` in order.
    """

    def __init__(self, *, strict: models.StrictModeConfig | None = None, key: str | None = None) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._engine = async_qdrant_local.AsyncQdrantLocal(":memory:")
        self._strict = strict or models.StrictModeConfig()
        self._key = key
        self._indexed: dict[str, set[str]] = {}
        self._runner: web.AppRunner | None = None
        self.version = "1.20.0"
        self.port = 0
        self.tls: ssl.SSLContext | None = None
        self.created: dict[str, dict[str, Any]] = {}
        """What collections were asked for with, by their names."""
        self.failures: list[Failure] = []
        self.silent = False
        """Whether requests are taken and never answered."""
        self.largest_seen = self.points_seen = self.points_put = 0
        self.paths: list[str] = []
        self.between: Callable[[], Awaitable[None]] = _nothing
        """Runs between one point of a write and the next."""

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """On the port that it had before, if it had one."""
        app = web.Application(client_max_size=LARGEST * 8, middlewares=[self._door])
        at = "/collections/{name}"
        app.add_routes(
            [
                web.get("/", self._root),
                web.get("/aliases", self._aliases),
                web.get("/collections", self._collections),
                web.post("/collections/aliases", self._change_aliases),
                web.put(at, self._create),
                web.get(at, self._describe),
                web.patch(at, self._update),
                web.delete(at, self._drop),
                web.put(f"{at}/index", self._index),
                web.put(f"{at}/points", self._upsert),
                web.post(f"{at}/points", self._retrieve),
                web.post(f"{at}/points/delete", self._delete),
                web.post(f"{at}/points/batch", self._batch),
                web.post(f"{at}/points/count", self._count),
                web.post(f"{at}/points/scroll", self._scroll),
                web.post(f"{at}/points/query/batch", self._query),
                web.post(f"{at}/facet", self._facet),
            ]
        )
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True, ssl_context=self.tls)
        await site.start()
        self.port = self.port or self._runner.addresses[0][1]

    async def stop(self) -> None:
        """From here on connections are refused. What was written stays."""
        self.silent = False
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @web.middleware
    async def _door(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self.paths.append(f"{request.method} {request.path}")
        while self.silent:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        if self._key is not None and request.headers.get("api-key") != self._key:
            return web.Response(status=401, text="Must provide an API key or an Authorization bearer token")
        body = await request.read()
        if len(body) > LARGEST:
            return _error(
                400,
                f"Payload error: JSON payload ({len(body)} bytes) is larger than allowed (limit: {LARGEST} bytes).",
            )
        self.largest_seen = max(self.largest_seen, len(body))
        failure = next((one for one in self.failures if one.times and request.path.endswith(one.path)), None)
        if failure is not None:
            failure.times -= 1
            if failure.after:
                await handler(request)
            return _error(failure.status, failure.text, failure.headers)
        try:
            return await handler(request)
        except _RefusedError as refused:
            return _error(400, str(refused))
        except ValueError as error:
            missing = "not found" in str(error) or "doesn't exist" in str(error)
            return _error(404 if missing else 400, str(error))

    async def _root(self, request: web.Request) -> web.Response:
        return web.json_response({"title": "qdrant - vector search engine", "version": self.version})

    async def _aliases(self, request: web.Request) -> web.Response:
        return _result(await self._engine.get_aliases())

    async def _collections(self, request: web.Request) -> web.Response:
        return _result(await self._engine.get_collections())

    async def _change_aliases(self, request: web.Request) -> web.Response:
        asked = models.ChangeAliasesOperation.model_validate_json(await request.read())
        return _result(await self._engine.update_collection_aliases(asked.actions))

    async def _create(self, request: web.Request) -> web.Response:
        name, asked = request.match_info["name"], json.loads(await request.read())
        fields = models.CreateCollection.model_validate(asked)
        self._indexed[name] = set()
        self.created[name] = asked
        return _result(
            await self._engine.create_collection(
                name,
                vectors_config=fields.vectors,
                sparse_vectors_config=fields.sparse_vectors,
                metadata=fields.metadata,
            )
        )

    async def _describe(self, request: web.Request) -> web.Response:
        return _result(await self._engine.get_collection(request.match_info["name"]))

    async def _update(self, request: web.Request) -> web.Response:
        asked = models.UpdateCollection.model_validate_json(await request.read())
        return _result(
            await self._engine.update_collection(request.match_info["name"], metadata=asked.metadata)
        )

    async def _drop(self, request: web.Request) -> web.Response:
        return _result(await self._engine.delete_collection(request.match_info["name"]))

    async def _index(self, request: web.Request) -> web.Response:
        asked = json.loads(await request.read())
        self._indexed[await self._real(request)].add(asked["field_name"])
        return _done()

    async def _upsert(self, request: web.Request) -> web.Response:
        asked = models.PointsList.model_validate_json(await request.read())
        await self._put(request.match_info["name"], asked.points)
        return _done()

    async def _delete(self, request: web.Request) -> web.Response:
        asked = _SELECTOR.validate_json(await request.read())
        await self._take(request, asked)
        return _done()

    async def _batch(self, request: web.Request) -> web.Response:
        asked = models.UpdateOperations.model_validate_json(await request.read())
        for operation in asked.operations:
            if isinstance(operation, models.UpsertOperation):
                await self._put(request.match_info["name"], operation.upsert.points)  # type: ignore[union-attr]
            elif isinstance(operation, models.DeleteOperation):
                await self._take(request, operation.delete)
            else:
                raise _RefusedError(f"the fake has no {type(operation).__name__}")
        return web.json_response({"result": [], "status": "ok", "time": 0})

    async def _put(self, name: str, points: list[models.PointStruct]) -> None:
        most = self._strict.upsert_max_batchsize
        if most is not None and len(points) > most:
            raise _RefusedError(f"Upsert limit exceeded {len(points)} > {most} for upsert limit")
        self.points_seen = max(self.points_seen, len(points))
        for point in points:
            await self._engine.upsert(name, [point])
            self.points_put += 1
            await self._between_points()

    async def _take(self, request: web.Request, selector: Any) -> None:
        name = request.match_info["name"]
        if isinstance(selector, models.PointIdsList):
            gone = list(selector.points)
        else:
            await self._check(request, filters=[selector.filter])
            gone = [
                point.id
                for point in (
                    await self._engine.scroll(name, selector.filter, limit=10**6, with_payload=False)
                )[0]
            ]
        for point in gone:
            await self._engine.delete(name, models.PointIdsList(points=[point]))
            await self._between_points()

    async def _between_points(self) -> None:
        await asyncio.sleep(0)
        await self.between()

    async def _retrieve(self, request: web.Request) -> web.Response:
        asked = models.PointRequest.model_validate_json(await request.read())
        found = await self._engine.retrieve(
            request.match_info["name"], asked.ids, with_payload=asked.with_payload
        )
        return _result(found)

    async def _count(self, request: web.Request) -> web.Response:
        asked = models.CountRequest.model_validate_json(await request.read())
        await self._check(request, filters=[asked.filter])
        return _result(await self._engine.count(request.match_info["name"], asked.filter))

    async def _scroll(self, request: web.Request) -> web.Response:
        asked = models.ScrollRequest.model_validate_json(await request.read())
        await self._check(request, filters=[asked.filter], limits=[asked.limit])
        points, offset = await self._engine.scroll(
            request.match_info["name"],
            asked.filter,
            limit=asked.limit or 10,
            offset=asked.offset,
            with_payload=True if asked.with_payload is None else asked.with_payload,
            with_vectors=asked.with_vector or False,
        )
        return _result(models.ScrollResult(points=points, next_page_offset=offset))

    async def _query(self, request: web.Request) -> web.Response:
        asked = models.QueryRequestBatch.model_validate_json(await request.read())
        legs = [leg for one in asked.searches for leg in (one, *(one.prefetch or []))]
        await self._check(request, filters=[leg.filter for leg in legs], limits=[leg.limit for leg in legs])
        found = []
        for one in asked.searches:
            found += await self._engine.query_batch_points(request.match_info["name"], [one])
            await asyncio.sleep(0)
        return _result(found)

    async def _facet(self, request: web.Request) -> web.Response:
        asked = models.FacetRequest.model_validate_json(await request.read())
        await self._check(request, filters=[asked.filter], limits=[asked.limit], fields=(asked.key,))
        return _result(
            await self._engine.facet(
                request.match_info["name"], asked.key, asked.filter, limit=asked.limit or 10, exact=True
            )
        )

    async def _check(
        self,
        request: web.Request,
        *,
        filters: list[Any],
        limits: tuple[Any, ...] | list[Any] = (),
        fields: tuple[str, ...] = (),
    ) -> None:
        """What strict mode says of a request."""
        if not self._strict.enabled:
            return
        most = self._strict.max_query_limit
        for limit in limits:
            if most is not None and limit is not None and limit > most:
                raise _RefusedError(
                    f'Limit exceeded {limit} > {most} for "limit". Help: Reduce the "limit" parameter to or below {most}.'
                )
        if self._strict.unindexed_filtering_retrieve is False:
            indexed = self._indexed[await self._real(request)]
            for key in (
                *fields,
                *(key for one in filters if one is not None for key in _keys(one.model_dump())),
            ):
                if key not in indexed:
                    raise _RefusedError(
                        f'Index required but not found for "{key}". Help: Create an index for this key or use a different filter.'
                    )

    async def _real(self, request: web.Request) -> str:
        """The collection of a name that may be an alias."""
        name = request.match_info["name"]
        for alias in (await self._engine.get_aliases()).aliases:
            if alias.alias_name == name:
                return alias.collection_name
        return name


class _RefusedError(Exception):
    pass


async def _nothing() -> None:
    pass


def _keys(condition: Any) -> Iterator[str]:
    if isinstance(condition, dict):
        if isinstance(condition.get("key"), str):
            yield condition["key"]
        for part in condition.values():
            yield from _keys(part)
    elif isinstance(condition, list):
        for part in condition:
            yield from _keys(part)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _result(value: Any) -> web.Response:
    return web.json_response({"result": _plain(value), "status": "ok", "time": 0})


def _done() -> web.Response:
    return web.json_response(
        {"result": {"operation_id": 0, "status": "completed"}, "status": "ok", "time": 0}
    )


def _error(status: int, told: str, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response({"status": {"error": told}, "time": 0}, status=status, headers=headers)
