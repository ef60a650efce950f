"""Each kind of source with a place that it reads, in which a test can write, edit, remove and break things."""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from ingest.sources.confluence.source import ConfluenceSource
from ingest.sources.folder import FolderSource
from ingest.sources.github.source import GithubSource
from ingest.sources.notion.source import NotionSource
from ingest.sources.port import Source
from ingest.sources.repository import GitSource
from ingest.sources.slack.source import SlackExportSource
from ingest.sources.web.source import WebsiteSource
from kb.config.sources import (
    ConfluenceSettings,
    FolderSettings,
    GithubSettings,
    GitSettings,
    NotionSettings,
    SlackExportSettings,
    WebsiteSettings,
)
from tests.fakes.confluence import Confluence, Page
from tests.fakes.drive_world import DriveWorld
from tests.fakes.git_server import GitServer, git
from tests.fakes.github import Github, Post, Thread
from tests.fakes.google_drive import Drive
from tests.fakes.graph import GraphServer
from tests.fakes.notion import Notion
from tests.fakes.sharepoint_world import SharePointWorld
from tests.fakes.website import Website, article, busy, web_text

NAME = "kb"
TEXTS = {
    "one": "Everybody who works here has a right to twenty-five days of paid leave in each calendar year.",
    "two": "Sick leave is reported by telephone before nine in the morning to the manager of the team.",
    "three": "The coffee machine in the kitchen is cleaned every Friday by the facilities team.",
}


class World(Protocol):
    """`paths`: the key of a text -> the path under which the source lists it.
    `kept`, where there is one: the folder that the source keeps things in.
    """

    paths: dict[str, str]

    def source(self, **settings: Any) -> Source:
        """A new source over this place."""

    def edit(self, key: str, text: str) -> None: ...
    def remove(self, key: str) -> None: ...
    def break_down(self) -> None:
        """From now on the place does not answer."""

    def break_page(self, key: str) -> bool:
        """The next two times that this changed page is read, it cannot be:
        a sync tries twice. False: a page alone cannot break here.
        """

    def limit(self, key: str) -> bool:
        """From now on the page is not for everyone. False: the place knows no such limit, or does not tell it."""

    def slow_down(self) -> bool:
        """The next request is refused for its rate. False: nothing is asked of a server that has limits."""


async def _no_sleep(seconds: float) -> None:
    await asyncio.sleep(0)


class _FolderWorld:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.paths = {key: f"pages/{key}.md" for key in TEXTS}
        for key, text in TEXTS.items():
            self._write(key, text)

    def source(self, **settings: Any) -> Source:
        return FolderSource(FolderSettings(name=NAME, path=self.root, **settings))

    def edit(self, key: str, text: str) -> None:
        self._write(key, text)

    def remove(self, key: str) -> None:
        (self.root / self.paths[key]).unlink()

    def break_down(self) -> None:
        self.root.rename(self.root.with_name("elsewhere"))

    def break_page(self, key: str) -> bool:
        self._write(key, "binary \0 data")
        return True

    def limit(self, key: str) -> bool:
        self._write(key, TEXTS[key], head="---\naudience: ['#leads']\n---\n")
        return True

    def slow_down(self) -> bool:
        return False

    def _write(self, key: str, text: str, head: str = "") -> None:
        file = self.root / self.paths[key]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{head}# Page {key}\n\n{text}\n")


@asynccontextmanager
async def folder(tmp_path: Path) -> AsyncIterator[World]:
    yield _FolderWorld(tmp_path / "folder")


@asynccontextmanager
async def checkout(tmp_path: Path) -> AsyncIterator[World]:
    world = _FolderWorld(tmp_path / "checkout")
    git(world.root, "init", "-q")
    git(world.root, "add", "-A")
    git(world.root, "commit", "-q", "-m", "pages")
    yield world


class _GitWorld(_FolderWorld):
    def __init__(self, server: GitServer, clones: Path) -> None:
        self._server, self.kept = server, clones
        super().__init__(server.work)
        server.publish()

    def source(self, **settings: Any) -> Source:
        return GitSource(GitSettings(kind="git", name=NAME, url=self._server.url, **settings), self.kept)

    def edit(self, key: str, text: str) -> None:
        super().edit(key, text)
        self._server.publish()

    def remove(self, key: str) -> None:
        super().remove(key)
        self._server.publish()

    def break_down(self) -> None:
        self._server.down = True

    def break_page(self, key: str) -> bool:
        return super().break_page(key) and self._publish()

    def limit(self, key: str) -> bool:
        return super().limit(key) and self._publish()

    def _publish(self) -> bool:
        self._server.publish()
        return True


@asynccontextmanager
async def repository(tmp_path: Path) -> AsyncIterator[World]:
    async with GitServer(tmp_path / "server") as server:
        yield _GitWorld(server, tmp_path / "clones")


class _WebsiteWorld:
    def __init__(self, site: Website, memory: Path) -> None:
        self._site, self.kept = site, memory
        self.paths = {key: f"127.0.0.1:{site.port}/{key}" for key in TEXTS}
        links = "".join(f'<a href="/{key}">{key}</a> ' for key in TEXTS)
        site.pages["/start"] = article(
            "Start", f"{TEXTS['one']} {links}", head='<meta name="robots" content="noindex">'
        )
        for key, text in TEXTS.items():
            self.edit(key, text)

    def source(self, **settings: Any) -> Source:
        chosen = {"start": f"{self._site.url}/start", "delay_s": 0, **settings}
        return WebsiteSource(
            WebsiteSettings(kind="website", name=NAME, **chosen),
            self.kept,
            may_reach=lambda address: address == "127.0.0.1",
            sleep=_no_sleep,
        )

    def edit(self, key: str, text: str) -> None:
        self._site.pages[f"/{key}"] = article(f"Page {key}", text)

    def remove(self, key: str) -> None:
        del self._site.pages[f"/{key}"]

    def break_down(self) -> None:
        self._site.pages = {path: web_text("", status=503) for path in self._site.pages}

    def break_page(self, key: str) -> bool:
        self._site.pages[f"/{key}"] = web_text("", status=500)
        return True

    def limit(self, key: str) -> bool:
        self._site.pages[f"/{key}"] = web_text("log in", status=401)
        return True

    def slow_down(self) -> bool:
        self._site.pages["/one"] = busy(1, article("Page one", TEXTS["one"]), status=429)
        return True


@asynccontextmanager
async def website(tmp_path: Path) -> AsyncIterator[World]:
    async with Website() as site:
        yield _WebsiteWorld(site, tmp_path / "memory")


class _ConfluenceWorld:
    def __init__(self, wiki: Confluence) -> None:
        self._wiki = wiki
        self._ids = {key: str(100 + at) for at, key in enumerate(TEXTS)}
        self.paths = {key: f"ENG/{page_id}" for key, page_id in self._ids.items()}
        wiki.add(
            *(
                Page(id=page_id, title=f"Page {key}", body=f"<p>{TEXTS[key]}</p>")
                for key, page_id in self._ids.items()
            )
        )

    def source(self, **settings: Any) -> Source:
        chosen = {
            "url": self._wiki.url,
            "edition": "cloud" if self._wiki.cloud else "data_center",
            "email": self._wiki.email if self._wiki.cloud else None,
            "token": self._wiki.token,
            **settings,
        }
        return ConfluenceSource(ConfluenceSettings(kind="confluence", name=NAME, **chosen), sleep=_no_sleep)

    def edit(self, key: str, text: str) -> None:
        self._wiki.edit(self._ids[key], body=f"<p>{text}</p>")

    def remove(self, key: str) -> None:
        self._wiki.edit(self._ids[key], status="trashed")

    def break_down(self) -> None:
        self._wiki.fail("", *[503] * 100)

    def break_page(self, key: str) -> bool:
        self.edit(key, "Another text.")
        self._wiki.fail(f"/{self._ids[key]}", 400, 400)
        return True

    def limit(self, key: str) -> bool:
        self._wiki.edit(self._ids[key], groups=("board",))
        return True

    def slow_down(self) -> bool:
        self._wiki.fail("", 429, Retry_After="1")
        return True


@asynccontextmanager
async def confluence_cloud(tmp_path: Path) -> AsyncIterator[World]:
    async with Confluence(cloud=True) as wiki:
        yield _ConfluenceWorld(wiki)


@asynccontextmanager
async def confluence_data_center(tmp_path: Path) -> AsyncIterator[World]:
    async with Confluence(cloud=False) as wiki:
        yield _ConfluenceWorld(wiki)


class _NotionWorld:
    def __init__(self, notion: Notion) -> None:
        self._notion = notion
        self._ids = {
            key: notion.page(f"Page {key}", notion.block("paragraph", words=text))
            for key, text in TEXTS.items()
        }
        self.paths = {key: page_id.replace("-", "") for key, page_id in self._ids.items()}
        self._minute = 0

    def source(self, **settings: Any) -> Source:
        chosen = {"token": self._notion.token, "api_url": self._notion.url, **settings}
        return NotionSource(
            NotionSettings(kind="notion", name=NAME, **chosen),
            clock=lambda: datetime(2026, 8, 22, tzinfo=UTC),
            sleep=_no_sleep,
        )

    def edit(self, key: str, text: str) -> None:
        self._minute += 1
        page_id = self._ids[key]
        self._notion.pages[page_id]["last_edited_time"] = f"2026-04-01T10:{self._minute:02}:00.000Z"
        self._notion.children[page_id] = [self._notion.block("paragraph", words=text)]

    def remove(self, key: str) -> None:
        self._notion.pages[self._ids[key]]["in_trash"] = True

    def break_down(self) -> None:
        self._notion.fail("", *[503] * 100)

    def break_page(self, key: str) -> bool:
        self.edit(key, "Another text.")
        self._notion.fail(f"/blocks/{self.paths[key]}", 400, 400)
        return True

    def limit(self, key: str) -> bool:
        return False

    def slow_down(self) -> bool:
        self._notion.fail("", 429, Retry_After="1")
        return True


@asynccontextmanager
async def notion(tmp_path: Path) -> AsyncIterator[World]:
    async with Notion() as server:
        yield _NotionWorld(server)


class _SlackWorld:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._texts = dict(TEXTS)
        self.paths = {key: f"C1/{1_700_000_000 + at}.000100" for at, key in enumerate(TEXTS)}
        self._write()

    def source(self, **settings: Any) -> Source:
        return SlackExportSource(
            SlackExportSettings(kind="slack_export", name=NAME, path=self._file, **settings)
        )

    def edit(self, key: str, text: str) -> None:
        self._texts[key] = text
        self._write()

    def remove(self, key: str) -> None:
        del self._texts[key]
        self._write()

    def break_down(self) -> None:
        self._file.write_bytes(b"PK half a download")

    def break_page(self, key: str) -> bool:
        return False

    def limit(self, key: str) -> bool:
        return False

    def slow_down(self) -> bool:
        return False

    def _write(self) -> None:
        messages = [
            {
                "type": "message",
                "ts": self.paths[key].partition("/")[2],
                "user": "U1",
                "text": text,
                "pinned_to": ["C1"],
            }
            for key, text in self._texts.items()
        ]
        with zipfile.ZipFile(self._file, "w") as archive:
            archive.writestr("channels.json", json.dumps([{"id": "C1", "name": "general"}]))
            archive.writestr("users.json", "[]")
            archive.writestr("general/2023-11-14.json", json.dumps(messages))


@asynccontextmanager
async def slack_export(tmp_path: Path) -> AsyncIterator[World]:
    yield _SlackWorld(tmp_path / "export.zip")


class _GithubWorld:
    """One page of each kind. `kinds`: of the texts one, two and three; the second is edited and removed."""

    REPOSITORY = "acme/product"

    def __init__(self, github: Github, folder: Path, kinds: tuple[str, str, str]) -> None:
        self._github, self._folder, self.kept = github, folder, folder / "clones"
        self._kinds = dict(zip(TEXTS, kinds, strict=True))
        self._minute = 0
        self.paths = {
            key: f"{self.REPOSITORY}/{kind}/{f'Page-{key}.md' if kind == 'wiki' else at + 1}"
            for at, (key, kind) in enumerate(self._kinds.items())
        }

    async def fill(self) -> None:
        self._repo = self._github.repo(self.REPOSITORY)
        self._wiki = await self._github.wiki(self.REPOSITORY, self._folder / "server")
        for key, text in TEXTS.items():
            self.edit(key, text)

    def source(self, **settings: Any) -> Source:
        chosen = {"token": self._github.token, "api_url": self._github.url, **settings}
        return GithubSource(
            GithubSettings(kind="github", name=NAME, repositories=(self.REPOSITORY,), **chosen),
            self.kept,
            sleep=_no_sleep,
        )

    def edit(self, key: str, text: str) -> None:
        kind, _, place = self.paths[key].removeprefix(f"{self.REPOSITORY}/").partition("/")
        if kind == "wiki":
            self._write(place, text)
            return
        self._minute += 1
        thread = Thread(
            number=int(place),
            title=f"Page {key}",
            question=Post(body=f"Who knows about {key}?"),
            comments=[Post(body=text, author="dana", association="MEMBER")],
            labels=["answered"],
            answer=0 if kind == "discussions" else None,
            updated=f"2026-04-01T10:{self._minute:02}:00Z",
        )
        getattr(self._repo, kind)[thread.number] = thread

    def remove(self, key: str) -> None:
        kind, _, place = self.paths[key].removeprefix(f"{self.REPOSITORY}/").partition("/")
        if kind == "wiki":
            self._write(place, None)
        else:
            getattr(self._repo, kind)[int(place)].deleted = True

    def break_down(self) -> None:
        self._github.down = True

    def break_page(self, key: str) -> bool:
        kind, _, place = self.paths[key].removeprefix(f"{self.REPOSITORY}/").partition("/")
        if kind == "wiki":
            self._write(place, "binary \0 data")
            return True
        self.edit(key, "Another text.")
        refused = {"data": {"repository": None}, "errors": [{"type": "FORBIDDEN", "message": "no comments"}]}
        asked, status = ("$number: Int!, $after", 200) if kind == "discussions" else ("/comments", 400)
        for _ in range(2):
            self._github.fail(asked, status, refused if status == 200 else None)
        return True

    def limit(self, key: str) -> bool:
        """The page with its whole repository: GitHub has no other limit."""
        self._repo.private, self._repo.visibility = True, "private"
        return True

    def slow_down(self) -> bool:
        self._github.fail("/", 403, {"message": "You have exceeded a secondary rate limit"}, Retry_After="1")
        return True

    def _write(self, place: str, text: str | None) -> None:
        file = self._wiki.work / place
        if text is None:
            file.unlink()
        else:
            file.write_text(f"# {file.stem}\n\n{text}\n")
        self._wiki.publish()


@asynccontextmanager
async def _github(tmp_path: Path, *kinds: str) -> AsyncIterator[World]:
    async with Github() as server:
        world = _GithubWorld(server, tmp_path, (kinds[0], kinds[1], kinds[2]))
        await world.fill()
        yield world


@asynccontextmanager
async def github_issues(tmp_path: Path) -> AsyncIterator[World]:
    async with _github(tmp_path, "discussions", "issues", "wiki") as world:
        yield world


@asynccontextmanager
async def github_discussions(tmp_path: Path) -> AsyncIterator[World]:
    async with _github(tmp_path, "wiki", "discussions", "issues") as world:
        yield world


@asynccontextmanager
async def github_wiki(tmp_path: Path) -> AsyncIterator[World]:
    async with _github(tmp_path, "issues", "wiki", "discussions") as world:
        yield world


@asynccontextmanager
async def sharepoint_library(tmp_path: Path) -> AsyncIterator[World]:
    async with GraphServer() as server:
        yield SharePointWorld(server, NAME, TEXTS, tmp_path / "known", pages=False)


@asynccontextmanager
async def sharepoint_pages(tmp_path: Path) -> AsyncIterator[World]:
    async with GraphServer() as server:
        yield SharePointWorld(server, NAME, TEXTS, tmp_path / "known", pages=True)


@asynccontextmanager
async def google_drive(tmp_path: Path) -> AsyncIterator[World]:
    async with Drive() as drive:
        yield DriveWorld(drive, NAME, TEXTS, tmp_path / "kept", shared=False)


@asynccontextmanager
async def google_shared_drive(tmp_path: Path) -> AsyncIterator[World]:
    async with Drive() as drive:
        yield DriveWorld(drive, NAME, TEXTS, tmp_path / "kept", shared=True)


WORLDS: dict[str, Callable[[Path], Any]] = {
    one.__name__: one
    for one in (
        folder, checkout, repository, website, confluence_cloud, confluence_data_center, notion, slack_export,
        github_issues, github_discussions, github_wiki, sharepoint_library, sharepoint_pages,
        google_drive, google_shared_drive,
    )
}  # fmt: skip
