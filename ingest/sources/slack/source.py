"""A Slack export as a source. Conversations in private are never read; private channels only where they are named."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from ingest.errors import PageError, SourceUnavailableError
from ingest.sources.port import ConfiguredSource, PageRef, RawPage, fingerprint
from ingest.sources.slack.archive import Archive, ArchiveError
from ingest.sources.slack.people import Directory, Names, Pseudonyms
from ingest.sources.slack.threads import thread_page, threads_of
from kb.config.sources import SlackExportSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class _Channel:
    id: str
    name: str
    private: bool
    pins: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    """A channel's threads by their paths. `broken`: why days of it could not be read."""

    pages: Mapping[str, RawPage]
    broken: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        return f"not all of this channel can be read: {'; '.join(self.broken)}"


class SlackExportSource(ConfiguredSource[SlackExportSettings]):
    def __init__(self, settings: SlackExportSettings, _folder: Path | None = None) -> None:
        super().__init__(settings)
        self._path = settings.path.expanduser().resolve()
        self._accepted = frozenset(settings.accepted)
        self._left_out: frozenset[str] = frozenset()
        """Ids of channels that the export holds and that are not read, such as one that was made private."""
        self._read: tuple[str, _Read] = ("", _Read(pages={}))
        """The channel that was read last: pages are fetched channel by channel."""

    def url_of(self, path: str) -> str:
        if self._settings.workspace_url is None:
            return path
        channel, _, ts = path.partition("/")
        return f"{str(self._settings.workspace_url).rstrip('/')}/archives/{channel}/p{ts.replace('.', '')}"

    def withdraws(self, path: str) -> bool:
        return path.partition("/")[0] in self._left_out

    async def discover(self) -> AsyncIterator[PageRef]:
        """Lists the marked threads.

        A channel of which a day cannot be read is listed as far as it can, and as a part that failed; where that leaves
        no page at all the export itself is at fault.
        """
        broken: dict[str, str] = {}
        listed = 0
        try:
            for channel in await asyncio.to_thread(self._channels):
                read = await asyncio.to_thread(self._pages, channel)
                for path, page in read.pages.items():
                    listed += 1
                    yield PageRef(path=path, revision=page.revision, size=len(page.content))
                if read.broken:
                    broken[f"{channel.id}/"] = read.reason
        except ArchiveError as error:
            raise SourceUnavailableError(f"source {self.name!r}: {error}") from error
        if broken and not listed:
            raise SourceUnavailableError(f"source {self.name!r}: {next(iter(broken.values()))}")
        for path in broken:
            yield PageRef(path=path, revision=None)

    async def fetch(self, ref: PageRef) -> RawPage:
        channel_id = ref.path.partition("/")[0]
        try:
            if self._read[0] != channel_id:
                channels = {channel.id: channel for channel in await asyncio.to_thread(self._channels)}
                channel = channels.get(channel_id)
                read = await asyncio.to_thread(self._pages, channel) if channel else _Read(pages={})
                self._read = (channel_id, read)
        except ArchiveError as error:
            raise PageError(str(error)) from error
        read = self._read[1]
        page = read.pages.get(ref.path)
        if page is None:
            if read.broken:  # what is missing may be what marked the thread
                raise PageError(read.reason)
            raise PageError("the thread is no longer in the export, or no longer marked", withdraw=True)
        return page

    async def close(self) -> None:
        self._read = ("", _Read(pages={}))

    def _channels(self) -> list[_Channel]:
        """Returns the channels that are read.

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
        chosen = [channel for channel in found if (channel.name in wanted if wanted else not channel.private)]
        self._left_out = frozenset(channel.id for channel in found) - {channel.id for channel in chosen}
        return chosen

    def _pages(self, channel: _Channel) -> _Read:
        """Reads the marked threads of a channel.

        Raises:
            ArchiveError: the export cannot be read, or not who its members are.
        """
        records, broken = list[dict[str, Any]](), list[str]()
        with Archive(self._path) as archive:
            directory = Directory(archive.records("users.json") or archive.records("org_users.json"))
            for day in archive.days(channel.name):
                try:
                    records += archive.records(day)
                except ArchiveError as error:
                    broken.append(str(error))
        pages = {}
        for thread in threads_of(records, channel=channel.id, pins=channel.pins):
            if not thread.is_kept(self._accepted):
                continue
            people = Names(directory) if self._settings.people == "names" else Pseudonyms(directory)
            read = thread_page(thread, channel=channel.name, people=people, accepted=self._accepted)
            notes = list(read.notes)
            if broken and thread.unread:
                notes.append(f"{thread.unread} of its replies are missing: {'; '.join(broken)}")
            path = f"{channel.id}/{thread.ts}"
            if read.markdown:
                edited = max(message.day for message in thread.messages)
                pages[path] = self._page(path, read.markdown, channel, edited, tuple(notes))
        return _Read(pages=pages, broken=tuple(broken))

    def _page(self, path: str, text: str, channel: _Channel, edited: date, notes: tuple[str, ...]) -> RawPage:
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
            notes=notes,
        )


def _channel(record: Mapping[str, Any], *, private: bool) -> _Channel:
    return _Channel(
        id=str(record.get("id", "")),
        name=str(record.get("name", "")),
        private=private,
        pins=frozenset(str(pin.get("id", "")) for pin in record.get("pins") or []),
    )
