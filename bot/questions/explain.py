"""Stores how an answer came about, and opens the modal "Why this answer?".

Only passages that the asker's channel might read were ever found. A trace opens only in the channel that it belongs to,
and only while every page that it names may still be read there: a page can be limited or deleted after it was found.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from slack_sdk.web.async_client import AsyncWebClient

from bot.messages.catalog import Messages, messages_in
from bot.questions.explanation import explanation_blocks
from bot.questions.explanation_record import Cited, Explanation, Passage
from bot.questions.ports import AnswerRecords, PipelinePort
from bot.rendering.layout import Block, label, section
from bot.rendering.notes import quote_languages
from bot.slack.audiences import Audiences
from bot.slack.events import ButtonPress
from bot.slack.people import People
from kb.answer import Answer, Citation
from kb.errors import StoreUnavailableError, UnavailableError
from kb.models import Hit
from kb.pages.labels import page_labels

logger = logging.getLogger(__name__)

SHOWN_PASSAGES = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class ExplanationView:
    client: AsyncWebClient
    traces: AnswerRecords
    people: People
    audiences: Audiences
    pipeline: PipelinePort

    async def open(self, press: ButtonPress) -> None:
        """Opens the modal. Slack allows three seconds from the press, so nothing slow happens before."""
        explanation = await self._load(press)
        if explanation is None:
            messages = messages_in((await self.people.person(press.user.id)).locale)
            view = modal(messages, [section(messages.why_gone)])
        else:
            view = modal(messages_in(explanation.language), explanation_blocks(explanation))
        await self.client.views_open(trigger_id=press.trigger_id, view=view)

    async def _load(self, press: ButtonPress) -> Explanation | None:
        question_id = press.actions[0].value
        try:
            payload = await self.traces.load_trace(question_id)
            explanation = None if payload is None else Explanation.model_validate(payload)
        except StoreUnavailableError:
            logger.warning("why.store_unavailable", extra={"question_id": question_id})
            return None
        except ValidationError as error:  # stored by another version; its text would quote the question
            logger.warning(
                "why.unreadable", extra={"question_id": question_id, "problems": error.error_count()}
            )
            return None
        return explanation if explanation is not None and await self._may_see(explanation, press) else None

    async def _may_see(self, explanation: Explanation, press: ButtonPress) -> bool:
        alone = explanation.channel == ephemeral_channel(press.user.id)
        if not alone and explanation.channel != press.channel_id:
            return False
        try:
            audience = await (
                self.audiences.for_person(press.user.id)
                if alone
                else self.audiences.of(explanation.channel, press.user.id)
            )
            return await self.pipeline.may_show(explanation.pages, audience)
        except UnavailableError as error:
            logger.warning("why.not_told", extra={"cause": type(error).__name__})
            return False


def ephemeral_channel(user: str) -> str:
    """Returns what stands for the channel in the trace of an answer that only this person saw."""
    return f"alone:{user}"


def trace_payload(answer: Answer, *, channel: str, reason: str = "") -> dict[str, Any]:
    """Builds the JSON data that is stored for an answer. `reason`: why Footnote spoke, as bot.listening.reply_policy
    says.
    """
    rewrite = answer.trace.rewrite
    rests_on = [*answer.citations, *(quote.citation for quote in answer.quotes)]
    cited = {citation.chunk.id: citation.n for citation in rests_on}
    found = [*(hit.chunk for hit in answer.trace.hits), *(citation.chunk for citation in rests_on)]
    titles = page_labels(chunk.page for chunk in found)
    shown = answer.trace.hits[:SHOWN_PASSAGES]
    named = [hit.chunk.page.id for hit in shown] + [citation.chunk.page.id for citation in rests_on]
    named += answer.trace.read_pages  # a removed sentence may quote any of them
    explanation = Explanation(
        channel=channel,
        pages=tuple(dict.fromkeys([*named, *(page for page in answer.trace.anchors if page in titles)])),
        language=answer.language,
        question=answer.question,
        reason=reason,
        readable=rewrite.readable,
        cited=tuple(_cited(citation, answer, titles) for citation in rests_on),
        rewritten=answer.rewritten,
        translated=rewrite.translated,
        method=rewrite.method,
        reasoning=rewrite.reasoning,
        sure=rewrite.confidence,
        lost=rewrite.lost,
        reranking=answer.trace.reranking,
        parts=rewrite.parts,
        searches=answer.trace.searches,
        topics=rewrite.topics,
        is_follow_up=rewrite.is_follow_up,
        context=answer.trace.context,
        context_share=answer.trace.context_share,
        anchors=tuple(titles[page] for page in answer.trace.anchors if page in titles),
        anchor_reason=answer.trace.anchor_reason,
        outcome=answer.outcome,
        confidence=answer.confidence,
        passages=tuple(_passage(hit, titles, cited) for hit in shown),
        freshness=tuple(
            dict.fromkeys(f"{titles[citation.chunk.page.id]}: {citation.freshness}" for citation in rests_on)
        ),
        judge=answer.trace.judge if answer.mode == "model" and answer.trace.checked else None,
        removed=answer.trace.removed_sentences,
        notes=answer.notes,
        quoted_in=quote_languages(answer),
        timings_ms=dict(answer.timings_ms),
    )
    return explanation.model_dump(mode="json")


def modal(messages: Messages, blocks: list[Block]) -> dict[str, Any]:
    return {
        "type": "modal",
        "title": label(messages.why),
        "close": label(messages.close),
        "blocks": blocks,
    }


def _cited(citation: Citation, answer: Answer, titles: Mapping[str, str]) -> Cited:
    chunk = citation.chunk
    return Cited(
        n=citation.n,
        title=titles[chunk.page.id],
        section=chunk.section_label,
        url=chunk.url,
        found_by=tuple(_found_by([hit for hit in answer.trace.hits if hit.chunk.id == chunk.id])),
    )


def _found_by(hits: Sequence[Hit]) -> list[str]:
    """Names the searches that found a passage. One that was widened by its neighbours was found by none of its own."""
    ways = {
        "words": any((hit.scores.lexical or 0) > 0 for hit in hits),
        "meaning": any((hit.scores.dense or 0) > 0 for hit in hits),
        "thread": any(hit.scores.anchor > 0 for hit in hits),
    }
    return [way for way, found in ways.items() if found]


def _passage(hit: Hit, titles: Mapping[str, str], cited: Mapping[str, int]) -> Passage:
    chunk, scores = hit.chunk, hit.scores
    return Passage(
        title=titles[chunk.page.id],
        section=chunk.section_label,
        url=chunk.url,
        cited_as=cited.get(chunk.id),
        dense=scores.dense,
        lexical=scores.lexical,
        fused=scores.fused,
        anchor=scores.anchor,
        rerank=scores.rerank,
        final=scores.final,
    )
