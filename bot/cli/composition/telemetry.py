"""Sends traces to an OpenTelemetry collector by OTLP over HTTP, in batches, off the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from kb.config.server_settings import TelemetrySettings
from kb.runtime.tracing import sent_by

FLUSH_S = 5.0
"""How long the last spans may take to leave when a command ends."""


@asynccontextmanager
async def telemetry(settings: TelemetrySettings) -> AsyncIterator[None]:
    """Sends the spans of `kb.runtime.tracing` while it is open. Without `settings.traces` there are none.

    A collector that is away costs its spans and a warning in the log, never a question.
    """
    if settings.traces is None:
        yield
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    provider = TracerProvider(
        shutdown_on_exit=False,  # it would wait half a minute for an unreachable collector
        resource=Resource.create({SERVICE_NAME: settings.service_name, SERVICE_VERSION: version("footnote")}),
        sampler=ParentBased(TraceIdRatioBased(settings.sampled)),
    )
    address = str(settings.traces).rstrip("/")
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{address}/v1/traces")))
    try:
        with sent_by(provider):
            yield
    finally:
        # The SDK's own time limits do not hold: https://github.com/open-telemetry/opentelemetry-python/issues/4568
        leaving = threading.Thread(target=provider.shutdown, name="last spans", daemon=True)
        leaving.start()
        await asyncio.to_thread(leaving.join, FLUSH_S)
