"""Settings of models: the language model, and those that this machine runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, model_validator

from kb.config.sections import Section

Effort = Literal["none", "low", "medium", "high", "xhigh", "max"]
"""How much a model thinks. "none" sends no effort at all, which older models require."""
Backend = Literal["auto", "torch", "onnx"]
"""What runs a local model. auto: ONNX Runtime where the model can be converted, else torch."""
Precision = Literal["auto", "fp32", "int8"]
"""Precision of a model that ONNX Runtime runs. auto: int8 where the CPU multiplies 8-bit integers fast, else fp32."""


class ModelSettings(Section):
    """The language model. Without a key or a base URL Footnote answers by extraction."""

    provider: Literal["auto", "anthropic", "ollama", "none"] = "auto"
    """auto: Claude where a key or a base URL is set, else Ollama where its address is, else none."""
    api_key: SecretStr | None = None
    """The key of Claude's API, or of the endpoint at `base_url`."""
    base_url: str | None = None
    """Another endpoint that speaks Claude's Messages API."""
    ollama_base_url: str | None = None
    """The address of an Ollama server: http://localhost:11434."""
    answer_model: str = "claude-sonnet-5-5"
    """The model that writes answers."""
    rewrite_model: str = "claude-haiku-5-5"
    """The small model that rewrites follow-ups and checks what sentences mean."""
    native_citations: bool | None = None
    """None: native for Claude's own endpoint, numbered passages for any other base URL."""
    tools: bool | None = None
    """Whether the model may search by itself. None: at Claude's own endpoint only."""
    answer_effort: Effort = "low"
    """Thinking counts against the tokens and the deadline."""
    rewrite_effort: Effort = "low"
    """How much the small model thinks."""
    answer_deadline_s: Annotated[float, Field(gt=0, le=300)] = 30.0
    """Seconds for a whole answer, retries included. People leave a thread after about half a minute."""
    rewrite_deadline_s: Annotated[float, Field(gt=0, le=30)] = 1.0
    """A rewrite later than this is dropped: p95 of a small model is about 0.6 s."""
    max_answer_tokens: Annotated[int, Field(ge=64, le=8192)] = 1500
    """Tokens of an answer, thinking included."""
    max_rewrite_tokens: Annotated[int, Field(ge=32, le=2000)] = 600
    """Thinking counts against it on current models; the rewritten query itself is held to 100."""
    retries: Annotated[int, Field(ge=0, le=5)] = 2
    """Attempts after the first that failed, within the deadline."""

    @property
    def effective_provider(self) -> Literal["anthropic", "ollama", "none"]:
        if self.provider != "auto":
            return self.provider
        if self.api_key is not None or self.base_url is not None:
            return "anthropic"
        return "ollama" if self.ollama_base_url is not None else "none"


MULTILINGUAL = "multilingual"
MULTILINGUAL_MODELS = "all-MiniLM-L6-v2+multilingual-e5-small"
"""What `embed.model = "multilingual"` is short for: one model that is
good at English, and one that reads a hundred languages.
"""


class EmbedSettings(Section):
    model: str = MULTILINGUAL
    """A sentence-transformers name or folder, or several joined by "+". "multilingual" is short for
    all-MiniLM-L6-v2+multilingual-e5-small, whose weights come with Python packages."""
    query_prompt: str = ""
    """Put before each question, instead of the model's own prompt."""
    document_prompt: str = ""
    """Instead of the model's own prompts; of one model only."""
    backend: Backend = "auto"
    """What runs the model. auto: ONNX Runtime where it can be converted, else torch."""
    precision: Precision | None = None
    """None: what is best for each model, int8 for the packaged multilingual-e5-small and fp32 for all
    others. auto: what the index was made with goes first, for vectors of the two must not be mixed."""
    batch_size: Annotated[int, Field(ge=1, le=512)] = 16
    """Texts of like length that are embedded together, at most."""
    threads: Annotated[int, Field(ge=0, le=128)] = 0
    """0: as many as the process may use."""

    @property
    def models(self) -> tuple[str, ...]:
        """Their names. A folder may have a "+" in its path."""
        named = MULTILINGUAL_MODELS if self.model == MULTILINGUAL else self.model
        if Path(named).expanduser().is_dir():
            return (named,)
        return tuple(name.strip() for name in named.split("+"))

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        models = self.models
        if len(set(models)) < len(models) or not all(models):
            raise ValueError(f"model: {self.model!r} must name each model once, with one + between two")
        if len(models) > 1 and (self.query_prompt or self.document_prompt):
            raise ValueError(
                "query_prompt, document_prompt: of one model only; each of several has its own prompts from its card"
            )
        return self


class RerankSettings(Section):
    model: str = "cross-encoder/ms-marco-MiniLM-L-6-v2"
    """A CrossEncoder name or folder, or "off"."""
    candidates: Annotated[int, Field(ge=1, le=200)] | None = None
    """Passages that it reads of each question. None: as measured on the pages when they are indexed."""
    weight: Annotated[float, Field(ge=0, le=1)] | None = None
    """Share of the cross-encoder in the final score; the rest is the fused score. 0: it is not run. None: as measured.
    """
    hub_timeout_s: Annotated[float, Field(gt=0, le=120)] = 5.0
    """Seconds that a model that is not on this machine is waited for."""
    backend: Backend = "auto"
    """What runs the model. auto: ONNX Runtime where it can be converted, else torch."""
    precision: Precision = "fp32"
    """int8 is faster where the processor multiplies 8-bit integers; auto: int8 there."""
    threads: Annotated[int, Field(ge=0, le=128)] = 0
    """0: as many as the process may use."""
