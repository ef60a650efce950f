"""Spans of OpenTelemetry around what a question and a sync go through.

They go nowhere, and cost next to nothing, unless a command said where to (`bot.cli.composition.telemetry`). A span
holds names, counts and codes: no text that somebody wrote, and of an error its class alone. Libraries make spans of
their own, and put into them what they like (the SDK of Claude whole prompts, where a variable says so): so
they do not get our provider. https://opentelemetry.io/docs/specs/otel/trace/api/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider

_tracer = trace.get_tracer("footnote")


@contextmanager
def sent_by(provider: TracerProvider) -> Iterator[None]:
    """Sends our spans, and nobody else's, to this provider while the block runs."""
    global _tracer
    before, _tracer = _tracer, provider.get_tracer("footnote")
    try:
        yield
    finally:
        _tracer = before


@contextmanager
def span(
    name: str, *, kind: SpanKind = SpanKind.INTERNAL, **attributes: str | int | float | bool
) -> Iterator[Span]:
    """Opens a span, within another one as its part; attributes get the prefix "footnote."."""
    with _tracer.start_as_current_span(
        name,
        kind=kind,
        attributes=_prefixed(attributes),
        record_exception=False,  # its message may quote a question
        set_status_on_exception=False,
    ) as current:
        try:
            yield current
        except BaseException as error:
            current.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise


def note(**attributes: str | int | float | bool) -> None:
    """Adds to the span that is under way what is known only later, with the same prefix."""
    trace.get_current_span().set_attributes(_prefixed(attributes))


def current_ids() -> tuple[str, str] | None:
    """Returns the trace and the span that are under way, in hex as OTLP's backends show them."""
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return None
    return trace.format_trace_id(context.trace_id), trace.format_span_id(context.span_id)


def _prefixed(attributes: Mapping[str, str | int | float | bool]) -> dict[str, str | int | float | bool]:
    return {f"footnote.{key}": value for key, value in attributes.items()}
