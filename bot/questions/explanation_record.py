"""Defines what is stored of how an answer came about: the trace behind "Why this answer?"."""

from __future__ import annotations

from pydantic import AliasChoices, ConfigDict, Field

from bot.frozen_model import FrozenModel
from kb.answer import JudgeStatus
from kb.calibration import Reranking


class Passage(FrozenModel):
    """One passage that was found, with its score at each stage; None where a stage did not run."""

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


class Cited(FrozenModel):
    """A passage that the answer rests on. `found_by`: the searches that found it: "words", "meaning", "thread"."""

    n: int
    title: str
    section: str
    url: str
    found_by: tuple[str, ...] = ()


class Explanation(FrozenModel):
    """A trace as Redis holds it, by alias. `pages`: ids of every page that it names or that the answer rests on."""

    model_config = ConfigDict(serialize_by_alias=True)

    channel: str
    pages: tuple[str, ...]
    language: str
    question: str = Field(repr=False)
    reason: str = ""
    """Why Footnote spoke: a reason of bot.listening.reply_policy."""
    readable: bool = True
    """Tells whether `rewritten` is a sentence that a person would write."""
    cited: tuple[Cited, ...] = ()
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
    context_share: float = Field(
        default=0.0,
        validation_alias=AliasChoices("context_need", "context_share"),
        serialization_alias="context_need",
    )
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
