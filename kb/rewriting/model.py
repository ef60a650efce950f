"""Rewriting by a language model: structured output, the thread as data, and nothing used that is not valid."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kb.errors import ModelReplyError
from kb.models import Rewrite, Turn
from kb.rewriting.spelling import correct
from kb.rewriting.topics import key_topics
from kb.rewriting.validation import validate
from kb.settings import Settings
from kb.text.lexicon import Lexicon, lexicon, words_of

MESSAGE_LIMIT = 300
"""Characters of one message that go to the model, chosen by relevance."""
LEAST_CONFIDENCE = 0.5
"""Below this the model's own doubt outweighs its rewrite."""
LEAST_KEPT = 0.5
"""Share of the question's content words that a rewrite has to keep: history must not replace the question."""
EXAMPLES = "\nExamples"
"""Where the examples begin in the instructions."""
STEM = 4
"""Letters by which two words count as forms of one: "expire", "expires"."""


class RewriteModel(Protocol):
    """A language model that answers in JSON.

    Raises `ModelUnavailableError`, `ModelRefusedError` or `ModelReplyError`.
    """

    async def complete_json(
        self, system: str, prompt: str, schema: dict[str, Any], *, max_tokens: int, deadline_s: float
    ) -> dict[str, Any]: ...


class ModelRewrite(BaseModel):
    """What the model returns."""

    model_config = ConfigDict(extra="ignore")

    needs_rewrite: bool
    is_follow_up: bool
    query: str
    topics: list[str] = Field(default_factory=list)
    reasoning: str = ""
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "needs_rewrite": {"type": "boolean"},
        "is_follow_up": {"type": "boolean"},
        "query": {"type": "string"},
        "topics": {"type": "array", "items": {"type": "string"}},
        "reasoning": {"type": "string"},
        "confidence": {"type": "number"},
    },
    "required": ["needs_rewrite", "is_follow_up", "query", "topics", "reasoning", "confidence"],
    "additionalProperties": False,
}
"""Bounds are left out: structured output on current models does not take them. `ModelRewrite` checks them."""


class UnusableRewriteError(ModelReplyError):
    """The model's rewrite may not be used. `reason` is a short code for counters."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the rewrite is not usable: {reason}")
        self.reason = reason


class ModelRewriter:
    """Implements `Rewriter` with a model. Raises what the model raises, and `UnusableRewriteError`."""

    def __init__(self, client: RewriteModel, settings: Settings) -> None:
        self._client = client
        self._deadline_s = settings.model.rewrite_deadline_s
        self._max_tokens = settings.model.max_rewrite_tokens
        self._window = settings.rewrite.window

    async def rewrite(self, question: str, turns: Sequence[Turn], *, language: str) -> Rewrite:
        if not turns:
            return Rewrite(query=question)
        known = lexicon(language)
        context = thread_context(question, turns, known, window=self._window)
        system, prompt = _instructions(), render_prompt(question, context, language=language)
        reply = await self._client.complete_json(
            system, prompt, SCHEMA, max_tokens=self._max_tokens, deadline_s=self._deadline_s
        )
        return _usable(question, _parsed(reply), context, language=language, system=system)


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadContext:
    """What a model is shown of a thread: (question, answer) pairs, oldest first, and the last answer's key topics."""

    exchanges: tuple[tuple[str, str], ...]
    topics: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join([*(part for exchange in self.exchanges for part in exchange), *self.topics])


def thread_context(question: str, turns: Sequence[Turn], known: Lexicon, *, window: int) -> ThreadContext:
    """The last exchange, then the earlier turns that share most words with the question and the last exchange."""
    *earlier, last = turns
    wanted = {*known.content_of(question), *known.content_of(last.question)}
    ranked = sorted(
        enumerate(earlier),
        key=lambda at: (len(wanted & set(known.content_of(f"{at[1].question} {at[1].answer}"))), at[0]),
        reverse=True,
    )
    chosen = [turn for _, turn in sorted(ranked[: max(window - 1, 0)], key=lambda at: at[0])]
    exchanges = [(excerpt(turn.question, wanted), excerpt(turn.answer, wanted)) for turn in [*chosen, last]]
    return ThreadContext(exchanges=tuple(exchanges), topics=last.topics or key_topics(last.answer, known))


def excerpt(text: str, wanted: set[str], *, limit: int = MESSAGE_LIMIT) -> str:
    """The sentences and lines of a message that share most words with `wanted`, in their order, within `limit`."""
    text = text.strip()
    if len(text) <= limit:
        return text
    parts = _sentences(text)
    by_relevance = sorted(range(len(parts)), key=lambda at: (-len(wanted & set(words_of(parts[at]))), -at))
    chosen: list[int] = []
    room = limit
    for at in by_relevance:
        if len(parts[at]) + 1 <= room:
            chosen.append(at)
            room -= len(parts[at]) + 1
    return " ".join(parts[at] for at in sorted(chosen)) or text[:limit].rsplit(" ", 1)[0]


def _sentences(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    marked = (line.replace(". ", ".\0").replace("? ", "?\0").replace("! ", "!\0") for line in lines)
    return [part for line in marked for part in line.split("\0") if part]


def render_prompt(question: str, context: ThreadContext, *, language: str) -> str:
    """The thread as one JSON document: inside it nothing can close a tag or open a new instruction."""
    thread = [{"question": asked, "answer": answer} for asked, answer in context.exchanges]
    data = {"language": language, "thread": thread, "topics": list(context.topics), "question": question}
    return json.dumps(data, ensure_ascii=False, indent=1).replace("<", "\\u003c")


@cache
def _instructions() -> str:
    return files("kb").joinpath("prompts", "rewrite.md").read_text(encoding="utf-8")


def _parsed(reply: dict[str, Any]) -> ModelRewrite:
    try:
        return ModelRewrite.model_validate(reply)
    except ValidationError as error:
        raise UnusableRewriteError("malformed") from error


def _usable(
    question: str, reply: ModelRewrite, context: ThreadContext, *, language: str, system: str
) -> Rewrite:
    query = " ".join(reply.query.split())
    topics = tuple(dict.fromkeys(topic.strip() for topic in reply.topics if topic.strip()))[:5]
    if not reply.needs_rewrite or query.casefold() == question.strip().casefold():
        return Rewrite(
            query=question, is_follow_up=reply.is_follow_up, topics=topics, reasoning=reply.reasoning[:300],
            confidence=reply.confidence, method="model",
        )  # fmt: skip
    if reply.confidence < LEAST_CONFIDENCE:
        raise UnusableRewriteError("unsure")
    rules = system.partition(EXAMPLES)[0]  # a right rewrite may well read like one of the examples
    reason = validate(question, query, language=language, prompt=rules, thread=context.text)
    reason = reason or _strays(question, query, context, lexicon(language))
    if reason is not None:
        raise UnusableRewriteError(reason)
    return Rewrite(
        query=query,
        needs_rewrite=True,
        is_follow_up=reply.is_follow_up,
        topics=topics,
        reasoning=reply.reasoning[:300],
        confidence=reply.confidence,
        method="model",
    )


def _strays(question: str, query: str, context: ThreadContext, known: Lexicon) -> str | None:
    """A rewrite that lost the question, or that brings words and links from nowhere, obeyed somebody else."""
    if "://" in query and "://" not in question:
        return "link_added"
    mended = correct(question, known, thread=words_of(context.text), vocabulary=None)
    asked, kept = _stems(mended, known), _stems(query, known)
    common = {word[:STEM] for word in known.words.common}
    own = asked - common - {word[:STEM] for word in known.sequence_words}
    if own and sum(_is_in(stem, kept) for stem in own) < LEAST_KEPT * len(own):
        return "question_lost"
    if not own and asked & common and not kept & common:  # "cost" may become "price", but nothing else
        return "question_lost"
    if not known.words.function:  # no word classes: a stray word cannot be told from a small one
        return None
    source = asked | _stems(context.text, known) | common
    fresh = [stem for stem in kept if not _is_in(stem, source)]
    return "ungrounded" if len(fresh) > len(kept) / 2 else None


def _stems(text: str, known: Lexicon) -> set[str]:
    return {word[:STEM] for word in known.content_of(text)}


def _is_in(stem: str, stems: set[str]) -> bool:
    """The same beginning: three letters will do, inflection changes the fourth in short words."""
    return any(stem == other or stem[:3] == other[:3] for other in stems)
