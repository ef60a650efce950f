"""Notion as a source: pages and the rows of databases that the integration was given access to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import yaml

from ingest.errors import PageError, SourceUnavailableError
from ingest.sources.json_api import Sleep
from ingest.sources.markup import heading, literal
from ingest.sources.notion.blocks import BlockReader, blocks_to_markdown
from ingest.sources.notion.connection import REFUSED, Connection, NotionError
from ingest.sources.notion.family import Family, Found, PageNames, is_gone, plain_id, titles_above
from ingest.sources.notion.missing import Missing
from ingest.sources.notion.properties import PropertyReader
from ingest.sources.notion.text import title_of
from ingest.sources.port import ConfiguredSource, PageRef, RawPage, fingerprint
from kb.config.sources import NotionSettings

_CONVERTER = "3"
"""Raise when blocks become other Markdown than before: then every page is read anew."""
_ROUNDING = timedelta(seconds=60)
"""Notion tells the time of an edit to the minute."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Opened:
    """A connection, and what was learnt over it."""

    connection: Connection
    names: PageNames
    columns: PropertyReader


class NotionSource(ConfiguredSource[NotionSettings]):
    def __init__(
        self,
        settings: NotionSettings,
        _folder: Path | None = None,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        super().__init__(settings)
        self._clock = clock
        self._sleep = sleep
        self._opened: _Opened | None = None
        self._unlisted: dict[str, str] = {}
        """Data sources whose rows cannot be listed, by their paths -> what they are called."""
        self._left_out: frozenset[str] = frozenset()
        """Pages that the integration sees, and that are in the trash or below no root."""
        self._parents: Mapping[str, tuple[str, ...]] = {}
        """Path -> the titles above it, of the last listing."""

    def url_of(self, path: str) -> str:
        return f"https://www.notion.so/{path}"

    def withdraws(self, path: str) -> bool:
        return path in self._left_out

    async def discover(self) -> AsyncIterator[PageRef]:
        try:
            pages = await self._pages()
        except NotionError as error:
            raise SourceUnavailableError(f"source {self.name!r}: {_advice(error)}") from error
        if not pages:
            raise SourceUnavailableError(
                f"source {self.name!r}: the integration sees no page; in Notion, add it to pages "
                f"under ··· > Connections"
            )
        for page in pages.values():
            yield PageRef(path=_path(page), revision=_revision(page), title=title_of(page))
        for path, title in self._unlisted.items():
            yield PageRef(path=path, revision=None, title=title)

    async def fetch(self, ref: PageRef) -> RawPage:
        if ref.path.endswith("/"):
            title = self._unlisted.get(ref.path, ref.path)
            raise PageError(
                f"the rows of {title!r} cannot be listed: only those that Notion's search finds are read"
            )
        opened, missing = self._open(), Missing()
        client = opened.connection.client
        try:
            page = await opened.connection.ask(client.pages.retrieve, page_id=ref.path)
            if is_gone(page):
                raise PageError("it was moved to the trash", withdraw=True)
            blocks = await BlockReader(opened.connection, opened.names, missing).read(ref.path)
            columns = await opened.columns.read(page, missing)
        except NotionError as error:
            gone = error.status in (403, 404)
            reason = "it is gone, or no longer shared with the integration" if gone else str(error)
            raise PageError(reason, withdraw=gone) from error
        edited = datetime.fromisoformat(str(page["last_edited_time"]))
        # An edit within the same minute would leave no trace in the listing: read it once more then.
        settled = self._clock() - edited > _ROUNDING and not missing.passing
        parts = [heading(title_of(page)), _columns(columns), blocks_to_markdown(blocks)]
        return RawPage(
            path=ref.path,
            revision=_revision(page) + ("" if settled else ".unsettled"),
            content=(_front_matter(page) + "\n\n".join(filter(None, parts)) + "\n").encode(),
            url=str(page.get("url") or self.url_of(ref.path)),
            edited=edited.date(),
            media_type="text/markdown",
            notes=missing.notes(),
            parents=self._parents.get(ref.path, ()),
        )

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.connection.close()
            self._opened = None

    async def _pages(self) -> dict[str, Found]:
        """Returns every page by its id: those that search knows, and all rows of databases, as search may lag."""
        opened = self._open()
        connection, search = opened.connection, opened.connection.client.search
        found: dict[str, Found] = {}
        sources: dict[str, Found] = {}
        async for page in connection.all(search, filter={"property": "object", "value": "page"}):
            found[str(page["id"])] = page
        async for source in connection.all(search, filter={"property": "object", "value": "data_source"}):
            sources[str(source["id"])] = source
        self._unlisted = {}
        query = connection.client.data_sources.query
        for source_id, listed in sources.items():
            try:
                async for row in connection.all(query, data_source_id=source_id):
                    if row.get("object") == "page":
                        found[str(row["id"])] = row
            except NotionError as error:  # such as that of a database which is only linked
                if error.status not in REFUSED:
                    raise
                self._unlisted[f"{plain_id(source_id)}/"] = title_of(listed)
        family = Family(connection, found, sources)
        roots = {plain_id(root) for root in self._settings.roots}
        chosen = {
            page_id: page
            for page_id, page in found.items()
            if not is_gone(page) and (not roots or await family.is_below(page, roots))
        }
        self._left_out = frozenset(_path(page) for key, page in found.items() if key not in chosen)
        self._parents = {_path(page): titles_above(page, chosen, sources, roots) for page in chosen.values()}
        opened.names.learn(chosen.values())
        return chosen

    def _open(self) -> _Opened:
        if self._opened is None:
            token = self._settings.token
            if token is None:
                raise SourceUnavailableError(
                    f"source {self.name!r}: no token; set NOTION_TOKEN to the secret of an internal integration"
                )
            connection = Connection(
                token.get_secret_value(),
                api_url=self._settings.api_url,
                timeout_s=self._settings.timeout_s,
                sleep=self._sleep,
            )
            names = PageNames(connection, map(plain_id, self._settings.roots))
            columns = PropertyReader(connection, names)
            self._opened = _Opened(connection=connection, names=names, columns=columns)
        return self._opened


def _path(page: Found) -> str:
    return plain_id(str(page["id"]))


def _revision(page: Found) -> str:
    parts = (_CONVERTER, str(page["last_edited_time"]), title_of(page), str(page.get("url")))
    return fingerprint(part.encode() for part in parts)


def _columns(values: Mapping[str, str]) -> str:
    """Writes a row's columns. Pages outside databases have a title only."""
    return "\n".join(f"- {literal(name)}: {text}" for name, text in values.items())


def _front_matter(page: Found) -> str:
    """Writes the dates of a verified page (wikis have that): reviewed that day, due when its verification ends."""
    for value in (page.get("properties") or {}).values():
        verification = value.get("verification") if value.get("type") == "verification" else None
        dates = (verification or {}).get("date") or {}
        if verification and verification.get("state") in ("verified", "expired") and dates.get("start"):
            fields = {"last_reviewed_on": str(dates["start"])[:10]}
            if dates.get("end"):
                fields["review_by"] = str(dates["end"])[:10]
            return f"---\n{yaml.safe_dump(fields)}---\n"
    return ""


def _advice(error: NotionError) -> str:
    match error.status:
        case 401:
            return (
                "Notion does not accept the token: set NOTION_TOKEN to the secret of an internal integration"
            )
        case 403:
            return "the integration may not read content: give it that capability in its settings"
        case 429:
            return "Notion limits the rate of requests and did not stop doing so: sync less often, or later"
        case _:
            return f"{error}: look whether api.notion.com can be reached from here, and status.notion.so"
