""" "Why this answer?": what is kept of how an answer came about, and the modal that shows it.

Only passages that the asker's channel might read were ever found. A trace opens only in the channel that it belongs to,
and only while every page that it names may still be read there: a page can be limited or deleted after it was found.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from slack_sdk.web.async_client import AsyncWebClient

from bot.audiences import Audiences
from bot.cited import titled_link
from bot.events import ButtonPress
from bot.layout import SECTION_CHARACTERS, Block, context, cut, label, section, shorten
from bot.messages import Messages, messages_in
from bot.mrkdwn import escape
from bot.notes import note_wording, quote_languages
from bot.people import People
from kb.answer import Answer, JudgeStatus
from kb.answering.labels import page_labels
from kb.calibration import Reranking
from kb.errors import StoreUnavailableError, UnavailableError
from kb.models import Audience, Hit

logger = logging.getLogger(__name__)

SHOWN_PASSAGES = 10
SHOWN_CHARACTERS = 400


class Passage(BaseModel):
    """One passage that was found, with its score at each stage; None where a stage did not run."""

    model_config = ConfigDict(frozen=True)

    title: str
    section: str
    url: str
    cited_as: int | None
    dense: float | None
    lexical: float | None
    fused: float
    anchor: float
    rerank: float | None
    final: float


class Why(BaseModel):
    """A trace as it is stored. `pages`: the ids of every page that it names or that the answer rests on."""

    model_config = ConfigDict(frozen=True)

    channel: str
    pages: tuple[str, ...]
    language: str
    question: str = Field(repr=False)
    rewritten: str | None = Field(default=None, repr=False)
    translated: str = Field(default="", repr=False)
    method: str
    reasoning: str = Field(default="", repr=False)
    sure: float = 1.0
    """The rewriter's confidence, 0..1."""
    lost: str = ""
    reranking: Reranking | None = None
    parts: tuple[str, ...] = Field(default=(), repr=False)
    searches: tuple[str, ...] = Field(default=(), repr=False)
    topics: tuple[str, ...] = ()
    is_follow_up: bool
    context: tuple[str, ...] = Field(default=(), repr=False)
    context_need: float = 0.0
    anchors: tuple[str, ...] = ()
    anchor_reason: str = ""
    outcome: str
    confidence: float
    passages: tuple[Passage, ...] = ()
    freshness: tuple[str, ...] = ()
    judge: JudgeStatus | None = None
    """None where no model wrote anything that could be judged."""
    removed: tuple[str, ...] = Field(default=(), repr=False)
    notes: tuple[str, ...] = ()
    quoted_in: tuple[str, ...] = ()
    """The languages of the quoted pages, ISO 639-1."""
    timings_ms: dict[str, float] = Field(default_factory=dict)


class Traces(Protocol):
    """bot.analytics.Analytics, as this view uses it. Raises `StoreUnavailableError`."""

    async def load_trace(self, question_id: str) -> Any | None: ...


class Knowledge(Protocol):
    """kb.pipeline.Pipeline, as this view uses it. Raises `UnavailableError`."""

    async def may_show(self, page_ids: Collection[str], audience: Audience) -> bool: ...


class WhyView:
    def __init__(
        self,
        *,
        client: AsyncWebClient,
        traces: Traces,
        people: People,
        audiences: Audiences,
        knowledge: Knowledge,
    ) -> None:
        self._client = client
        self._traces = traces
        self._people = people
        self._audiences = audiences
        self._knowledge = knowledge

    async def open(self, press: ButtonPress) -> None:
        """Opens the modal. Slack allows three seconds from the press, so nothing slow happens before."""
        why = await self._load(press)
        if why is None:
            words = messages_in((await self._people.person(press.user.id)).locale)
            view = modal(words, [section(words.why_gone)])
        else:
            view = modal(messages_in(why.language), why_blocks(why))
        await self._client.views_open(trigger_id=press.trigger_id, view=view)

    async def _load(self, press: ButtonPress) -> Why | None:
        question_id = press.actions[0].value
        try:
            payload = await self._traces.load_trace(question_id)
            why = None if payload is None else Why.model_validate(payload)
        except StoreUnavailableError:
            logger.warning("why.store_unavailable", extra={"question_id": question_id})
            return None
        except ValidationError as error:  # stored by another version; its text would quote the question
            logger.warning(
                "why.unreadable", extra={"question_id": question_id, "problems": error.error_count()}
            )
            return None
        return why if why is not None and await self._may_see(why, press) else None

    async def _may_see(self, why: Why, press: ButtonPress) -> bool:
        alone = why.channel == alone_with(press.user.id)
        if not alone and why.channel != press.channel_id:
            return False
        try:
            audience = await (
                self._audiences.alone(press.user.id)
                if alone
                else self._audiences.of(why.channel, press.user.id)
            )
            return await self._knowledge.may_show(why.pages, audience)
        except UnavailableError as error:
            logger.warning("why.not_told", extra={"cause": type(error).__name__})
            return False


def alone_with(user: str) -> str:
    """In the place of a channel: what only this person was shown, wherever they were."""
    return f"alone:{user}"


def trace_payload(answer: Answer, *, channel: str) -> dict[str, Any]:
    """The JSON data that is stored for an answer."""
    rewrite = answer.trace.rewrite
    rests_on = [*answer.citations, *(quote.citation for quote in answer.quotes)]
    cited = {citation.chunk.id: citation.n for citation in rests_on}
    found = [*(hit.chunk for hit in answer.trace.hits), *(one.chunk for one in rests_on)]
    titles = page_labels(chunk.page for chunk in found)
    shown = answer.trace.hits[:SHOWN_PASSAGES]
    named = [hit.chunk.page.id for hit in shown] + [one.chunk.page.id for one in rests_on]
    named += answer.trace.read_pages  # a removed sentence may say what any of them says
    why = Why(
        channel=channel,
        pages=tuple(dict.fromkeys([*named, *(page for page in answer.trace.anchors if page in titles)])),
        language=answer.language,
        question=answer.question,
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
        context_need=answer.trace.context_need,
        anchors=tuple(titles[page] for page in answer.trace.anchors if page in titles),
        anchor_reason=answer.trace.anchor_reason,
        outcome=answer.outcome,
        confidence=answer.confidence,
        passages=tuple(_passage(hit, titles, cited) for hit in shown),
        freshness=tuple(dict.fromkeys(f"{titles[one.chunk.page.id]}: {one.freshness}" for one in rests_on)),
        judge=answer.trace.judge if answer.mode == "model" and answer.trace.checked else None,
        removed=answer.trace.removed_sentences,
        notes=answer.notes,
        quoted_in=quote_languages(answer),
        timings_ms=dict(answer.timings_ms),
    )
    return why.model_dump(mode="json")


def modal(words: Messages, blocks: list[Block]) -> dict[str, Any]:
    return {
        "type": "modal",
        "title": label(words.why),
        "close": label(words.close),
        "blocks": blocks,
    }


def _context(why: Why, words: Messages) -> str:
    if not why.context or not why.context_need:
        return words.none
    return f"{', '.join(why.context)} ({words.percent(why.context_need)})"


def why_blocks(why: Why) -> list[Block]:
    words = messages_in(why.language)
    facts = [
        _fact(words.why_question, why.question),
        _fact(words.why_searched, why.rewritten or words.why_unchanged),
        *([_fact(words.why_translated, why.translated)] if why.translated else []),
        *([_fact(words.why_parts, " / ".join(why.parts))] if why.parts else []),
        _fact(words.why_method, _how(why, words)),
        *([_fact(words.why_lost, why.lost)] if why.lost else []),
        _fact(words.why_topics, ", ".join(why.topics) or words.none),
        _fact(words.why_follow_up, words.yes if why.is_follow_up else words.no),
        _fact(words.why_context, _context(why, words)),
        *([_fact(words.why_searches, " / ".join(why.searches))] if why.searches else []),
        _fact(words.why_anchors, ", ".join(why.anchors) or words.none, why.anchor_reason),
        *([_fact(words.why_rerank, _reranking(why.reranking, words))] if why.reranking else []),
        _fact(
            words.why_decision,
            f"{why.outcome}, {words.why_confidence.format(percent=words.percent(why.confidence))}",
        ),
        *([_fact(words.why_judge, str(getattr(words, f"judge_{why.judge}")))] if why.judge else []),
    ]
    blocks = [section(part) for part in cut("\n".join(facts), SECTION_CHARACTERS)]
    if why.passages:
        blocks.append(section(f"*{words.why_passages}*"))
        blocks.extend(section(_told(passage, words)) for passage in why.passages)
    for title, lines in (
        (words.why_freshness, why.freshness),
        (words.why_removed, why.removed),
        (
            words.why_notes,
            tuple(
                note_wording(note, words, removed=len(why.removed), quoted_in=why.quoted_in)
                for note in why.notes
            ),
        ),
    ):
        if lines:
            told = "\n".join(f"• {escape(shorten(line, SHOWN_CHARACTERS))}" for line in lines[:6])
            blocks.append(section(f"*{title}*\n{told}"))
    return [*blocks, context(_timings(why.timings_ms, words))] if why.timings_ms else blocks


def _how(why: Why, words: Messages) -> str:
    """Who rewrote, why, and how sure they were: "heuristic: reference word 'it' -> 'mulch', sure to 90%"."""
    told = f"{why.method}: {why.reasoning}" if why.reasoning else why.method
    return told if why.sure >= 1 else f"{told}, {words.why_unsure.format(percent=words.percent(why.sure))}"


def _reranking(found: Reranking, words: Messages) -> str:
    told = words.why_rerank_on if found.helps else words.why_rerank_off
    return told.format(
        samples=found.samples,
        before=words.percent(found.before),
        after=words.percent(found.after),
        candidates=found.candidates,
        weight=words.percent(found.weight),
    )


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


def _fact(name: str, value: str, reason: str = "") -> str:
    told = f"*{name}:* {escape(shorten(' '.join(value.split()), SHOWN_CHARACTERS))}"
    return f"{told} ({escape(shorten(reason, SHOWN_CHARACTERS))})" if reason else told


def _told(passage: Passage, words: Messages) -> str:
    place = titled_link(passage.title, passage.url)
    if passage.section:
        place += f" › {escape(shorten(passage.section, 100))}"
    mark = f"[{passage.cited_as}]  " if passage.cited_as is not None else ""
    return f"{mark}{place}\n{_scores(passage, words)}"


def _scores(passage: Passage, words: Messages) -> str:
    """The stages that ran for this passage: one that did not has nothing to tell."""
    scores = passage.model_dump(include={"dense", "lexical", "fused", "anchor", "rerank", "final"})
    ran = {stage: f"{score:.2f}" for stage, score in scores.items() if score is not None}
    if not scores["anchor"]:
        ran.pop("anchor", None)
    parts = words.why_scores.split(" · ")
    return " · ".join(part.format(**ran) for part in parts if any(f"{{{stage}}}" in part for stage in ran))


def _timings(timings_ms: Mapping[str, float], words: Messages) -> str:
    stages = " · ".join(
        f"{escape(stage)} {milliseconds:.0f} ms" for stage, milliseconds in timings_ms.items()
    )
    return shorten(f"{words.why_timings}: {stages}", 1000)
