"""Where traces go: an OpenTelemetry collector by OTLP over HTTP, in batches, off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from kb.settings import TelemetrySettings

FLUSH_MS = 5_000
"""How long the last spans may take to leave when a command ends."""


@asynccontextmanager
async def telemetry(settings: TelemetrySettings) -> AsyncIterator[None]:
    """Sends the spans of `kb.tracing` while it is open. Without `settings.traces` there are none.

    A collector that is away costs its spans and a warning in the log, never a question.
    """
    if settings.traces is None:
        yield
        return
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    provider = TracerProvider(
        resource=Resource.create({SERVICE_NAME: settings.service_name, SERVICE_VERSION: version("footnote")}),
        sampler=ParentBased(TraceIdRatioBased(settings.sampled)),
    )
    address = str(settings.traces).rstrip("/")
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{address}/v1/traces")))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        await asyncio.to_thread(provider.force_flush, FLUSH_MS)
        await asyncio.to_thread(provider.shutdown)
