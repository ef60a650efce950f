"""Settings of the search: rewriting a question, searching, and the pages of the answer before."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kb.config.sections import Section


class SearchSettings(Section):
    keep: Annotated[int, Field(ge=1, le=50)] = 5
    """Best passages by which it is judged whether the pages answer a question, and which the thread remembers."""
    leg_limit: Annotated[int, Field(ge=5, le=500)] = 50
    """Passages that each leg of the engine call may bring."""
    fusion: Literal["scores", "rrf"] = "scores"
    """How dense and lexical results become one list: by their scores, or by their ranks (reciprocal rank fusion)."""
    dense_weight: Annotated[float, Field(ge=0, le=1)] = 0.7
    """Share of the dense score in the fused one; the lexical score (BM25) has the rest."""
    original_weight: Annotated[float, Field(ge=0, le=1)] = 0.3
    """Weight of the user's own words beside a rewrite, which gets the rest."""
    original_weight_guess: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Weight of the user's own words beside a rewrite that the rules only guess."""
    translation_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Share of a rewrite's weight that goes to its translation into the language of the pages, where a model wrote one.
    """
    context_weight: Annotated[float, Field(ge=0, le=2)] = 1.0
    """Most that the question among the words of its thread weighs; the other wordings have 1 together. 0: off."""
    context_weight_rewritten: Annotated[float, Field(ge=0, le=2)] = 0.3
    """Most that the thread's words weigh beside a rewrite that is no guess: it says most of what they could add."""
    context_strong: Annotated[float, Field(ge=0, le=20)] = 9.0
    """Standard score of the best passage for the question's own wordings from which the thread's words weigh nothing.
    """
    context_weak: Annotated[float, Field(ge=0, le=20)] = 5.0
    """The standard score down to which their weight grows."""
    context_terms: Annotated[int, Field(ge=1, le=30)] = 10
    """Words of the thread that are searched along."""
    rrf_k: Annotated[int, Field(ge=1, le=1000)] = 60
    """The constant of reciprocal rank fusion."""
    part_weight: Annotated[float, Field(ge=0, le=1)] = 0.7
    """Weight of a part's own words, where a question asks several things; the whole question gets the rest."""


class AnchorSettings(Section):
    enabled: bool = True
    """Whether a follow-up also searches the pages that the last answer cited."""
    boost: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Added to the fused score (0..1) of passages of pages that the last answer
    cited, when a follow-up says what it is about. It helped on one of three sets
    and harmed shifts on another; what such pages gain, the thread's words give."""
    boost_vague: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Added instead where a follow-up has one or two telling words, or returns to an earlier topic."""


class RewriteSettings(Section):
    mode: Literal["auto", "heuristic", "model", "off"] = "auto"
    """auto: the model where there is one, with the heuristic as its fallback."""
    window: Annotated[int, Field(ge=1, le=20)] = 5
    """Turns of the thread that a rewrite reads."""
    keep_replies_s: Annotated[int, Field(ge=0, le=86400)] = 3600
    """Seconds for which a model's rewrite is reused for the same question at the same point of a thread; 0: never."""
