"""An OpenTelemetry collector on loopback: takes OTLP over HTTP as protobuf, and keeps the spans.

async with Collector() as collector:
    ... FOOTNOTE_TELEMETRY__TRACES=collector.url ...
    [question] = collector.named("question")
"""

from __future__ import annotations

import gzip
from typing import Self

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span

PROTOBUF = "application/x-protobuf"


class Collector:
    def __init__(self) -> None:
        self.url = ""
        self.spans: list[Span] = []
        self.resources: list[Resource] = []

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=16 * 1024**2)
        app.router.add_post("/v1/traces", self._take)
        self._runner = web.AppRunner(app, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        if request.content_type != PROTOBUF:
            raise web.HTTPUnsupportedMediaType
        body = await request.read()
        packed = body[:2] == b"\x1f\x8b"  # aiohttp has unpacked it where it is told of it
        told = ExportTraceServiceRequest.FromString(gzip.decompress(body) if packed else body)
        for one in told.resource_spans:
            self.resources.append(one.resource)
            self.spans += [span for scope in one.scope_spans for span in scope.spans]
        return web.Response(body=ExportTraceServiceResponse().SerializeToString(), content_type=PROTOBUF)

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    def trace_of(self, root: Span) -> list[Span]:
        """Every span of its trace, itself included."""
        return [span for span in self.spans if span.trace_id == root.trace_id]

    def below(self, parent: Span) -> list[Span]:
        """Its children, and theirs."""
        children = [span for span in self.trace_of(parent) if span.parent_span_id == parent.span_id]
        return [*children, *(below for child in children for below in self.below(child))]


def attributes(span: Span | Resource) -> dict[str, object]:
    """Strings, numbers and truth values as Python has them; of a list, its items."""
    return {one.key: _value(one.value) for one in span.attributes}


def _value(value: object) -> object:
    kind = value.WhichOneof("value")  # type: ignore[attr-defined]
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]  # type: ignore[attr-defined]
    return getattr(value, kind)
