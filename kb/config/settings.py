"""Every setting of the knowledge room, read once at start from the environment and `footnote.toml`.

Environment names are `FOOTNOTE_` + section + `__` + key (`FOOTNOTE_SEARCH__KEEP=8`); the names that everybody knows
(`ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`, `OLLAMA_BASE_URL`, `QDRANT_URL`, `QDRANT_API_KEY`, `REDIS_URL`,
`SLACK_BOT_TOKEN`, ...) work as they are. `kb.config.configuration` is the only reader of the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, HttpUrl, SecretStr, model_validator

from kb.config.index_settings import IndexSettings
from kb.config.sections import Section
from kb.config.sources import AnySourceSettings, FolderSettings, as_span

SECOND, DAY = timedelta(seconds=1), timedelta(days=1)

Outsiders = Literal["marked", "open"]
FollowUps = Literal["auto", "mention", "everyone"]
Corrections = Literal["note", "off"]
Effort = Literal["none", "low", "medium", "high", "xhigh", "max"]
"""How much a model thinks. "none" sends no effort at all, which older models require."""
Backend = Literal["auto", "torch", "onnx"]
"""What runs a local model. auto: ONNX Runtime where the model can be converted, else torch."""
Precision = Literal["auto", "fp32", "int8"]
"""Precision of a model that ONNX Runtime runs. auto: int8 where the CPU multiplies 8-bit integers fast, else fp32."""
SourceSettings = FolderSettings
"""The plain kind of source, by the name that most of the code knows it by."""


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
    """A sentence-transformers name or folder, or several joined by "+",
    or "multilingual" (see `MULTILINGUAL_MODELS`). The weights of
    all-MiniLM-L6-v2 and multilingual-e5-small come with Python packages."""
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
    """Share of the cross-encoder in the final score; the rest is the
    fused score. 0: it is not run. None: as measured.
    """
    hub_timeout_s: Annotated[float, Field(gt=0, le=120)] = 5.0
    """Seconds that a model that is not on this machine is waited for."""
    backend: Backend = "auto"
    """What runs the model. auto: ONNX Runtime where it can be converted, else torch."""
    precision: Precision = "fp32"
    """int8 is faster where the processor multiplies 8-bit integers; auto: int8 there."""
    threads: Annotated[int, Field(ge=0, le=128)] = 0
    """0: as many as the process may use."""


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
    """Share of a rewrite's weight that goes to its translation into the
    language of the pages, where a model wrote one.
    """
    context_weight: Annotated[float, Field(ge=0, le=2)] = 1.0
    """Most that the question among the words of its thread weighs; the other wordings have 1 together. 0: off."""
    context_weight_rewritten: Annotated[float, Field(ge=0, le=2)] = 0.3
    """Most that the thread's words weigh beside a rewrite that is no guess: it says most of what they could add."""
    context_strong: Annotated[float, Field(ge=0, le=20)] = 9.0
    """Standard score of the best passage for the question's own wordings
    from which the thread's words weigh nothing.
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


class FreshnessSettings(Section):
    max_age_days: Annotated[int, Field(ge=1, le=36500)] = 365
    """A page without a review date is outdated when its last edit is older than this."""
    max_age_by_source: Mapping[str, Annotated[int, Field(ge=1, le=36500)]] = {}
    """Age limit in days for the pages of a source, by its name. A source's own `max_age_days` wins."""
    max_age_by_path: Mapping[str, Annotated[int, Field(ge=1, le=36500)]] = {}
    """Age limit in days for pages whose path matches (gitignore syntax); the first match wins, over any source's."""


class AnswerSettings(Section):
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    """Where no model writes: evidence below this is called the closest, below
    a third of it nothing is shown. None: what the file of weights says."""
    relevance_file: Path | None = None
    """Weights of the evidence's confidence, as `footnote eval decline
    --fit --json` writes them. None: the bundled ones.
    """
    max_sentences: Annotated[int, Field(ge=1, le=30)] = 4
    """Sentences that a model is asked to write at most."""
    read_passages: Annotated[int, Field(ge=1, le=50)] = 16
    """Passages that a model reads; the neighbours of the best are added where there is room."""
    read_tokens: Annotated[int, Field(ge=500, le=100_000)] = 6000
    """About so many tokens of passages a question."""
    judge: Literal["auto", "off"] = "auto"
    """auto: the small model is asked whether each sentence is what its passage says, within three seconds."""


class ReindexSettings(Section):
    golden: Path | None = None
    """Questions that must go on finding their page, or a rebuilt index does not go live: see `kb.retrieval.golden`."""


class StoreSettings(Section):
    redis_url: SecretStr | None = None
    """None: Valkey in the data folder. Several replicas need one Redis."""
    namespace: str = "footnote"
    """Put before each key in Redis. Bots that share a Redis need their own."""
    keep_threads_days: Annotated[int, Field(ge=1, le=3650)] = 90
    """Days for which a thread's conversation is kept after its last question."""


class SlackSettings(Section):
    """How to reach Slack. Socket Mode with an app token, or signed HTTP events with a signing secret."""

    bot_token: SecretStr | None = None
    """xoxb-..., of the installed app."""
    app_token: SecretStr | None = None
    """xapp-..., for Socket Mode."""
    signing_secret: SecretStr | None = None
    """For HTTP events, instead of `app_token`."""
    api_url: str = "https://slack.com/api/"
    """Where Slack's Web API is. Change it in tests only."""
    port: Annotated[int, Field(ge=0, le=65535)] = 3000
    """Where HTTP events are listened for."""
    host: str = "127.0.0.1"
    """The address to listen on. A container needs 0.0.0.0; everything else a proxy that ends TLS in front."""
    command: Annotated[str, Field(pattern=r"^/[a-z0-9_-]{1,31}$")] = "/kb"
    """The slash command, as the app's manifest has it."""
    admins: tuple[str, ...] = ()
    """Who may reindex besides the workspace's owners and admins: people (U0123), user groups (S0123, or @handle)."""
    workers: Annotated[int, Field(ge=1, le=64)] = 4
    """Questions that are worked on at the same time."""
    answer_within: Annotated[timedelta, BeforeValidator(as_span), Field(ge=SECOND, le=DAY)] = timedelta(
        minutes=30
    )
    """How long a question may wait for its answer, while Slack is away
    above all. Later its asker is told, in one sentence, to ask again."""
    stream: Literal["auto", "off"] = "auto"
    """Shows an answer while the model writes it, where the workspace has streams; "off": whole, when it is done."""
    gaps_digest: str = ""
    """The channel (C0123, or its name) that is told once a week what was asked and the
    pages do not answer; "": none. Only questions of public channels are quoted there."""
    owner_digest: bool = False
    """Whether the owners of pages are told once a month, in a direct
    message, which of theirs are overdue or expired.
    """
    outsiders: Outsiders = "marked"
    """What guests, and channels that are shared with another organisation, may read: pages that are marked for their
    channel, or every page without a limit as well ("open")."""
    follow_ups: FollowUps = "auto"
    """Messages in a thread without a mention: "auto" judges whether they are meant for Footnote, "mention" takes none,
    "everyone" takes each. A channel's own setting wins."""
    corrections: Corrections = "note"
    """Whether a thread is told when what its answer quoted has changed,
    expired or been replaced. A channel's own setting wins.
    """


class ApiSettings(Section):
    """The HTTP API of `footnote serve` (docs/api.md). Who asks has a key: `footnote keys add NAME`."""

    port: Annotated[int, Field(ge=0, le=65535)] | None = None
    """None: it is not served. 0: any free one, which the log names."""
    host: str = "127.0.0.1"
    """The address to listen on. Anything but loopback needs a proxy that
    ends TLS in front: keys travel with each request.
    """
    hosts: tuple[str, ...] = ()
    """Names, without ports, under which it is reached besides loopback:
    kb.example.com. Requests for others are refused.
    """
    concurrency: Annotated[int, Field(ge=1, le=256)] = 8
    """Questions that are worked on at the same time; one more is told to come again."""
    key: SecretStr | None = None
    """The key by which `footnote mcp` asks."""
    url: str | None = None
    """Where `footnote mcp` finds the HTTP API; None: on this machine, at `port` (8080 where that is not set)."""


class TelemetrySettings(Section):
    """What an operator's own systems are told besides `/metrics`. Off unless set."""

    traces: HttpUrl | None = None
    """OpenTelemetry collector that takes OTLP over HTTP:
    http://localhost:4318. Its headers come from OTEL_EXPORTER_OTLP_HEADERS.
    """
    sampled: Annotated[float, Field(ge=0, le=1)] = 1.0
    """The share of questions and syncs that is traced."""
    service_name: str = "footnote"
    """The name under which traces are found."""
    logs: Literal["text", "json"] = "text"
    """json: one object a line, with the trace id where there is one."""


class Settings(Section):
    """The whole configuration. Build it with `load_settings`, or by hand in tests."""

    data: Path = Path(".footnote")
    """The folder that holds the index, the store and their locks. It is made private."""
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
    telemetry: TelemetrySettings = TelemetrySettings()
    sources: tuple[AnySourceSettings, ...] = ()

    @model_validator(mode="after")
    def _source_names_are_unique(self) -> Self:
        names = [source.name for source in self.sources]
        if len(names) != len(set(names)):
            raise ValueError("two sources have the same name; give each its own")
        return self
