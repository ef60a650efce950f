"""The language model: one client for Claude and for what speaks its API (Ollama, llama.cpp, gateways).

A call has one deadline for everything: connecting, waiting, retries and reading the stream to its end. Whatever goes
wrong comes out as `ModelUnavailableError`, `ModelRefusedError` or `ModelReplyError`; their texts never hold the
key, the prompt or the reply.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

import anthropic
import httpx2
from anthropic.types import MessageParam, OutputConfigParam, ToolParam
from opentelemetry.trace import Span, SpanKind

from kb.config.model_settings import Effort, ModelSettings
from kb.errors import ModelRefusedError, ModelReplyError
from kb.llm.bounds import PLAIN, bound_response
from kb.llm.endpoint import choose_endpoint
from kb.llm.failures import FAILURES, PASSING, retry_wait, translate
from kb.llm.names import ModelNames
from kb.llm.request import build_params
from kb.llm.stream import OnText, Reply, read_reply
from kb.llm.usage import ModelUsage
from kb.runtime.tracing import span
from kb.text.unicode import well_formed_value

logger = logging.getLogger(__name__)

CONNECT_S = 5.0
"""A host that has not accepted a connection by then counts as unreachable, and is asked again."""
FIRST_BACKOFF_S = 0.5
PING_TOKENS = 16
PING_DEADLINE_S = 10.0

NO_TRACES: anthropic.OpenTelemetryOptions = {"traces": False, "propagation": False}
"""Our own traces suffice; the SDK's may hold prompts, and our ids mean nothing to whoever runs the model."""

WHOLE = ("end_turn", "stop_sequence", "tool_use")
"""Stop reasons of a complete reply."""


def connect_model(settings: ModelSettings) -> LanguageModel | None:
    """Returns the configured model, or None where there is none (answers are then extracted).

    Raises:
        SettingsError: the provider is named but what it needs is missing, or the key cannot be sent.
    """
    return None if settings.effective_provider == "none" else LanguageModel(settings)


class LanguageModel:
    """Safe for concurrent calls. Close it when the process ends.

    `usage` by the name of the model. `native_citations`, `tools`: what the endpoint is known to take.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        http_client: httpx2.AsyncClient | None = None,
        first_backoff_s: float = FIRST_BACKOFF_S,
    ) -> None:
        endpoint = choose_endpoint(settings)
        self.provider = settings.effective_provider
        self.host = endpoint.host
        self.native_citations = endpoint.native
        self.tools = endpoint.tools
        self.usage: dict[str, ModelUsage] = {}
        self._names = ModelNames(settings, endpoint.base_url)
        self._settings = settings
        self._first_backoff_s = first_backoff_s
        self._client = anthropic.AsyncAnthropic(
            api_key=endpoint.key,
            base_url=endpoint.base_url,
            open_telemetry=NO_TRACES,
            max_retries=0,  # our retries keep the deadline, the SDK's do not
            timeout=httpx2.Timeout(None, connect=CONNECT_S),
            default_headers=PLAIN,
            http_client=http_client
            or anthropic.DefaultAsyncHttpxClient(event_hooks={"response": [bound_response]}),
        )

    def __repr__(self) -> str:
        return f"LanguageModel(provider={self.provider!r}, host={self.host!r})"

    async def complete_json(
        self, system: str, prompt: str, schema: Mapping[str, object], *, max_tokens: int, deadline_s: float
    ) -> dict[str, Any]:
        """Asks the small model for one JSON object of this schema.

        `schema` may be pydantic's. Claude is held to it by structured output, but for limits such as a maximum
        length; other endpoints are asked for it in the prompt. Either way the caller validates.

        Raises:
            ModelUnavailableError, ModelRefusedError, ModelReplyError: see the module.
        """
        if not self.native_citations:
            system = f"{system}\n\nReply with one JSON object of this schema and nothing else:\n{json.dumps(schema)}"
        reply = await self._complete(
            small=True,
            system=system,
            messages=[{"role": "user", "content": prompt}],
            output=self._output_config(self._settings.rewrite_effort, schema),
            max_tokens=max_tokens,
            deadline_s=deadline_s,
        )
        return _json_object(reply.text)

    async def converse(
        self,
        *,
        system: str,
        messages: Sequence[MessageParam],
        tools: Sequence[ToolParam] = (),
        max_tokens: int,
        deadline_s: float,
        on_text: OnText | None = None,
    ) -> Reply:
        """Asks the answer model once. The reply has text, uses of `tools`, or both.

        `on_text` gets all text so far whenever there is a little more. Where the stream breaks and is begun again, so
        is what it gets. Its time counts against the deadline. It must not raise.

        Raises:
            ModelUnavailableError, ModelRefusedError, ModelReplyError: see the module.
        """
        return await self._complete(
            system=system,
            messages=messages,
            tools=tools,
            output=self._output_config(self._settings.answer_effort),
            max_tokens=max_tokens,
            deadline_s=deadline_s,
            on_text=on_text,
        )

    async def ping(self) -> tuple[str, ...]:
        """Says a word to each configured model and returns their names: proof that key, address and names are right.

        Raises:
            ModelUnavailableError: one of them does not answer; the text says which and how to fix it.
        """
        names = tuple(dict.fromkeys(await self._names.find()))
        for name in names:
            await self._request(
                name=name,
                system="Reply with one word.",
                messages=[{"role": "user", "content": "ping"}],
                max_tokens=PING_TOKENS,
                deadline_s=PING_DEADLINE_S,
            )
        return names

    @property
    def name(self) -> str:
        """The answer model, for people, as far as it is known by now."""
        return self._names.display_name

    @property
    def picked(self) -> bool:
        """Whether its server's list has named the model, and not the settings."""
        return self._names.picked

    async def close(self) -> None:
        await self._client.close()

    def _output_config(
        self, effort: Effort, schema: Mapping[str, object] | None = None
    ) -> OutputConfigParam | None:
        if not self.native_citations:
            return None
        config: OutputConfigParam = {}
        if effort != "none":
            config["effort"] = effort
        if schema is not None:
            config["format"] = {"type": "json_schema", "schema": anthropic.transform_schema(dict(schema))}
        return config or None

    async def _complete(self, **request: Any) -> Reply:
        name, reply = await self._request(**request)
        if reply.stop_reason == "refusal":
            raise ModelRefusedError(
                f"{name} declined to answer (category: {reply.refusal_category or 'none'})"
            )
        if reply.stop_reason not in WHOLE:
            raise ModelReplyError(f"the reply of {name} is not whole: it stopped for {reply.stop_reason}")
        if not reply.text.strip() and not reply.tool_uses:
            raise ModelReplyError(f"{name} replied without a word")
        return reply

    async def _request(
        self,
        *,
        name: str = "",
        small: bool = False,
        deadline_s: float,
        on_text: OnText | None = None,
        **request: Any,
    ) -> tuple[str, Reply]:
        """Makes one call with its retries, counted, logged and traced, and translates every failure.

        Returns the model's name and its reply.
        """
        with span("model", kind=SpanKind.CLIENT) as traced:
            name, reply = await self._asked(
                name=name, small=small, deadline_s=deadline_s, on_text=on_text, **request
            )
            self._describe(traced, name, reply, request)
        return name, reply

    async def _asked(
        self, *, name: str, small: bool, deadline_s: float, on_text: OnText | None, **request: Any
    ) -> tuple[str, Reply]:
        started = time.perf_counter()
        try:
            async with asyncio.timeout(deadline_s) as deadline:
                name = name or (await self._names.find())[small]
                self._count(name, calls=1)
                params = build_params(model=name, cached=self.native_citations, **request)
                reply = await self._with_retries(deadline, params, on_text)
        except FAILURES as error:
            failure = translate(error, model=name or self.name, host=self.host, deadline_s=deadline_s)
            if name:
                self._count(name, failures=1)
            logger.info("llm.failed", extra={"model": name or self.name, "cause": str(failure)})
            raise failure from error
        spent = {
            "input_tokens": reply.input_tokens,
            "output_tokens": reply.output_tokens,
            "cache_read_tokens": reply.cache_read_tokens,
            "cache_written_tokens": reply.cache_written_tokens,
        }
        self._count(name, **spent)
        milliseconds = round((time.perf_counter() - started) * 1000)
        logger.info(
            "llm.completed",
            extra={"model": name, "stop_reason": reply.stop_reason, **spent, "ms": milliseconds},
        )
        return name, reply

    async def _with_retries(
        self, deadline: asyncio.Timeout, params: Mapping[str, Any], on_text: OnText | None
    ) -> Reply:
        for attempt in range(self._settings.retries + 1):
            try:
                return await self._send(params, on_text)
            except PASSING as error:
                wait = retry_wait(error, attempt, self._first_backoff_s)
                left = (deadline.when() or 0.0) - asyncio.get_running_loop().time()
                if wait is None or wait >= left or attempt == self._settings.retries:
                    raise
                logger.info(
                    "llm.retried",
                    extra={"model": params["model"], "cause": type(error).__name__, "wait_s": wait},
                )
                self._count(params["model"], retries=1)
                await asyncio.sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _send(self, params: Mapping[str, Any], on_text: OnText | None) -> Reply:
        """Sends a request, the one place that does; `kb.llm.recorded` replaces it."""
        stream: Any = await self._client.messages.create(**params, stream=True)
        async with stream:
            return await read_reply(aiter(stream), on_text, max_tokens=params["max_tokens"])

    def _describe(self, traced: Span, name: str, reply: Reply, request: Mapping[str, Any]) -> None:
        """Describes a request by OpenTelemetry's names: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/."""
        traced.set_attributes(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": self.provider,
                "gen_ai.request.model": name,
                "gen_ai.request.max_tokens": request["max_tokens"],
                "gen_ai.response.finish_reasons": (reply.stop_reason,),
                "gen_ai.usage.input_tokens": reply.input_tokens,
                "gen_ai.usage.output_tokens": reply.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": reply.cache_read_tokens,
                "gen_ai.usage.cache_creation.input_tokens": reply.cache_written_tokens,
                "server.address": self.host,
            }
        )

    def _count(self, name: str, **more: int) -> None:
        self.usage[name] = self.usage.get(name, ModelUsage()) + ModelUsage(**more)


def _json_object(text: str) -> dict[str, Any]:
    """Reads the first JSON object in the text: local models like to put words or a fence around it."""
    start = text.find("{")
    try:
        if start >= 0:
            found, _ = json.JSONDecoder().raw_decode(text, start)
            return dict(well_formed_value(found))
    except (ValueError, RecursionError) as error:
        raise ModelReplyError("the model's JSON cannot be read") from error
    raise ModelReplyError("the model replied without a JSON object")
