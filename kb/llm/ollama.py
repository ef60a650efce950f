"""Which model a local server offers, where none is named: Ollama's list,
or the OpenAI-like one of llama.cpp and others.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import Any

import httpx2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kb.errors import ModelUnavailableError
from kb.llm.bounds import PLAIN, bound_response

logger = logging.getLogger(__name__)

LIST_S = 5.0
"""Seconds for one list: it is a local server that loads nothing for it."""
NAMING = "name one with FOOTNOTE_MODEL__ANSWER_MODEL"
_EMBEDS = re.compile(r"embed|bert|\bbge\b|rerank|minilm", re.IGNORECASE)
"""In the name or family of what turns text into vectors and cannot answer."""
_UNITS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}


@dataclass(frozen=True, kw_only=True, slots=True)
class OfferedModel:
    """`parameters` as a number, `size` in bytes; 0 where the server does not say."""

    name: str
    parameters: float = 0.0
    size: int = 0


async def pick_model(base_url: str) -> str:
    """The largest model that the server offers for answering.

    Raises:
        ModelUnavailableError: it offers none, or does not answer; the text says how to fix that.
    """
    offered = await offered_models(base_url)
    if not offered:
        raise ModelUnavailableError(
            f"{base_url} lists no model that can answer; load one (`ollama pull qwen3:8b`), or {NAMING}"
        )
    chosen = max(offered, key=lambda one: (one.parameters, one.size))
    logger.info(
        "llm.model_picked",
        extra={"model": chosen.name, "host": httpx2.URL(base_url).host, "offered": len(offered)},
    )
    return chosen.name


async def offered_models(base_url: str) -> list[OfferedModel]:
    """What the server lists, but for embedders, in its order. Raises as `pick_model` where it does not answer."""
    bounded = {"response": [bound_response]}
    async with httpx2.AsyncClient(timeout=LIST_S, event_hooks=bounded, headers=PLAIN) as http:
        listed = await _listed(http, f"{base_url}/api/tags", _Tags)
        if listed is None:
            listed = await _listed(http, f"{base_url}/v1/models", _Models)
    if listed is None:
        raise ModelUnavailableError(
            f"{base_url} answers, but lists no models under /api/tags or /v1/models; {NAMING}"
        )
    return [one.offered() for one in listed if not _EMBEDS.search(one.described())]


class _Loose(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


class _Details(_Loose):
    parameter_size: str = ""
    family: str = ""


class _Tag(_Loose):
    name: str = Field(min_length=1)
    size: int = 0
    details: _Details = _Details()

    def offered(self) -> OfferedModel:
        return OfferedModel(
            name=self.name, parameters=_parameters(self.details.parameter_size), size=self.size
        )

    def described(self) -> str:
        return f"{self.name} {self.details.family}"


class _Meta(_Loose):
    n_params: float = 0.0
    size: int = 0


class _Model(_Loose):
    id: str = Field(min_length=1)
    meta: _Meta | None = None

    def offered(self) -> OfferedModel:
        meta = self.meta or _Meta()
        return OfferedModel(name=self.id, parameters=meta.n_params, size=meta.size)

    def described(self) -> str:
        return self.id


class _Tags(_Loose):
    models: list[_Tag]

    def all(self) -> list[_Tag]:
        return self.models


class _Models(_Loose):
    data: list[_Model]

    def all(self) -> list[_Model]:
        return self.data


async def _listed(http: httpx2.AsyncClient, url: str, form: type[_Tags] | type[_Models]) -> list[Any] | None:
    """None: the server answers, but has no such list."""
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
        return list(form.model_validate_json(response.content).all())
    except ValidationError:
        return None


def _parameters(written: str) -> float:
    """ "7.6B", "567.75M"; 0.0 for anything else."""
    match = re.fullmatch(r"\s*([\d.]+)\s*([KMBT])\s*", written, re.IGNORECASE)
    try:
        return float(match[1]) * _UNITS[match[2].upper()] if match else 0.0
    except ValueError:
        return 0.0
