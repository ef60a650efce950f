"""A git server on loopback: git's own `http-backend`, behind a password where one is set."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import subprocess
from pathlib import Path
from typing import Self

from aiohttp import web

from tests.fakes.served import Served


def git(root: Path, *arguments: str, day: str = "2024-03-05") -> str:
    stamp = f"{day}T12:00:00+0000"
    done = subprocess.run(
        [
            "git",
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@example.com",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "maintenance.auto=false",
            *arguments,
        ],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp},
    )
    return done.stdout


class GitServer(Served):
    """`root/work` is where an author commits; `push` brings it to what the server shows."""

    def __init__(self, root: Path, *, password: str | None = None) -> None:
        self._root = root
        self._password = password
        self.work = root / "work"
        self.served = root / "served" / "docs.git"
        self.down = False
        self.url = ""

    async def __aenter__(self) -> Self:
        (self._root / "served").mkdir(parents=True)
        git(self._root, "init", "-q", "--bare", "-b", "main", "--template=", "served/docs.git")
        git(self._root, "init", "-q", "-b", "main", "--template=", "work")
        for repository, settings in (
            (self.served, "[uploadpack]\n\tallowFilter = true\n[receive]\n\tautogc = false\n"),
            (self.work / ".git", f'[remote "origin"]\n\turl = {self.served}\n'),
        ):
            with (repository / "config").open("a") as config:  # a process for each setting takes longer
                config.write(settings)
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.answer)
        self.url = await self.serve(app) + "/docs.git"
        return self

    def push(self, *, day: str = "2024-03-05", **files: str | None) -> None:
        """Commits files (a name's `__` is a slash, `_` before the last word
        its dot; None deletes) and publishes them.
        """
        for name, text in files.items():
            path = self.work / (name.replace("__", "/").rpartition("_")[0] + "." + name.rpartition("_")[2])
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        self.publish(day=day)

    def publish(self, *, day: str = "2024-03-05") -> None:
        git(self.work, "add", "-A")
        git(self.work, "commit", "-q", "-m", "edit", "--allow-empty", day=day)
        git(self.work, "push", "-q", "--force", "origin", "HEAD")

    def wipe(self) -> None:
        shutil.rmtree(self._root / "served/docs.git")

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if self.down:
            return web.Response(status=503)
        if self._password is not None:
            pair = base64.b64encode(f"x-access-token:{self._password}".encode()).decode()
            if request.headers.get("Authorization") != f"Basic {pair}":
                return web.Response(status=401, headers={"WWW-Authenticate": "Basic realm=git"})
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self._root / "served"),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": request.path,
            "QUERY_STRING": request.query_string,
            "REQUEST_METHOD": request.method,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        }
        process = await asyncio.create_subprocess_exec(
            "git", "http-backend", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, env=environment,
        )  # fmt: skip
        output, _ = await process.communicate(await request.read())
        head, _, body = output.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        status = int(headers.pop("Status", "200").split(" ")[0])
        return web.Response(status=status, headers=headers, body=body)
