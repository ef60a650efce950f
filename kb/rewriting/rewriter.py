"""From a follow-up to a question that can be searched: the port, and the choice between model and rules.

    no history, or rewriting switched off      -> the user's words, no cost
    rules say that the question stands alone   -> the user's words, no model call
    a model is there                           -> its rewrite; late, invalid or unsure: the rules' rewrite
    else                                       -> the rules' rewrite

Where the question is in another language than most pages, a model is asked in each of these cases: what it writes comes
with its translation into the pages' language, and what is searched for as it stands is translated alone.

Rewriting never stands in the way of an answer: whatever goes wrong here is counted, logged without text, and the
rules' rewrite or the question itself is searched.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from kb.config.settings import Settings
from kb.errors import ModelRefusedError, ModelReplyError, UnavailableError
from kb.models import Rewrite, Turn
from kb.rewriting.cache import ReplyCache
from kb.rewriting.heuristic import HeuristicRewriter
from kb.rewriting.model import ModelRewriter, RewriteModel, UnusableRewriteError
from kb.rewriting.spelling import Vocabulary
from kb.rewriting.tally import RewriteOutcome, RewriteTally
from kb.text.language import is_told
from kb.text.lexicon import lexicon

logger = logging.getLogger(__name__)

OnRewrite = Callable[[RewriteOutcome, str, float], None]
"""Called once a rewrite with its outcome, the reason of a fallback ("" for none) and its milliseconds."""


class Rewriter(Protocol):
    async def rewrite(
        self, question: str, turns: Sequence[Turn], *, language: str, pages_language: str = ""
    ) -> Rewrite:
        """Returns what to search for after the thread's turns (oldest first).

        `language` is the question's ISO 639-1 code, `pages_language` that of most pages, "" where it is not known.
        """


class NoRewriter:
    """Rewriting switched off: the user's words, whatever the thread."""

    async def rewrite(
        self,
        question: str,
        turns: Sequence[Turn],  # noqa: ARG002
        *,
        language: str,  # noqa: ARG002
        pages_language: str = "",  # noqa: ARG002
    ) -> Rewrite:
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

    async def rewrite(
        self, question: str, turns: Sequence[Turn], *, language: str, pages_language: str = ""
    ) -> Rewrite:
        started = time.perf_counter()
        outcome: RewriteOutcome = "unchanged"
        rewrite, reason = Rewrite(query=question), ""
        try:
            rewrite = self._heuristic.rewrite(question, turns, language=language)
            outcome = "heuristic" if rewrite.needs_rewrite else "unchanged"
            if self._model is not None:
                into = pages_language if pages_language != language else ""
                if _is_worth_a_model(rewrite, turns, language, into):
                    rewrite = await self._by_model(self._model, question, turns, language, into, rewrite)
                    outcome = "model" if rewrite.method == "model" else "fallback"
                elif into and not rewrite.clarify and is_told(question, language):
                    rewrite = await self._translated(self._model, language, into, rewrite)
                    outcome = "model" if rewrite.translated else "fallback"
                reason = rewrite.lost
        except Exception as error:  # an error in rewriting never changes the answer
            outcome, reason = "fallback", type(error).__name__
            logger.exception("rewrite.failed")
        self._record(outcome, reason, (time.perf_counter() - started) * 1000)
        logger.debug("rewrite.text", extra={"original": question, "rewritten": rewrite.query})
        return rewrite

    async def _by_model(
        self,
        model: ModelRewriter,
        question: str,
        turns: Sequence[Turn],
        language: str,
        into: str,
        ruled: Rewrite,
    ) -> Rewrite:
        """Returns the model's rewrite, or the rules' with the reason why the model's is not used."""
        written = await _written(model, question, turns, language, into)
        if isinstance(written, str):
            return replace(ruled, lost=written)
        # What the rules know surely stays: the step that is meant, and the parts that the model left together.
        return replace(
            written,
            topics=written.topics or ruled.topics,
            parts=written.parts or ruled.parts,
            required=tuple(term for term in ruled.required if term.casefold() in written.query.casefold()),
        )

    async def _translated(self, model: ModelRewriter, language: str, into: str, ruled: Rewrite) -> Rewrite:
        """Returns the rules' rewrite with the model's translation, and with its parts where the rules see one question.

        The model is asked without the thread: what stands alone there is translated as anywhere else.
        """
        written = await _written(model, ruled.query, (), language, into)
        if isinstance(written, str):
            return replace(ruled, lost=written)
        return replace(
            ruled,
            translated=written.translated,
            parts=ruled.parts or written.parts,
            lost=written.lost,
        )

    def _record(self, outcome: RewriteOutcome, reason: str, milliseconds: float) -> None:
        level = logging.WARNING if reason else logging.INFO
        fields = {"outcome": outcome, "reason": reason, "ms": round(milliseconds, 1)}
        logger.log(level, "rewrite.done", extra=fields)
        if self._on_rewrite is None:
            return
        try:
            self._on_rewrite(outcome, reason, milliseconds)
        except Exception:  # nor does an error in a metric
            logger.exception("rewrite.metric_failed")


def choose_rewriter(
    settings: Settings,
    *,
    client: RewriteModel | None = None,
    vocabulary: Vocabulary | None = None,
    cache: ReplyCache | None = None,
    tally: RewriteTally | None = None,
) -> Rewriter:
    """Makes the rewriter that the settings ask for. Without a client the rules serve mode "model"."""
    tally = tally or RewriteTally()
    if settings.rewrite.mode == "off":
        return NoRewriter()
    model = None
    if client is not None and settings.rewrite.mode in ("auto", "model"):
        model = ModelRewriter(client, settings, cache=cache, on_cache=tally.cached)
    heuristic = HeuristicRewriter(vocabulary, window=settings.rewrite.window)
    return RewriteChoice(heuristic, model, on_rewrite=tally.rewritten)


async def _written(
    model: ModelRewriter, question: str, turns: Sequence[Turn], language: str, into: str
) -> Rewrite | str:
    """Returns the model's rewrite, or the reason why there is none. `into`: see `ModelRewriter.rewrite`."""
    try:
        return await model.rewrite(question, turns, language=language, pages_language=into)
    except TimeoutError:
        return "late"
    except UnusableRewriteError as error:
        return error.reason
    except (UnavailableError, ModelRefusedError, ModelReplyError) as error:
        return type(error).__name__


def _is_worth_a_model(ruled: Rewrite, turns: Sequence[Turn], language: str, into: str) -> bool:
    """Whether a question leans on its thread, or the rules had to mend its spelling: no other is worth a call.

    "Tell me more" is the question before, once more. In a language without a file the rules hardly see what
    leans on the thread: where its questions are translated anyway (`into` a language), the model is asked with the
    thread.
    """
    if not turns or ruled.wants_more:
        return False
    unread = bool(into) and not lexicon(language).words.function
    return unread or ruled.needs_rewrite or (ruled.is_follow_up and ruled.confidence < 1.0)
