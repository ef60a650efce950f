"""Somebody else's Slack: npm's `local-slack`, which knows nothing of us. It is started here and driven as its people.

It listens on every address whatever it is told, has no admins, gives every socket every event and sends none again.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any, Self

import aiohttp

from tests.fakes.office import free_port
from tests.fakes.waiting import until

PACKAGE = "local-slack-linux-x64@0.1.8"
ROOT = Path(__file__).parents[2]
MISSING = (
    f"local-slack is not here: `npm install --no-save --no-package-lock {PACKAGE}` in the project's root, "
    "or FOOTNOTE_LOCAL_SLACK=its binary"
)
BOT, ALICE, DANA, GENERAL = "U0BOT", "U01ALICE", "U01DANA", "C01GENERAL"


def binary() -> Path | None:
    named = os.environ.get("FOOTNOTE_LOCAL_SLACK")
    found = (
        Path(named) if named else ROOT / "node_modules" / PACKAGE.split("@")[0] / "bin" / "local-slack"
    ).resolve()
    return found if os.access(found, os.X_OK) else None


class LocalSlack:
    """A workspace with one channel, two people and our bot. `events_url`: signed HTTP events; None: Socket Mode."""

    bot_token, app_token, signing_secret = "xoxb-local", "xapp-local", "local-signing-secret"

    def __init__(self, folder: Path, events_url: str | None = None) -> None:
        self._folder = folder
        self._how = {"mode": "events", "requestUrl": events_url} if events_url else {"mode": "socket"}
        self._url = f"http://127.0.0.1:{free_port()}"
        self._process: asyncio.subprocess.Process | None = None
        self._http = aiohttp.ClientSession(self._url)

    @property
    def api_url(self) -> str:
        return f"{self._url}/api/"

    async def __aenter__(self) -> Self:
        config = self._folder / "local-slack.json"
        config.write_text(json.dumps(self._workspace()), encoding="utf-8")
        found = binary()
        assert found is not None
        port = self._url.rpartition(":")[2]
        arguments = ["--config", config, "--port", port, "--base-host", "127.0.0.1"]
        with (self._folder / "local-slack.log").open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(found, *arguments, stdout=log, stderr=log)
        await until(self._answers, seconds=60, pause=0.1)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.close()
        if self._process is not None:
            self._process.terminate()
            await self._process.wait()

    async def say(self, user: str, text: str, thread_ts: str | None = None) -> str:
        told = await self._control("message", user=user, text=text, thread_ts=thread_ts)
        return str(told["message"]["ts"])

    async def command(self, user: str, command: str, text: str) -> None:
        await self._control("command", user=user, command=command, text=text)

    async def messages(self) -> list[dict[str, Any]]:
        """Everything in the channel, threads and ephemeral messages included."""
        return list((await self._told(f"messages/{GENERAL}"))["messages"])

    async def replies(self, thread_ts: str) -> list[dict[str, Any]]:
        """The bot's messages in a thread."""
        return [
            one for one in await self.messages() if one.get("thread_ts") == thread_ts and one["user"] == BOT
        ]

    async def log(self) -> list[dict[str, Any]]:
        """What went to the bot and what came from it, as local-slack saw it."""
        return list((await self._told("log"))["log"])

    async def quiet(self, *, seconds: float = 2.0) -> None:
        """Returns when nothing was said to or by the bot for a while."""
        seen = -1
        while seen != (now := len(await self.log())):
            seen = now
            await asyncio.sleep(seconds)

    def _workspace(self) -> dict[str, Any]:
        app = {
            "appId": "A01APP",
            "botUserId": BOT,
            "botName": "footnote",
            "signingSecret": self.signing_secret,
        }
        tokens = {"botToken": self.bot_token, "appToken": self.app_token}
        people = ((ALICE, "alice", "Alice Anderson"), (DANA, "dana", "Dana Levi"))
        return {
            "workspace": {"name": "Havik", "domain": "havik", "teamId": "T01HAVIK"},
            "apps": [app | tokens | self._how],
            "users": [
                {"id": user, "name": name, "real_name": full, "email": f"{name}@havik.example"}
                for user, name, full in people
            ],
            "channels": [{"id": GENERAL, "name": "general", "members": [ALICE, DANA, BOT]}],
        }

    async def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.returncode is None, "local-slack ended at its start"
        try:
            await self.log()
        except aiohttp.ClientError:
            return False
        return True

    async def _told(self, what: str) -> dict[str, Any]:
        async with self._http.get(f"/_control/{what}") as response:
            return dict(await response.json())

    async def _control(self, action: str, **fields: str | None) -> dict[str, Any]:
        body = {"channel": GENERAL} | {name: value for name, value in fields.items() if value is not None}
        async with self._http.post(f"/_control/{action}", json=body) as response:
            told = dict(await response.json())
        assert told.get("ok"), told
        return told
