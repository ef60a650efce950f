"""Which models are asked: those of the settings, or the largest that a local server offers where none is named.

Ollama lists its models under /api/tags; llama.cpp and others have the OpenAI-like list under /v1/models.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

import httpx2
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from kb.config.model_settings import ModelSettings
from kb.errors import ModelUnavailableError
from kb.llm.bounds import PLAIN, bound_response

logger = logging.getLogger(__name__)

LIST_S = 5.0
"""Seconds for one list: it is a local server that loads nothing for it."""
NAMING = "name one with FOOTNOTE_MODEL__ANSWER_MODEL"
_EMBEDS = re.compile(r"embed|bert|\bbge\b|rerank|minilm", re.IGNORECASE)
"""In the name or family of what turns text into vectors and cannot answer."""
_UNITS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}


class ModelNames:
    """Names of models. Where none is named for Ollama, its server is asked when the first request needs one."""

    def __init__(self, settings: ModelSettings, base_url: str) -> None:
        self._answers, self._small = _named(settings)
        self._base_url = base_url
        self.picked = False

    @property
    def display_name(self) -> str:
        """The answer model, for people, as far as it is known by now."""
        return self._answers or f"the largest that {self._base_url} offers"

    async def find(self) -> tuple[str, str]:
        """Returns the answer model and the small one.

        Raises:
            ModelUnavailableError: the server offers none, or does not answer.
        """
        if not self._answers:
            self._answers = self._small = await _pick_model(self._base_url)
            self.picked = True
        return self._answers, self._small


@dataclass(frozen=True, kw_only=True, slots=True)
class OfferedModel:
    """`parameters` as a number, `size` in bytes; 0 where the server does not say."""

    name: str
    parameters: float = 0.0
    size: int = 0


async def offered_models(base_url: str) -> list[OfferedModel]:
    """Returns what the server lists, but for embedders, in its order.

    Raises:
        ModelUnavailableError: it does not answer, or lists nothing; the text says how to fix that.
    """
    bounded = {"response": [bound_response]}
    async with httpx2.AsyncClient(timeout=LIST_S, event_hooks=bounded, headers=PLAIN) as http:
        listed = await _listed(http, f"{base_url}/api/tags")
        if listed is None:
            listed = await _listed(http, f"{base_url}/v1/models")
    if listed is None:
        raise ModelUnavailableError(
            f"{base_url} answers, but lists no models under /api/tags or /v1/models; {NAMING}"
        )
    return [model.offered() for model in listed if not _EMBEDS.search(f"{model.name} {model.details.family}")]


def _named(settings: ModelSettings) -> tuple[str, str]:
    """Returns the models of the settings, "" twice where the server is to be asked.

    The defaults are Claude's. Where only one is named for Ollama, it is both.
    """
    answers, small = settings.answer_model, settings.rewrite_model
    if settings.effective_provider != "ollama":
        return answers, small
    given = settings.model_fields_set
    answers = answers if "answer_model" in given else ""
    small = small if "rewrite_model" in given else ""
    return answers or small, small or answers


async def _pick_model(base_url: str) -> str:
    offered = await offered_models(base_url)
    if not offered:
        raise ModelUnavailableError(
            f"{base_url} lists no model that can answer; load one (`ollama pull qwen3:8b`), or {NAMING}"
        )
    chosen = max(offered, key=lambda model: (model.parameters, model.size))
    logger.info(
        "llm.model_picked",
        extra={"model": chosen.name, "host": httpx2.URL(base_url).host, "offered": len(offered)},
    )
    return chosen.name


class _Loose(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


class _Details(_Loose):
    """What Ollama says of a model."""

    parameter_size: str = ""
    family: str = ""


class _Meta(_Loose):
    """What llama.cpp says of a model."""

    n_params: float = 0.0
    size: int = 0


class _Listed(_Loose):
    name: str = Field(min_length=1, validation_alias=AliasChoices("name", "id"))
    size: int = 0
    details: _Details = _Details()
    meta: _Meta | None = None

    def offered(self) -> OfferedModel:
        meta = self.meta or _Meta()
        return OfferedModel(
            name=self.name,
            parameters=_parameters(self.details.parameter_size) or meta.n_params,
            size=self.size or meta.size,
        )


class _List(_Loose):
    """llama.cpp gives both lists; what its `models` hold has empty texts for numbers."""

    models: list[_Listed] = Field(validation_alias=AliasChoices("data", "models"))


async def _listed(http: httpx2.AsyncClient, url: str) -> list[_Listed] | None:
    """Asks for a list. None: the server answers, but has no such list."""
    try:
        response = await http.get(url)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ModelUnavailableError(
            f"nothing lists its models at {url} ({type(error).__name__}); start the server (`ollama serve`), "
            f"check OLLAMA_BASE_URL, or {NAMING}"
        ) from error
    if response.status_code != 200:
        return None
    try:
        return _List.model_validate_json(response.content).models
    except ValidationError:
        return None


def _parameters(written: str) -> float:
    """Reads "7.6B" or "567.75M"; anything else is 0.0."""
    match = re.fullmatch(r"\s*([\d.]+)\s*([KMBT])\s*", written, re.IGNORECASE)
    try:
        return float(match[1]) * _UNITS[match[2].upper()] if match else 0.0
    except ValueError:
        return 0.0
