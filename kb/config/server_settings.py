"""Settings of what the process serves and reports beside Slack: the HTTP API and telemetry."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, HttpUrl, SecretStr

from kb.config.sections import Section


class ApiSettings(Section):
    """The HTTP API of `footnote serve` (docs/api.md). Who asks has a key: `footnote keys add NAME`."""

    port: Annotated[int, Field(ge=0, le=65535)] | None = None
    """None: it is not served. 0: any free one, which the log names."""
    host: str = "127.0.0.1"
    """The address to listen on. Anything but loopback needs a proxy that
    ends TLS in front: keys travel with each request.
    """
    hosts: tuple[str, ...] = ()
    """Names, without ports, under which it is reached besides loopback:
    kb.example.com. Requests for others are refused.
    """
    concurrency: Annotated[int, Field(ge=1, le=256)] = 8
    """Questions that are worked on at the same time; one more is told to come again."""
    key: SecretStr | None = None
    """The key by which `footnote mcp` asks."""
    url: str | None = None
    """Where `footnote mcp` finds the HTTP API; None: on this machine, at `port` (8080 where that is not set)."""


class TelemetrySettings(Section):
    """What an operator's own systems are told besides `/metrics`. Off unless set."""

    traces: HttpUrl | None = None
    """OpenTelemetry collector that takes OTLP over HTTP:
    http://localhost:4318. Its headers come from OTEL_EXPORTER_OTLP_HEADERS.
    """
    sampled: Annotated[float, Field(ge=0, le=1)] = 1.0
    """The share of questions and syncs that is traced."""
    service_name: str = "footnote"
    """The name under which traces are found."""
    logs: Literal["text", "json"] = "text"
    """json: one object a line, with the trace id where there is one."""
