"""The whole configuration, read once at start from the environment and `footnote.toml`.

Environment names are `FOOTNOTE_` + section + `__` + key (`FOOTNOTE_SEARCH__KEEP=8`); the names that everybody knows
(`ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`, `OLLAMA_BASE_URL`, `QDRANT_URL`, `QDRANT_API_KEY`, `REDIS_URL`,
`SLACK_BOT_TOKEN`, ...) work as they are. `kb.config.configuration` is the only reader of the environment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import model_validator

from kb.config.answer_settings import AnswerSettings, FreshnessSettings
from kb.config.index_settings import IndexSettings
from kb.config.model_settings import EmbedSettings, ModelSettings, RerankSettings
from kb.config.search_settings import AnchorSettings, RewriteSettings, SearchSettings
from kb.config.sections import Section
from kb.config.server_settings import ApiSettings, TelemetrySettings
from kb.config.slack_settings import SlackSettings
from kb.config.sources import AnySourceSettings, FolderSettings
from kb.config.storage_settings import ReindexSettings, StoreSettings

SourceSettings = FolderSettings
"""The plain kind of source, by the name that most of the code knows it by."""


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
