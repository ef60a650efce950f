"""Rewriting by a language model: structured output, the thread as data, and nothing used that is not valid."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kb.config.settings import Settings
from kb.conversation.topics import LONGEST_TOPIC, MOST
from kb.errors import ModelReplyError, StoreUnavailableError
from kb.models import Rewrite, Turn
from kb.rewriting.cache import ReplyCache
from kb.rewriting.context import ThreadContext, render_prompt, thread_context
from kb.rewriting.grounding import strays
from kb.rewriting.parts import MOST as MOST_PARTS
from kb.rewriting.tally import CacheEvent
from kb.rewriting.translation import unusable_translation
from kb.rewriting.validation import validate
from kb.text.lexicon import lexicon

logger = logging.getLogger(__name__)

LEAST_CONFIDENCE = 0.5
"""Below this the model's own doubt outweighs its rewrite."""
CACHE_S = 0.05
"""Seconds. A cache that takes longer costs more of the deadline than it saves; Redis on this machine takes 0.5 ms."""
EXAMPLES = "\nExamples"
"""Where the examples begin in the instructions."""


class RewriteModel(Protocol):
    """A language model that answers in JSON.

    Raises `ModelUnavailableError`, `ModelRefusedError` or `ModelReplyError`.
    """

    async def complete_json(
        self, system: str, prompt: str, schema: dict[str, Any], *, max_tokens: int, deadline_s: float
    ) -> dict[str, Any]: ...


class ModelRewrite(BaseModel):
    """The model's reply."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    needs_rewrite: bool
    is_follow_up: bool
    query: str
    translated: str = ""
    parts: list[str] = Field(default_factory=list)
    topics: list[str] = Field(default_factory=list)
    reasoning: str = ""
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0


_PROPERTIES = {
    "needs_rewrite": {"type": "boolean"},
    "is_follow_up": {"type": "boolean"},
    "query": {"type": "string"},
    "translated": {"type": "string"},
    "parts": {"type": "array", "items": {"type": "string"}},
    "topics": {"type": "array", "items": {"type": "string"}},
    "reasoning": {"type": "string"},
    "confidence": {"type": "number"},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": _PROPERTIES,
    "required": list(_PROPERTIES),
    "additionalProperties": False,
}
"""Bounds are left out: structured output on current models does not take them. `ModelRewrite` checks them."""


class UnusableRewriteError(ModelReplyError):
    """The model's rewrite may not be used. `reason` is a short code for counters."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the rewrite is not usable: {reason}")
        self.reason = reason


class ModelRewriter:
    """Rewrites with a model.

    Raises what the model raises, `UnusableRewriteError`, and `TimeoutError` for a rewrite later than the deadline. A
    cache that fails changes nothing but the cost.
    """

    def __init__(
        self,
        client: RewriteModel,
        settings: Settings,
        *,
        cache: ReplyCache | None = None,
        on_cache: Callable[[CacheEvent], None] = lambda _: None,
    ) -> None:
        self._client = client
        self._name = settings.model.rewrite_model
        self._deadline_s = settings.model.rewrite_deadline_s
        self._max_tokens = settings.model.max_rewrite_tokens
        self._window = settings.rewrite.window
        self._cache = cache
        self._on_cache = on_cache

    async def rewrite(
        self, question: str, turns: Sequence[Turn], *, language: str, pages_language: str = ""
    ) -> Rewrite:
        """Asks the model about a follow-up, and about a first question only where it has to be translated."""
        into = pages_language if pages_language != language else ""
        if not turns and not into:
            return Rewrite(query=question)
        context = thread_context(question, turns, lexicon(language), window=self._window)
        prompt = render_prompt(question, context, language=language, pages_language=into)
        key = None if any(turn.said_by for turn in turns) else _key(self._name, instructions(), prompt)
        kept = await self._recall(key)
        if kept is not None:
            return _usable(question, kept, context, language=language, into=into)
        async with asyncio.timeout(self._deadline_s):
            reply = await self._client.complete_json(
                instructions(), prompt, SCHEMA, max_tokens=self._max_tokens, deadline_s=self._deadline_s
            )
        written = _parsed(reply)
        rewrite = _usable(question, written, context, language=language, into=into)
        if not rewrite.lost:
            await self._remember(key, written)
        return rewrite

    async def _recall(self, key: str | None) -> ModelRewrite | None:
        """Returns a cached reply, or None. What people wrote to each other has no key and is never cached."""
        if self._cache is None or key is None:
            return None
        event: CacheEvent = "miss"
        reply = None
        try:
            async with asyncio.timeout(CACHE_S):
                kept = await self._cache.load(key)
            reply = None if kept is None else ModelRewrite.model_validate_json(kept)
            event = "miss" if reply is None else "hit"
        except ValidationError:  # kept by another version
            logger.info("rewrite.cache_unreadable")
        except (StoreUnavailableError, TimeoutError):
            event = "unavailable"
            logger.warning("rewrite.cache_unavailable")
        self._on_cache(event)
        return reply

    async def _remember(self, key: str | None, written: ModelRewrite) -> None:
        """Caches a usable reply. Others are not kept: another try may do better."""
        if self._cache is None or key is None:
            return
        try:
            async with asyncio.timeout(CACHE_S):
                await self._cache.save(key, written.model_dump_json())
        except (StoreUnavailableError, TimeoutError):
            logger.warning("rewrite.cache_unavailable")


@cache
def instructions() -> str:
    return files("kb").joinpath("prompts", "rewrite.md").read_text(encoding="utf-8")


def _key(model: str, system: str, prompt: str) -> str:
    """Returns a hash of all that a reply depends on: the model, its instructions and the prompt."""
    return hashlib.sha256("\0".join((model, system, prompt)).encode()).hexdigest()


def _parsed(reply: dict[str, Any]) -> ModelRewrite:
    try:
        return ModelRewrite.model_validate(reply)
    except ValidationError as error:
        raise UnusableRewriteError("malformed") from error


def _usable(
    question: str, reply: ModelRewrite, context: ThreadContext, *, language: str, into: str
) -> Rewrite:
    """Turns a reply into a rewrite. A translation (`into` a language) that may not be used is lost alone.

    Raises:
        UnusableRewriteError: the rewrite itself may not be used.
    """
    rewrite = _rewritten(question, reply, context, language=language)
    if not into:
        return rewrite
    translated = reply.translated.strip()
    fault = unusable_translation(
        rewrite.query,
        translated,
        context,
        language=language,
        pages_language=into,
        rules=_rules(),
        examples=instructions().partition(EXAMPLES)[2],
    )
    if fault is None and reply.confidence < LEAST_CONFIDENCE:
        fault = "unsure"
    return replace(rewrite, lost=f"translation_{fault}") if fault else replace(rewrite, translated=translated)


def _rewritten(question: str, reply: ModelRewrite, context: ThreadContext, *, language: str) -> Rewrite:
    query = " ".join(reply.query.split())
    distinct = dict.fromkeys(" ".join(topic.split()) for topic in reply.topics)
    topics = tuple(topic for topic in distinct if 0 < len(topic) <= LONGEST_TOPIC)[-MOST:]
    rewrite = Rewrite(
        query=question,
        is_follow_up=reply.is_follow_up,
        topics=topics,
        reasoning=reply.reasoning[:300],
        confidence=reply.confidence,
        method="model",
        parts=_parts(question, reply.parts, context, language=language),
    )
    unchanged = not reply.needs_rewrite or query.casefold() == question.strip().casefold()
    if unchanged or not context.exchanges:  # a first question has nothing that could be put into it
        return rewrite
    if reply.confidence < LEAST_CONFIDENCE:
        raise UnusableRewriteError("unsure")
    reason = validate(question, query, language=language, prompt=_rules(), thread=context.text)
    reason = reason or strays(question, query, context, lexicon(language))
    if reason is not None:
        raise UnusableRewriteError(reason)
    return replace(rewrite, query=query, needs_rewrite=True)


def _rules() -> str:
    """Returns the instructions without the examples: a right rewrite may well read like one of those."""
    return instructions().partition(EXAMPLES)[0]


def _parts(
    question: str, written: Sequence[str], context: ThreadContext, *, language: str
) -> tuple[str, ...]:
    """Returns the model's parts where all of them may be used; () for one question, and where one part strays."""
    parts = tuple(filter(None, (" ".join(part.split()) for part in written)))[:MOST_PARTS]
    sound = all(
        validate(question, part, language=language, prompt=_rules(), thread=context.text) is None
        and strays(question, part, context, lexicon(language), whole=False) is None
        for part in parts
    )
    return parts if len(parts) > 1 and sound else ()
