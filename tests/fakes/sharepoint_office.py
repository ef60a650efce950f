"""A tenant with one site, and sources over it, as the tests of SharePoint begin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ingest.sources.sharepoint.source import SharePointSource
from kb.config.sources import SharePointSettings
from tests.fakes.graph import TENANT, GraphServer
from tests.fakes.graph_drive import HOST, Drive, site_group

SITE = f"{HOST}/sites/hr"
LEAVE = "Everybody has twenty-five days of paid leave."


class Office:
    """`clock`: seconds since 1970, which a test may move; `pauses`: what sources waited for."""

    def __init__(self, graph: GraphServer, folder: Path) -> None:
        self.graph, self._folder = graph, folder
        self.now = 1_772_000_000.0
        self.pauses: list[float] = []
        self.site = graph.site()
        self.documents = graph.library(self.site)
        self.documents.edit("root", permissions=[site_group("HR Members", role="write")])
        self.site.pages = Drive(id="b!hr-pages", name="Site Pages", template="webPageLibrary")
        self.site.pages.edit("root", permissions=[site_group("HR Members")])
        self._sources: list[SharePointSource] = []

    @property
    def pages(self) -> Drive:
        assert self.site.pages is not None
        return self.site.pages

    def settings(self, **more: Any) -> SharePointSettings:
        chosen: dict[str, Any] = {
            "tenant": TENANT,
            "client_id": self.graph.client_id,
            "client_secret": self.graph.secret,
            "sites": (f"https://{SITE}",),
            "readers": {"HR Members": ("#hr",)},
            "graph_url": f"{self.graph.url}/v1.0",
            "login_url": self.graph.url,
            **more,
        }
        return SharePointSettings(kind="sharepoint", name="office", **chosen)

    def source(self, *, kept: str = "kept", **more: Any) -> SharePointSource:
        made = SharePointSource(
            self.settings(**more), self._folder / kept, sleep=self._sleep, clock=self._clock()
        )
        self._sources.append(made)
        return made

    def path(self, item: str, drive: Drive | None = None, place: str = SITE) -> str:
        drive = drive or self.documents
        name = drive.nodes[item].name
        return f"{place}/{drive.id}/{item}.{name.rpartition('.')[2].lower()}"

    async def close(self) -> None:
        for source in self._sources:
            await source.close()

    def _clock(self) -> Callable[[], float]:
        return lambda: self.now

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
