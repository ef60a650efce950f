"""From a follow-up to a question that can be searched: the port, and the choice between model and rules.

    no history, or rewriting switched off      -> the user's words, no cost
    rules say that the question stands alone   -> the user's words, no model call
    a model is there                           -> its rewrite; late, invalid or unsure: the rules' rewrite
    else                                       -> the rules' rewrite

Rewriting never stands in the way of an answer: whatever goes wrong here is counted, logged without text, and the
rules' rewrite or the question itself is searched.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from kb.errors import ModelRefusedError, ModelReplyError, UnavailableError
from kb.models import Rewrite, Turn
from kb.rewriting.cache import InMemoryReplies, RedisReplies, ReplyCache
from kb.rewriting.heuristic import HeuristicRewriter
from kb.rewriting.model import ModelRewriter, RewriteModel, UnusableRewriteError
from kb.rewriting.spelling import Vocabulary
from kb.rewriting.tally import RewriteOutcome, RewriteTally
from kb.rewriting.validation import validate
from kb.settings import Settings

__all__ = [
    "HeuristicRewriter",
    "InMemoryReplies",
    "ModelRewriter",
    "NoRewriter",
    "RedisReplies",
    "ReplyCache",
    "RewriteChoice",
    "RewriteModel",
    "RewriteOutcome",
    "RewriteTally",
    "Rewriter",
    "choose_rewriter",
    "validate",
]

logger = logging.getLogger(__name__)

OnRewrite = Callable[[RewriteOutcome, str, float], None]
"""Called once a rewrite with its outcome, the reason of a fallback ("" for none) and its milliseconds."""


class Rewriter(Protocol):
    async def rewrite(self, question: str, turns: Sequence[Turn], *, language: str) -> Rewrite:
        """What to search for, given the thread's turns (oldest first). `language` is the question's ISO 639-1 code."""


class NoRewriter:
    """Rewriting switched off: the user's words, whatever the thread."""

    async def rewrite(self, question: str, turns: Sequence[Turn], *, language: str) -> Rewrite:  # noqa: ARG002
        return Rewrite(query=question)


class RewriteChoice:
    """The rules decide whether a rewrite is needed; the model writes it where there is one. Never raises."""

    def __init__(
        self,
        heuristic: HeuristicRewriter,
        model: ModelRewriter | None = None,
        *,
        on_rewrite: OnRewrite | None = None,
    ) -> None:
        self._heuristic = heuristic
        self._model = model
        self._on_rewrite = on_rewrite

    async def rewrite(self, question: str, turns: Sequence[Turn], *, language: str) -> Rewrite:
        started = time.perf_counter()
        outcome: RewriteOutcome = "unchanged"
        rewrite, reason = Rewrite(query=question), ""
        try:
            rewrite = self._heuristic.rewrite_now(question, turns, language=language)
            outcome = "heuristic" if rewrite.needs_rewrite else "unchanged"
            if self._model is not None and _worth_a_model(rewrite, turns):
                rewrite, reason = await self._by_model(self._model, question, turns, language, rewrite)
                outcome = "fallback" if reason else "model"
        except Exception as error:  # requirement C6: an error in rewriting never changes the answer
            outcome, reason = "fallback", type(error).__name__
            logger.exception("rewrite.failed")
        self._record(outcome, reason, (time.perf_counter() - started) * 1000)
        logger.debug("rewrite.text", extra={"original": question, "rewritten": rewrite.query})
        return rewrite

    async def _by_model(
        self, model: ModelRewriter, question: str, turns: Sequence[Turn], language: str, ruled: Rewrite
    ) -> tuple[Rewrite, str]:
        """The model's rewrite and "", or the rules' and the reason why the model's is not used."""
        try:
            written = await model.rewrite(question, turns, language=language)
        except TimeoutError:
            return _lost(ruled, "late")
        except UnusableRewriteError as error:
            return _lost(ruled, error.reason)
        except (UnavailableError, ModelRefusedError, ModelReplyError) as error:
            return _lost(ruled, type(error).__name__)
        return _completed(written, ruled), ""

    def _record(self, outcome: RewriteOutcome, reason: str, milliseconds: float) -> None:
        level = logging.WARNING if reason else logging.INFO
        fields = {"outcome": outcome, "reason": reason, "ms": round(milliseconds, 1)}
        logger.log(level, "rewrite.done", extra=fields)
        if self._on_rewrite is None:
            return
        try:
            self._on_rewrite(outcome, reason, milliseconds)
        except Exception:  # requirement C6: nor does an error in a metric
            logger.exception("rewrite.metric_failed")


def choose_rewriter(
    settings: Settings,
    *,
    client: RewriteModel | None = None,
    vocabulary: Vocabulary | None = None,
    cache: ReplyCache | None = None,
    tally: RewriteTally | None = None,
) -> Rewriter:
    """The rewriter that the settings ask for. Without a client, "model" is served by the rules."""
    tally = tally or RewriteTally()
    if settings.rewrite.mode == "off":
        return NoRewriter()
    heuristic = HeuristicRewriter(vocabulary, window=settings.rewrite.window)
    wanted = client is not None and settings.rewrite.mode in ("auto", "model")
    model = None
    if wanted and client is not None:
        model = ModelRewriter(client, settings, cache=cache, on_cache=tally.cached)
    return RewriteChoice(heuristic, model, on_rewrite=tally.rewritten)


def _completed(written: Rewrite, ruled: Rewrite) -> Rewrite:
    """The model's rewrite with what the rules know surely: the step that is meant, and the parts that it left together."""
    return replace(
        written,
        topics=written.topics or ruled.topics,
        parts=written.parts or ruled.parts,
        required=tuple(term for term in ruled.required if term.casefold() in written.query.casefold()),
    )


def _lost(ruled: Rewrite, reason: str) -> tuple[Rewrite, str]:
    return replace(ruled, lost=reason), reason


def _worth_a_model(ruled: Rewrite, turns: Sequence[Turn]) -> bool:
    """Only a question that leans on its thread, or whose spelling the rules had to mend, is worth a call.

    "Tell me more" is the question before, once more.
    """
    return (
        bool(turns)
        and not ruled.wants_more
        and (ruled.needs_rewrite or (ruled.is_follow_up and ruled.confidence < 1.0))
    )
