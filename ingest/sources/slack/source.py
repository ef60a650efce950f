"""A Slack export as a source. Conversations in private are never read; private channels only where they are named."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from ingest.errors import PageError, SourceUnavailableError
from ingest.sources.port import ConfiguredSource, PageRef, RawPage, fingerprint
from ingest.sources.slack.archive import Archive, ArchiveError
from ingest.sources.slack.people import Directory, Names, Pseudonyms
from ingest.sources.slack.threads import page_of, threads_of
from kb.source_settings import SlackExportSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class _Channel:
    id: str
    name: str
    private: bool
    pins: frozenset[str]


class SlackExportSource(ConfiguredSource[SlackExportSettings]):
    def __init__(self, settings: SlackExportSettings) -> None:
        super().__init__(settings)
        self._path = settings.path.expanduser().resolve()
        self._accepted = frozenset(settings.accepted)
        self._read: tuple[str, Mapping[str, RawPage]] = ("", {})
        """The channel that was read last: pages are fetched channel by channel."""

    def url_of(self, path: str) -> str:
        if self._settings.workspace_url is None:
            return path
        channel, _, ts = path.partition("/")
        return f"{str(self._settings.workspace_url).rstrip('/')}/archives/{channel}/p{ts.replace('.', '')}"

    async def discover(self) -> AsyncIterator[PageRef]:
        try:
            channels = await asyncio.to_thread(self._channels)
            for channel in channels:
                pages = await asyncio.to_thread(self._pages, channel)
                for path, page in pages.items():
                    yield PageRef(path=path, revision=page.revision, size=len(page.content))
        except ArchiveError as error:
            raise SourceUnavailableError(f"source {self.name!r}: {error}") from error

    async def fetch(self, ref: PageRef) -> RawPage:
        channel_id = ref.path.partition("/")[0]
        try:
            if self._read[0] != channel_id:
                channels = {channel.id: channel for channel in await asyncio.to_thread(self._channels)}
                pages = (
                    await asyncio.to_thread(self._pages, channels[channel_id])
                    if channel_id in channels
                    else {}
                )
                self._read = (channel_id, pages)
        except ArchiveError as error:
            raise PageError(str(error)) from error
        page = self._read[1].get(ref.path)
        if page is None:
            raise PageError("the thread is no longer in the export, or no longer marked", withdraw=True)
        return page

    async def close(self) -> None:
        self._read = ("", {})

    def _channels(self) -> list[_Channel]:
        """
        Raises:
            ArchiveError: the export cannot be read, or a channel that the settings name is not in it.
        """
        with Archive(self._path) as archive:
            found = [_channel(record, private=False) for record in archive.records("channels.json")]
            found += [_channel(record, private=True) for record in archive.records("groups.json")]
        wanted = {name.removeprefix("#") for name in self._settings.channels}
        missing = wanted - {channel.name for channel in found}
        if missing:
            raise ArchiveError(f"the export has no channel {', '.join(sorted(missing))}: correct `channels`")
        return [channel for channel in found if (channel.name in wanted if wanted else not channel.private)]

    def _pages(self, channel: _Channel) -> dict[str, RawPage]:
        with Archive(self._path) as archive:
            directory = Directory(archive.records("users.json") or archive.records("org_users.json"))
            records = [record for day in archive.days(channel.name) for record in archive.records(day)]
        pages = {}
        for thread in threads_of(records, channel=channel.id, pins=channel.pins):
            if not thread.is_kept(self._accepted):
                continue
            people = Names(directory) if self._settings.people == "names" else Pseudonyms(directory)
            text = page_of(thread, channel=channel.name, people=people, accepted=self._accepted)
            path = f"{channel.id}/{thread.ts}"
            if text:
                pages[path] = self._page(path, text, channel, max(one.day for one in thread.messages))
        return pages

    def _page(self, path: str, text: str, channel: _Channel, edited: date) -> RawPage:
        audience = (channel.id,) if channel.private else None  # its name may be another channel's by now
        url, content = self.url_of(path), text.encode()
        return RawPage(
            path=path,
            revision=fingerprint((content, str(edited).encode(), url.encode(), repr(audience).encode())),
            content=content,
            url=url,
            edited=edited,
            media_type="text/markdown",
            audience=audience,
        )


def _channel(record: Mapping[str, Any], *, private: bool) -> _Channel:
    return _Channel(
        id=str(record.get("id", "")),
        name=str(record.get("name", "")),
        private=private,
        pins=frozenset(str(pin.get("id", "")) for pin in record.get("pins") or []),
    )
