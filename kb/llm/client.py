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
from dataclasses import dataclass, replace
from typing import Any

import anthropic
import httpx2
from anthropic.types import (
    MessageParam,
    OutputConfigParam,
    SearchResultBlockParam,
    TextBlockParam,
)

from kb.errors import ModelRefusedError, ModelReplyError
from kb.llm.endpoint import choose_endpoint
from kb.llm.failures import FAILURES, PASSING, retry_wait, translate
from kb.llm.request import CitablePassage, Spoken, said_before, search_result
from kb.llm.stream import Reply, TextBlock, read_reply
from kb.settings import Effort, ModelSettings

__all__ = ["CitablePassage", "LanguageModel", "ModelUsage", "Spoken", "connect_model"]

logger = logging.getLogger(__name__)

CONNECT_S = 5.0
"""A host that has not accepted a connection by then is taken for unreachable, and asked again."""
FIRST_BACKOFF_S = 0.5
PING_TOKENS = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelUsage:
    """What this process has asked of the model so far."""

    calls: int = 0
    retries: int = 0
    failures: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


def connect_model(settings: ModelSettings) -> LanguageModel | None:
    """The configured model, or None where there is none (answers are then extracted).

    Raises:
        SettingsError: the provider is named but what it needs is missing, or the key cannot be sent.
    """
    return None if settings.effective_provider == "none" else LanguageModel(settings)


class LanguageModel:
    """Safe for concurrent calls. Close it when the process ends."""

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
        self.usage = ModelUsage()
        self._settings = settings
        self._first_backoff_s = first_backoff_s
        self._client = anthropic.AsyncAnthropic(
            api_key=endpoint.key,
            base_url=endpoint.base_url,
            max_retries=0,  # ours know the deadline: the SDK's sleep through it
            timeout=httpx2.Timeout(None, connect=CONNECT_S),
            http_client=http_client,
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
            model=self._settings.rewrite_model,
            system=system,
            messages=[{"role": "user", "content": prompt}],
            output=self._output_config(self._settings.rewrite_effort, schema),
            max_tokens=max_tokens,
            deadline_s=deadline_s,
        )
        return _json_object(reply.text)

    async def complete_cited(
        self,
        system: str,
        passages: Sequence[CitablePassage],
        prompt: str,
        *,
        earlier: Sequence[Spoken] = (),
        max_tokens: int,
        deadline_s: float,
    ) -> tuple[TextBlock, ...]:
        """Asks for an answer that cites `passages` natively (`native_citations` only). Raises as `complete_json`."""
        content: list[SearchResultBlockParam | TextBlockParam] = [search_result(one) for one in passages]
        content.append({"type": "text", "text": prompt})
        return await self._answer(
            system, earlier, {"role": "user", "content": content}, max_tokens, deadline_s
        )

    async def complete_text(
        self,
        system: str,
        prompt: str,
        *,
        earlier: Sequence[Spoken] = (),
        max_tokens: int,
        deadline_s: float,
    ) -> str:
        """Asks for an answer in plain text. Raises as `complete_json`."""
        message: MessageParam = {"role": "user", "content": prompt}
        blocks = await self._answer(system, earlier, message, max_tokens, deadline_s)
        return "".join(block.text for block in blocks)

    async def ping(self, *, deadline_s: float = 10.0) -> tuple[str, ...]:
        """Says a word to each configured model and returns their names: proof that key, address and names are right.

        Raises:
            ModelUnavailableError: one of them does not answer; the text says which and how to mend it.
        """
        names = tuple(dict.fromkeys((self._settings.answer_model, self._settings.rewrite_model)))
        for name in names:
            await self._request(
                model=name,
                system="Reply with one word.",
                messages=[{"role": "user", "content": "ping"}],
                output=None,
                max_tokens=PING_TOKENS,
                deadline_s=deadline_s,
            )
        return names

    async def close(self) -> None:
        await self._client.close()

    async def _answer(
        self,
        system: str,
        earlier: Sequence[Spoken],
        message: MessageParam,
        max_tokens: int,
        deadline_s: float,
    ) -> tuple[TextBlock, ...]:
        reply = await self._complete(
            model=self._settings.answer_model,
            system=system,
            messages=[*map(said_before, earlier), message],
            output=self._output_config(self._settings.answer_effort),
            max_tokens=max_tokens,
            deadline_s=deadline_s,
        )
        return reply.blocks

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

    async def _complete(self, *, model: str, **request: Any) -> Reply:
        reply = await self._request(model=model, **request)
        if reply.stop_reason == "refusal":
            raise ModelRefusedError(
                f"{model} declined to answer (category: {reply.refusal_category or 'none'})"
            )
        if reply.stop_reason not in ("end_turn", "stop_sequence"):
            raise ModelReplyError(f"the reply of {model} is not whole: it stopped for {reply.stop_reason}")
        if not reply.text.strip():
            raise ModelReplyError(f"{model} replied without a word")
        return reply

    async def _request(self, *, model: str, deadline_s: float, **request: Any) -> Reply:
        """One call with its retries, counted and logged, every failure translated."""
        started = time.perf_counter()
        self._count(calls=1)
        try:
            async with asyncio.timeout(deadline_s) as deadline:
                reply = await self._with_retries(deadline, model=model, **request)
        except FAILURES as error:
            self._count(failures=1)
            known = translate(error, model=model, host=self.host, deadline_s=deadline_s)
            logger.info("llm.failed", extra={"model": model, "cause": str(known)})
            raise known from error
        self._count(input_tokens=reply.input_tokens, output_tokens=reply.output_tokens)
        logger.info(
            "llm.completed",
            extra={
                "model": model,
                "stop_reason": reply.stop_reason,
                "input_tokens": reply.input_tokens,
                "output_tokens": reply.output_tokens,
                "ms": round((time.perf_counter() - started) * 1000),
            },
        )
        return reply

    async def _with_retries(self, deadline: asyncio.Timeout, **request: Any) -> Reply:
        for attempt in range(self._settings.retries + 1):
            try:
                return await self._once(**request)
            except PASSING as error:
                wait = retry_wait(error, attempt, self._first_backoff_s)
                left = (deadline.when() or 0.0) - asyncio.get_running_loop().time()
                if wait is None or wait >= left or attempt == self._settings.retries:
                    raise
                logger.info(
                    "llm.retried",
                    extra={"model": request["model"], "cause": type(error).__name__, "wait_s": wait},
                )
                self._count(retries=1)
                await asyncio.sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _once(
        self,
        *,
        model: str,
        system: str,
        messages: Sequence[MessageParam],
        output: OutputConfigParam | None,
        max_tokens: int,
    ) -> Reply:
        async with await self._client.messages.create(
            model=model,
            system=system,
            messages=messages,
            output_config=anthropic.omit if output is None else output,
            max_tokens=max_tokens,
            stream=True,
        ) as stream:
            return await read_reply(aiter(stream))

    def _count(self, **more: int) -> None:
        self.usage = replace(self.usage, **{name: getattr(self.usage, name) + n for name, n in more.items()})


def _json_object(text: str) -> dict[str, Any]:
    """The first JSON object in the text: local models like to put words or a fence around it."""
    start = text.find("{")
    try:
        if start >= 0:
            found, _ = json.JSONDecoder().raw_decode(text, start)
            return dict(found)
    except ValueError as error:
        raise ModelReplyError("the model's JSON cannot be read") from error
    raise ModelReplyError("the model replied without a JSON object")
