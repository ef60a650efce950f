"""Converts the pipeline's answers and hits to the API's schemas. Pure but for the clock in the freshness policy."""

from __future__ import annotations

from bot.api import schemas
from bot.rendering.disambiguation import disambiguated
from bot.rendering.render import answer_markdown
from kb.answer import Answer, AnswerWarning, Citation, Sentence
from kb.models import Hit
from kb.pages.freshness import FreshnessPolicy


def result_of(hit: Hit, freshness: FreshnessPolicy) -> schemas.SearchResult:
    chunk, page = hit.chunk, hit.chunk.page
    warning = freshness.warn(page)
    return schemas.SearchResult(
        title=page.title,
        source=page.source,
        path=page.path,
        url=chunk.url,
        section=chunk.section,
        text=chunk.text,
        language=page.language,
        owner=page.owner,
        score=round(hit.scores.final, 4),
        dates=schemas.Dates.model_validate(page.dates),
        freshness=freshness.assess(page).freshness,
        warnings=(warning_of(warning),) if warning is not None else (),
    )


def answer_of(answer: Answer, *, question_id: str) -> schemas.Answer:
    """Converts an answer.

    Raises:
        ValueError: the answer is an outage, which is no answer.
    """
    if answer.outcome == "unavailable":
        raise ValueError("an outage is told as an error")
    shown = disambiguated(answer)
    return schemas.Answer(
        id=question_id,
        outcome=answer.outcome,
        text=answer_markdown(answer),
        sentences=tuple(map(sentence_of, shown.sentences)),
        citations=tuple(map(citation_of, shown.citations)),
        warnings=tuple(map(warning_of, shown.warnings)),
        confidence=round(min(1.0, max(0.0, answer.confidence)), 3),
        mode=answer.mode,
        language=answer.language,
        rewritten=answer.rewritten,
        is_follow_up=answer.trace.rewrite.is_follow_up,
        left_open=answer.left_open,
        unfound=answer.unfound,
        interpretations=answer.interpretations,
        nearest=tuple(map(schemas.NearPage.model_validate, shown.nearest)),
        notes=answer.notes,
    )


def sentence_of(sentence: Sentence) -> schemas.Sentence:
    return schemas.Sentence.model_validate(sentence)


def citation_of(citation: Citation) -> schemas.Citation:
    page = citation.chunk.page
    return schemas.Citation(
        n=citation.n,
        title=page.title,
        source=page.source,
        path=page.path,
        url=citation.chunk.url,
        section=citation.chunk.section,
        quote=citation.quote,
        score=None if citation.score is None else round(citation.score, 3),
        date=citation.date,
        freshness=citation.freshness,
    )


def warning_of(warning: AnswerWarning) -> schemas.Warned:
    return schemas.Warned(
        kind=warning.kind,
        reason=warning.reason,
        title=warning.page.title,
        url=warning.page.url,
        date=warning.date,
        text=warning.text,
    )
