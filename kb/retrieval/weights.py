"""Reads the fitted weights of the relevance model, and checks that they fit the configured cross-encoder.

Similarity is a standard score, so one set of weights serves every embedding model. Scores of another cross-encoder
have another scale: its weight belongs to the one that it was fitted with.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kb.config.settings import Settings
from kb.errors import SettingsError
from kb.retrieval.confidence import RERANK_SIGNAL, SIGNALS, Logistic, RelevanceModel, Scorer

DEFAULT_FILE = "relevance/default.json"
"""Path of the bundled weights, below `kb`."""


class LogisticWeights(BaseModel):
    """`weights`: signal -> weight, by name, so that a file from before another signal is refused."""

    model_config = ConfigDict(frozen=True)

    bias: float
    weights: dict[str, float]


class ScorerWeights(BaseModel):
    """Files of earlier versions also hold `passage` weights; those are not read."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    question: LogisticWeights
    threshold: Annotated[float, Field(ge=0, le=1)]


class Weights(BaseModel):
    """`embedder` and `reranker` are the last parts of the models' names
    or folders, `embedder` for the record; `reranker` None: not fitted.
    """

    model_config = ConfigDict(frozen=True)

    embedder: str
    reranker: str | None = None
    fitted_on: tuple[str, ...] = ()
    plain: ScorerWeights
    reranked: ScorerWeights | None = None


class _WeightsFile(BaseModel):
    """Reads the part of `footnote eval decline --fit --json` that is needed."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    weights: Weights


@dataclass(frozen=True, kw_only=True, slots=True)
class Fitted:
    """`model` is ready to use. `reranker_misfit` tells operators that it was fitted for another cross-encoder."""

    model: RelevanceModel
    reranker_misfit: str = ""


def fitted_for(settings: Settings) -> Fitted:
    """Reads the weights that the settings name, else the bundled ones.

    Raises:
        SettingsError: the file cannot be read, or was fitted with other signals than this version has.
    """
    file = settings.answer.relevance_file
    weights = read_weights(file) if file is not None else default_weights()
    reranker = ""
    reranked = weights.reranker is not None and weights.reranker == model_key(settings.rerank.model)
    if not reranked and settings.rerank.model != "off":
        reranker = (
            f"no weights for declining were fitted with the reranker {settings.rerank.model}: "
            "it orders passages, and has no say in whether they are enough"
        )
    return Fitted(model=_model(weights, reranked=reranked), reranker_misfit=reranker)


def default_model() -> RelevanceModel:
    """Returns the default weights, for rankings without a cross-encoder."""
    return _model(default_weights(), reranked=False)


def default_weights() -> Weights:
    text = files("kb").joinpath(*DEFAULT_FILE.split("/")).read_text(encoding="utf-8")
    return _WeightsFile.model_validate_json(text).weights


def read_weights(file: Path) -> Weights:
    """
    Raises:
        SettingsError: it is no result of `footnote eval decline --fit`.
    """
    try:
        return _WeightsFile.model_validate_json(file.read_bytes()).weights
    except (OSError, ValidationError) as error:
        raise SettingsError(
            f"answer.relevance_file: {file} holds no weights; make it with `footnote eval decline --fit --json`"
        ) from error


def weights_text(weights: Weights) -> str:
    """Returns the text of a file of weights alone."""
    return _WeightsFile(weights=weights).model_dump_json(indent=1) + "\n"


def model_key(name: str) -> str:
    """Maps a model's name, and a folder that holds the model, to one key."""
    return Path(name).name


def _model(weights: Weights, *, reranked: bool) -> RelevanceModel:
    return RelevanceModel(
        plain=scorer_of(weights.plain, reranked=False),
        reranked=scorer_of(weights.reranked, reranked=True) if reranked and weights.reranked else None,
    )


def scorer_of(weights: ScorerWeights, *, reranked: bool) -> Scorer:
    """
    Raises:
        SettingsError: the weights are of other signals than this version has.
    """
    last = (RERANK_SIGNAL,) if reranked else ()
    return Scorer(
        question=_logistic(weights.question, (*SIGNALS, *last)),
        threshold=weights.threshold,
    )


def _logistic(weights: LogisticWeights, signals: tuple[str, ...]) -> Logistic:
    if set(weights.weights) != set(signals):
        raise SettingsError(
            f"the weights for declining are of the signals {', '.join(sorted(weights.weights))}, this version has "
            f"{', '.join(sorted(signals))}; fit them anew with `footnote eval decline --fit --json`"
        )
    return Logistic(bias=weights.bias, weights=tuple(weights.weights[signal] for signal in signals))
