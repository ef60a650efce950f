"""What `footnote doctor` says of sources on GitHub."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.cli.checks.check import Check
from bot.cli.checks.sources import source_checks
from kb.config.settings import Settings
from tests.fakes.github import Github

PUBLIC, PRIVATE = "source answers, acme/product", "source answers, acme/internal"


@pytest.fixture
async def github() -> AsyncIterator[Github]:
    async with Github() as server:
        server.repo("acme/product")
        server.repo("acme/internal", private=True, visibility="private")
        yield server


async def checked(github: Github, tmp_path: Path, **changes: Any) -> dict[str, Check]:
    source = {
        "kind": "github", "name": "answers", "repositories": ["acme/product", "acme/internal"],
        "api_url": github.url, "token": github.token,
    }  # fmt: skip
    settings = Settings.model_validate({"data": tmp_path, "sources": [source | changes]})
    return {check.name: check for check in await source_checks(settings)}


async def test_a_repository_that_is_read_is_fine_and_a_closed_one_says_whom_to_name(
    github: Github, tmp_path: Path
) -> None:
    found = await checked(github, tmp_path)
    assert (found[PUBLIC].state, found[PUBLIC].told) == (
        "ok", "public, for everyone; reads issues, discussions, wiki",
    )  # fmt: skip
    assert found[PRIVATE].state == "warning"
    assert "`readers`" in found[PRIVATE].mend
    named = (await checked(github, tmp_path, readers={"acme/internal": ["#eng"]}))[PRIVATE]
    assert (named.state, named.told) == ("ok", "not public, for #eng; reads issues, discussions, wiki")


async def test_an_expired_token_is_broken_and_never_shown(github: Github, tmp_path: Path) -> None:
    found = await checked(github, tmp_path, token="ghp_expired")
    assert {check.state for check in found.values()} == {"broken"}
    assert "set GITHUB_TOKEN" in found[PUBLIC].mend
    assert "ghp_expired" not in repr(found)


async def test_a_permission_that_is_missing_is_named(github: Github, tmp_path: Path) -> None:
    github.fail("discussions(", 403, {"message": "Resource not accessible by personal access token"})
    check = (await checked(github, tmp_path))[PUBLIC]
    assert check.state == "broken"
    assert "permission to read Discussions" in check.mend


async def test_a_repository_that_is_not_there_or_was_renamed_is_told(github: Github, tmp_path: Path) -> None:
    github.repo("acme/old", renamed_to="acme/product")
    found = await checked(github, tmp_path, repositories=["acme/old", "acme/nothing"])
    assert "acme/product" in found["source answers, acme/old"].mend
    assert found["source answers, acme/nothing"].state == "broken"
    assert "correct `repositories`" in found["source answers, acme/nothing"].mend


async def test_without_a_token_it_says_what_is_missed(github: Github, tmp_path: Path) -> None:
    found = await checked(github, tmp_path, token=None, repositories=["acme/product"], discussions=False)
    assert found["source answers, token"].state == "warning"
    assert found[PUBLIC].state == "ok"


async def test_a_limit_is_told_and_not_waited_for(github: Github, tmp_path: Path) -> None:
    reset = str(int(time.time()) + 1800)
    github.fail(
        "/repos", 403, {"message": "API rate limit"}, x_ratelimit_remaining="0", x_ratelimit_reset=reset
    )
    began = time.monotonic()
    check = (await checked(github, tmp_path, repositories=["acme/product"]))[PUBLIC]

    assert (check.state, time.monotonic() - began < 30) == ("broken", True)
    assert "try later" in f"{check.told} {check.mend}"


async def test_without_such_a_source_nothing_is_asked(tmp_path: Path) -> None:
    assert await source_checks(Settings.model_validate({"data": tmp_path})) == []
