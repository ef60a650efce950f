"""Every setting of the knowledge room, read once at start from the environment and `footnote.toml`.

Environment names are `FOOTNOTE_` + section + `__` + key (`FOOTNOTE_SEARCH__KEEP=8`); the names that everybody knows
(`ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`, `OLLAMA_BASE_URL`, `QDRANT_URL`, `QDRANT_API_KEY`, `REDIS_URL`,
`SLACK_BOT_TOKEN`, ...) work as they are. `load_settings` is the only reader of the environment.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from kb.errors import SettingsError
from kb.source_settings import AnySourceSettings, FolderSettings, unknown_key, with_environment

PREFIX = "FOOTNOTE_"
SOURCES_PREFIX = f"{PREFIX}SOURCES__"

SourceSettings = FolderSettings
"""The plain kind of source, by the name that most of the code knows it by."""

WELL_KNOWN: Mapping[str, tuple[str, ...]] = {
    "FOOTNOTE_DATA": ("data",),
    "ANTHROPIC_API_KEY": ("model", "api_key"),
    "ANTHROPIC_BASE_URL": ("model", "base_url"),
    "OLLAMA_BASE_URL": ("model", "ollama_base_url"),
    "QDRANT_URL": ("index", "qdrant_url"),
    "QDRANT_API_KEY": ("index", "qdrant_api_key"),
    "REDIS_URL": ("store", "redis_url"),
    "SLACK_BOT_TOKEN": ("slack", "bot_token"),
    "SLACK_APP_TOKEN": ("slack", "app_token"),
    "SLACK_SIGNING_SECRET": ("slack", "signing_secret"),
    "SLACK_API_URL": ("slack", "api_url"),
}
"""Environment names without our prefix -> where they go."""


Outsiders = Literal["marked", "open"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSettings(Section):
    """The language model. Without a key or a base URL Footnote answers by extraction."""

    provider: Literal["auto", "anthropic", "ollama", "none"] = "auto"
    api_key: SecretStr | None = None
    base_url: str | None = None
    ollama_base_url: str | None = None
    answer_model: str = "claude-sonnet-5-5"
    rewrite_model: str = "claude-haiku-5-5"
    native_citations: bool | None = None
    """None: native for Claude's own endpoint, numbered passages for any other base URL."""
    answer_effort: Effort | None = "low"
    """Thinking counts against the tokens and the deadline. None leaves it to the model (older ones take no effort)."""
    rewrite_effort: Effort | None = "low"
    answer_deadline_s: Annotated[float, Field(gt=0, le=300)] = 30.0
    """Seconds for a whole answer, retries included. People leave a thread after about half a minute."""
    rewrite_deadline_s: Annotated[float, Field(gt=0, le=30)] = 1.0
    """A rewrite later than this is dropped: p95 of a small model is about 0.6 s."""
    max_answer_tokens: Annotated[int, Field(ge=64, le=8192)] = 1500
    max_rewrite_tokens: Annotated[int, Field(ge=32, le=2000)] = 600
    """Thinking counts against it on current models; the rewritten query itself is held to 100."""
    retries: Annotated[int, Field(ge=0, le=5)] = 2

    @property
    def effective_provider(self) -> Literal["anthropic", "ollama", "none"]:
        if self.provider != "auto":
            return self.provider
        if self.api_key is not None or self.base_url is not None:
            return "anthropic"
        return "ollama" if self.ollama_base_url is not None else "none"


class EmbedSettings(Section):
    model: str = "all-MiniLM-L6-v2"
    """A sentence-transformers name or folder. The default's weights come with a Python package."""
    query_prompt: str = ""
    document_prompt: str = ""
    batch_size: Annotated[int, Field(ge=1, le=512)] = 16
    threads: Annotated[int, Field(ge=0, le=128)] = 0
    """0: as many as the process may use."""


class RerankSettings(Section):
    model: str = "cross-encoder/ms-marco-MiniLM-L-6-v2"
    """A CrossEncoder name or folder, or "off"."""
    candidates: Annotated[int, Field(ge=1, le=200)] = 20
    weight: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Share of the cross-encoder in the final score; the rest is the fused score. Alone it is worse than blended."""
    hub_timeout_s: Annotated[float, Field(gt=0, le=120)] = 5.0
    threads: Annotated[int, Field(ge=0, le=128)] = 0
    """0: as many as the process may use."""


class SearchSettings(Section):
    keep: Annotated[int, Field(ge=1, le=50)] = 5
    leg_limit: Annotated[int, Field(ge=5, le=500)] = 50
    """Passages that each leg of the engine call may bring."""
    fusion: Literal["scores", "rrf"] = "scores"
    dense_weight: Annotated[float, Field(ge=0, le=1)] = 0.7
    original_weight: Annotated[float, Field(ge=0, le=1)] = 0.3
    """Weight of the user's own words beside a rewrite, which gets the rest."""
    original_weight_guess: Annotated[float, Field(ge=0, le=1)] = 0.5
    """The same beside what the rules only guess."""
    context_weight: Annotated[float, Field(ge=0, le=2)] = 1.0
    """Most that the question among the words of its thread weighs; the other wordings have 1 together. 0: off."""
    context_weight_rewritten: Annotated[float, Field(ge=0, le=2)] = 0.3
    """The same beside a rewrite that is no guess: it says most of what the thread could add."""
    context_strong: Annotated[float, Field(ge=-1, le=1)] = 0.8
    """A cosine of the best passage for the question's own wordings from which the thread's words weigh nothing."""
    context_weak: Annotated[float, Field(ge=-1, le=1)] = 0.4
    """The cosine down to which their weight grows. Both were fitted with the default embedder."""
    context_terms: Annotated[int, Field(ge=1, le=30)] = 10
    """Words of the thread that are searched along."""
    rrf_k: Annotated[int, Field(ge=1, le=1000)] = 60


class AnchorSettings(Section):
    enabled: bool = True
    boost: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Added to the fused score (0..1) of passages of pages that the last answer cited, when a follow-up says what it is
    about. It helped on one of three sets and harmed shifts on another; what such pages gain, the thread's words give."""
    boost_vague: Annotated[float, Field(ge=0, le=1)] = 0.06
    """The same for a question of one or two words that tell, and for a return to an earlier topic."""


class RewriteSettings(Section):
    mode: Literal["auto", "heuristic", "model", "off"] = "auto"
    """auto: the model where there is one, with the heuristic as its fallback."""
    window: Annotated[int, Field(ge=1, le=20)] = 5
    keep_replies_s: Annotated[int, Field(ge=0, le=86400)] = 3600
    """Seconds for which a model's rewrite is reused for the same question at the same point of a thread; 0: never."""


class FreshnessSettings(Section):
    max_age_days: Annotated[int, Field(ge=1, le=36500)] = 365
    """A page without a review date is outdated when its last edit is older than this."""
    max_age_by_source: Mapping[str, Annotated[int, Field(ge=1, le=36500)]] = {}
    """The same for every page of a source, by its name. A source's own `max_age_days` wins."""
    max_age_by_path: Mapping[str, Annotated[int, Field(ge=1, le=36500)]] = {}
    """The same for the pages whose path matches (gitignore syntax); the first match wins, over any source's age."""


class AnswerSettings(Section):
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    """Evidence below this declines. None: the threshold that was fitted along with the weights."""
    relevance_file: Path | None = None
    """Weights of the relevance model, as `footnote eval decline --fit --json` writes them. None: the default embedder's."""
    max_sentences: Annotated[int, Field(ge=1, le=30)] = 4
    max_characters: Annotated[int, Field(ge=200, le=6000)] = 3000
    """A longer answer loses whole sentences, items or rows from its end, and says so."""


class IndexSettings(Section):
    qdrant_url: str | None = None
    qdrant_api_key: SecretStr | None = None
    collection: str = "footnote"
    timeout_s: Annotated[float, Field(gt=0, le=120)] = 5.0


class ReindexSettings(Section):
    golden: Path | None = None
    """Questions that must go on finding their page, or a rebuilt index does not go live: see `kb.golden`."""


class StoreSettings(Section):
    redis_url: SecretStr | None = None
    namespace: str = "footnote"
    keep_threads_days: Annotated[int, Field(ge=1, le=3650)] = 90


class SlackSettings(Section):
    """How to reach Slack. Socket Mode with an app token, or signed HTTP events with a signing secret."""

    bot_token: SecretStr | None = None
    app_token: SecretStr | None = None
    signing_secret: SecretStr | None = None
    api_url: str = "https://slack.com/api/"
    port: Annotated[int, Field(ge=0, le=65535)] = 3000
    """Where HTTP events are listened for."""
    host: str = "127.0.0.1"
    """The address to listen on. A container needs 0.0.0.0; everything else a proxy that ends TLS in front."""
    command: Annotated[str, Field(pattern=r"^/[a-z0-9_-]{1,31}$")] = "/kb"
    admins: tuple[str, ...] = ()
    """User ids (U0123) that may reindex, besides the workspace's owners and admins."""
    workers: Annotated[int, Field(ge=1, le=64)] = 4
    """Questions that are worked on at the same time."""
    outsiders: Outsiders = "marked"
    """What guests, and channels that are shared with another organisation, may read: pages that are marked for their
    channel, or every page without a limit as well ("open")."""


class ApiSettings(Section):
    port: Annotated[int, Field(ge=0, le=65535)] | None = None
    """Loopback port of the HTTP API; None: only the socket in the data folder."""


class Settings(Section):
    """The whole configuration. Build it with `load_settings`, or by hand in tests."""

    data: Path = Path(".footnote")
    model: ModelSettings = ModelSettings()
    embed: EmbedSettings = EmbedSettings()
    rerank: RerankSettings = RerankSettings()
    search: SearchSettings = SearchSettings()
    anchors: AnchorSettings = AnchorSettings()
    rewrite: RewriteSettings = RewriteSettings()
    freshness: FreshnessSettings = FreshnessSettings()
    answer: AnswerSettings = AnswerSettings()
    index: IndexSettings = IndexSettings()
    reindex: ReindexSettings = ReindexSettings()
    store: StoreSettings = StoreSettings()
    slack: SlackSettings = SlackSettings()
    api: ApiSettings = ApiSettings()
    sources: tuple[AnySourceSettings, ...] = ()

    @model_validator(mode="after")
    def _source_names_are_unique(self) -> Self:
        names = [source.name for source in self.sources]
        if len(names) != len(set(names)):
            raise ValueError("two sources have the same name; give each its own")
        return self


def load_settings(
    *, environ: Mapping[str, str] | None = None, file: Path | None = None, **overrides: Any
) -> Settings:
    """Reads `footnote.toml` (or `file`), then the environment over it, then `overrides` over both.

    Raises:
        SettingsError: a value is out of bounds or a name is unknown; the message names the nearest right one.
    """
    environ = os.environ if environ is None else environ
    merged = _from_toml(file)
    for path, value in _from_environment(environ):
        _put(merged, path, value)
    for name, value in overrides.items():
        if value is not None:
            _put(merged, (name,), value)
    _fill_sources(merged, environ)
    _reject_unknown(merged)
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise SettingsError(_explain(error)) from None  # the original would show the value of a secret


def _from_toml(file: Path | None) -> dict[str, Any]:
    path = file or Path("footnote.toml")
    if not path.exists():
        if file is not None:
            raise SettingsError(f"there is no settings file {file}; create it or drop --config")
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from error


def _from_environment(environ: Mapping[str, str]) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for name, value in environ.items():
        if name in WELL_KNOWN:
            if value:  # `ANTHROPIC_API_KEY=` in a compose file means "not set"
                found.append((WELL_KNOWN[name], value))
        elif name.startswith(PREFIX) and name != "FOOTNOTE_CONFIG" and not name.startswith(SOURCES_PREFIX):
            path = tuple(part.lower() for part in name.removeprefix(PREFIX).split("__"))
            found.append((path, _as_field(path, value)))
    return found


def _as_field(path: tuple[str, ...], value: str) -> Any:
    """A tuple field takes a comma-separated list from the environment; everything else is parsed by its type."""
    section = Settings.model_fields.get(path[0])
    if len(path) == 2 and section is not None and isinstance(section.default, Section):
        field = type(section.default).model_fields.get(path[1])
        if field is not None and isinstance(field.default, tuple):
            return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _fill_sources(merged: dict[str, Any], environ: Mapping[str, str]) -> None:
    """Sources are a list, so that the environment reaches one by its name."""
    sources = merged.get("sources", [])
    if not isinstance(sources, list) or not all(isinstance(one, dict) for one in sources):
        return  # validation says what is wrong with it
    try:
        merged["sources"] = with_environment(sources, environ, SOURCES_PREFIX)
    except ValueError as error:
        raise SettingsError(str(error)) from error


def _put(target: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *parents, last = path
    for parent in parents:
        target = target.setdefault(parent, {})
        if not isinstance(target, dict):
            raise SettingsError(f"{'.'.join(path)}: {parent} is a value, not a section")
    target[last] = value


def _reject_unknown(merged: Mapping[str, Any]) -> None:
    for name, value in merged.items():
        field = Settings.model_fields.get(name)
        if field is None:
            raise SettingsError(_unknown(name, list(Settings.model_fields)))
        if isinstance(value, dict) and isinstance(field.default, Section):
            known = list(type(field.default).model_fields)
            for key in value:
                if key not in known:
                    raise SettingsError(_unknown(f"{name}.{key}", [f"{name}.{one}" for one in known]))
    for source in merged.get("sources", ()):
        for key in source if isinstance(source, dict) else ():
            hint = unknown_key(source, key)
            if hint is not None:
                raise SettingsError(f"unknown setting {key!r} of source {source.get('name')!r}; {hint}")


def _unknown(name: str, known: list[str]) -> str:
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean {nearest[0]!r}?" if nearest else f"known here: {', '.join(sorted(known))}"
    return f"unknown setting {name!r}; {hint}"


def _explain(error: ValidationError) -> str:
    lines = [
        f"{'.'.join(str(part) for part in problem['loc']) or 'settings'}: {problem['msg']}"
        for problem in error.errors(include_input=False, include_url=False)
    ]
    return "the settings cannot be used:\n  " + "\n  ".join(lines)
