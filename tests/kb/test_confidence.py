"""What evidence is worth, and whether it is enough."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kb.config.configuration import load_settings
from kb.errors import SettingsError
from kb.models import Hit, Scores
from kb.retrieval.confidence import (
    SIGNALS,
    EvidenceFeatures,
    Logistic,
    RelevanceModel,
    Scorer,
    score_evidence,
    signals_of,
)
from kb.retrieval.weights import default_model, default_weights, fitted_for, read_weights, weights_text
from tests.fakes.passages import a_passage


def a_hit(dense: float, *, rerank: float | None = None, anchor: float = 0.0, text: str = "25 days.") -> Hit:
    """`dense`: a standard score."""
    return Hit(chunk=a_passage(text), scores=Scores(dense=dense, anchor=anchor, rerank=rerank, final=0.5))


def features(*hits: Hit, coverages: tuple[float, ...]) -> EvidenceFeatures:
    return EvidenceFeatures(hits=hits, coverages=coverages)


def a_scorer(bias: float, threshold: float, *, reranked: bool) -> Scorer:
    return Scorer(
        question=Logistic(bias=bias, weights=(0.0,) * (len(SIGNALS) + reranked)), threshold=threshold
    )


GOOD = features(a_hit(8.0), a_hit(6.0), a_hit(5.0), coverages=(1.0, 0.8, 0.6))
POOR = features(a_hit(1.5), a_hit(1.2), a_hit(1.0), coverages=(0.2, 0.0, 0.0))


def test_good_evidence_is_enough_and_poor_evidence_is_not():
    model = default_model()
    good, poor = score_evidence(GOOD, model), score_evidence(POOR, model)
    assert good.is_sufficient
    assert not poor.is_sufficient
    assert good.confidence > 0.9 > 0.2 > poor.confidence


def test_nothing_found_is_never_enough():
    evidence = score_evidence(features(coverages=()), default_model(), threshold=0.0)
    assert (evidence.confidence, evidence.is_sufficient) == (0.0, False)


def test_a_quarter_of_the_threshold_is_near_enough_to_be_shown_as_the_closest():
    confidence = score_evidence(POOR, default_model()).confidence
    for threshold, near in ((3.9 * confidence, True), (4.1 * confidence, False)):
        evidence = score_evidence(POOR, default_model(), threshold=threshold)
        assert (evidence.is_sufficient, evidence.is_near) == (False, near)
    assert not score_evidence(features(coverages=()), default_model(), threshold=0.0).is_near


def test_what_is_less_likely_an_answer_than_not_is_called_the_closest():
    even = a_scorer(0.0, default_model().plain.threshold, reranked=False)
    below = a_scorer(-0.01, default_model().plain.threshold, reranked=False)
    assert score_evidence(GOOD, RelevanceModel(plain=even)).is_sufficient
    evidence = score_evidence(GOOD, RelevanceModel(plain=below))
    assert (evidence.is_sufficient, evidence.is_near) == (False, True)


def test_a_threshold_of_the_settings_stands_over_the_fitted_one():
    assert not score_evidence(GOOD, default_model(), threshold=1.0).is_sufficient
    assert score_evidence(POOR, default_model(), threshold=0.0).is_sufficient


def test_signals_are_in_the_order_that_their_names_are_in():
    named = dict(zip(SIGNALS, signals_of(GOOD, reranked=False), strict=True))
    assert named == pytest.approx(
        {
            "dense": 8.0,
            "coverage": 1.0,
            "anchor": 0.0,
        }
    )


def test_a_cross_encoder_has_a_say_only_where_weights_were_fitted_for_it():
    read = features(a_hit(8.0, rerank=0.9), coverages=(1.0,))
    plain, reranked = a_scorer(-2.0, 0.4, reranked=False), a_scorer(2.0, 0.6, reranked=True)
    without = score_evidence(read, RelevanceModel(plain=plain))
    with_it = score_evidence(read, RelevanceModel(plain=plain, reranked=reranked))
    unread = score_evidence(
        features(a_hit(8.0), coverages=(1.0,)), RelevanceModel(plain=plain, reranked=reranked)
    )
    assert without.confidence == unread.confidence < 0.2
    assert with_it.confidence > 0.8
    assert (without.threshold, with_it.threshold) == (0.4, 0.6)


def test_the_weights_that_come_along_serve_every_embedder():
    for model in ("all-MiniLM-L6-v2", "multilingual", "/models/own-one"):
        fitted = fitted_for(load_settings(environ={}, embed={"model": model}, rerank={"model": "off"}))
        assert (fitted.model, fitted.reranker_misfit) == (default_model(), "")


def test_another_cross_encoder_is_told_to_the_operator():
    fitted = fitted_for(load_settings(environ={}, rerank={"model": "acme/ranker"}))
    assert "acme/ranker" in fitted.reranker_misfit
    assert fitted.model.reranked is None


def test_a_file_of_weights_is_read_back_and_used(tmp_path: Path):
    file = tmp_path / "weights.json"
    weights = default_weights()
    other = weights.model_copy(update={"plain": weights.plain.model_copy(update={"threshold": 0.77})})
    file.write_text(weights_text(other))
    settings = load_settings(environ={}, answer={"relevance_file": file})
    assert fitted_for(settings).model.plain.threshold == 0.77


@pytest.mark.parametrize("text", ["", "{}", '{"weights": {"embedder": "x"}}', "no json"])
def test_a_file_without_weights_is_refused_with_the_command_that_makes_one(tmp_path: Path, text: str):
    file = tmp_path / "weights.json"
    file.write_text(text)
    with pytest.raises(SettingsError, match="eval decline --fit --json"):
        read_weights(file)


def test_a_file_from_before_that_also_has_weights_for_passages_is_read(tmp_path: Path):
    told = json.loads(weights_text(default_weights()))
    told["weights"]["plain"]["passage"] = {"bias": -7.0, "weights": {"dense": 8.8, "place": 1.7}}
    file = tmp_path / "weights.json"
    file.write_text(json.dumps(told))
    assert read_weights(file) == default_weights()


def test_weights_of_other_signals_are_refused(tmp_path: Path):
    told = json.loads(weights_text(default_weights()))
    told["weights"]["plain"]["question"]["weights"]["phase of the moon"] = 1.0
    file = tmp_path / "weights.json"
    file.write_text(json.dumps(told))
    settings = load_settings(environ={}, answer={"relevance_file": file})
    with pytest.raises(SettingsError, match="fit them anew"):
        fitted_for(settings)


def test_an_anchored_passage_is_seen_as_one():
    anchored = replace(GOOD, hits=(a_hit(8.0, anchor=0.08), *GOOD.hits[1:]))
    assert signals_of(anchored, reranked=False)[-1] == 1.0
