"""A checkout that somebody else made names programs in its settings: reading and pulling it runs none of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ingest.errors import SourceUnavailableError
from ingest.sources.folder import FolderSource
from kb.config.settings import SourceSettings
from tests.fakes.git_server import git

PLANTED = {
    "core.fsmonitor": "{run}",
    "core.sshCommand": "{run}",
    "core.gitProxy": "{run}",
    "core.pager": "{run}",
    "core.editor": "{run}",
    "core.askPass": "{run}",
    "core.alternateRefsCommand": "{run}",
    "core.worktree": "../../elsewhere",
    "core.attributesFile": "../attributes",
    "filter.evil.smudge": "{run}",
    "filter.evil.clean": "{run}",
    "filter.evil.process": "{run}",
    "filter.lfs.smudge": "{run}",
    "diff.external": "{run}",
    "diff.evil.textconv": "{run}",
    "diff.evil.command": "{run}",
    "merge.evil.driver": "{run}",
    "credential.helper": "!{run}",
    "gpg.program": "{run}",
    "gc.recentObjectsHook": "{run}",
    "remote.origin.uploadpack": "{run}",
    "remote.origin.vcs": "evil",
    "url.ext::{run}.insteadOf": "{origin}",
    "submodule.evil.update": "!{run}",
    "http.proxy": "http://127.0.0.1:9",
    "alias.pull": "!{run}",
    "include.path": "../planted.config",
    "includeIf.gitdir:/.path": "../planted.config",
    "protocol.ext.allow": "always",
}
HOOKS = (
    "post-merge",
    "post-checkout",
    "pre-merge-commit",
    "reference-transaction",
    "pre-auto-gc",
    "fsmonitor-watchman",
    "post-rewrite",
)


class Checkout:
    """`canary` is there as soon as something that was planted has run."""

    def __init__(self, root: Path, made: Path) -> None:
        """Copies the repositories of `made`: making them takes seven processes."""
        shutil.copytree(made, root, dirs_exist_ok=True)
        self.canary = root / "canary"
        self.run = root / "run.sh"
        self.run.write_text(f"#!/bin/sh\ntouch {self.canary}\nexit 0\n")
        self.run.chmod(0o755)
        self.work, self.origin, self.path = root / "work", root / "origin.git", root / "checkout"
        for folder in (self.work, self.path):
            config = folder / ".git/config"
            config.write_text(config.read_text().replace(str(made), str(root)))
        (root / "elsewhere").mkdir()
        (root / "planted.config").write_text(f"[core]\n\tfsmonitor = {self.run}\n")

    def plant(self, name: str, value: str) -> None:
        name, value = (told.format(run=self.run, origin=self.origin) for told in (name, value))
        git(self.path, "config", name, value)

    def push(self) -> None:
        commit(self.work, "Second.")
        git(self.work, "push", "-q", "origin", "main")

    async def pages(self, *, pull: bool) -> list[str]:
        source = FolderSource(SourceSettings(name="kb", path=self.path, pull=pull))
        refs = [ref async for ref in source.discover()]
        return [(await source.fetch(ref)).content.decode() for ref in refs]


def commit(work: Path, text: str) -> None:
    (work / "leave.md").write_text(f"# Leave\n\n{text}\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", text)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository, its origin and a checkout of that, in which nothing is planted yet."""
    root = tmp_path_factory.mktemp("made")
    git(root, "init", "-q", "-b", "main", "work")
    (root / "work/.gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    commit(root / "work", "First.")
    git(root, "clone", "-q", "--bare", "work", "origin.git")
    git(root / "work", "remote", "add", "origin", str(root / "origin.git"))
    git(root, "clone", "-q", "origin.git", "checkout")
    return root


@pytest.fixture
def checkout(tmp_path: Path, made: Path) -> Checkout:
    return Checkout(tmp_path, made)


async def test_git_itself_would_run_them(checkout: Checkout) -> None:
    checkout.plant("core.fsmonitor", "{run}")
    git(checkout.path, "status")
    assert checkout.canary.exists()


@pytest.mark.parametrize("name", PLANTED)
async def test_a_setting_that_may_run_a_program_keeps_a_folder_from_being_pulled(
    checkout: Checkout, name: str
) -> None:
    checkout.push()
    checkout.plant(name, PLANTED[name])
    with pytest.raises(
        SourceUnavailableError, match=r"is not pulled: its \.git/config has .*git config --global"
    ):
        await checkout.pages(pull=True)
    assert not checkout.canary.exists()


@pytest.mark.parametrize("name", PLANTED)
async def test_a_folder_with_such_a_setting_is_read_without_running_it(checkout: Checkout, name: str) -> None:
    checkout.plant(name, PLANTED[name])
    assert await checkout.pages(pull=False) == ["# Leave\n\nFirst.\n"]
    assert not checkout.canary.exists()


@pytest.mark.parametrize("hook", HOOKS)
async def test_hooks_of_the_folder_do_not_run(checkout: Checkout, hook: str) -> None:
    checkout.push()
    planted = checkout.path / ".git/hooks" / hook
    planted.parent.mkdir(exist_ok=True)
    planted.write_bytes(checkout.run.read_bytes())
    planted.chmod(0o755)
    assert await checkout.pages(pull=True) == ["# Leave\n\nSecond.\n"]
    assert not checkout.canary.exists()


async def test_an_address_that_is_a_command_is_not_followed(checkout: Checkout) -> None:
    checkout.plant("remote.origin.url", "ext::{run} x")
    with pytest.raises(SourceUnavailableError, match="not allowed"):
        await checkout.pages(pull=True)
    assert not checkout.canary.exists()


async def test_ordinary_settings_do_not_keep_a_folder_from_being_pulled(checkout: Checkout) -> None:
    checkout.push()
    for name, value in {
        "user.email": "ann@example.com",
        "pull.rebase": "true",
        "branch.main.rebase": "true",
        "core.autocrlf": "input",
        "core.commentChar": ";",
        "core.fsync": "none",
        "core.whitespace": "tab-in-indent",
        "diff.context": "5",
    }.items():
        checkout.plant(name, value)
    assert await checkout.pages(pull=True) == ["# Leave\n\nSecond.\n"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
async def test_a_folder_of_another_user_is_read_and_not_pulled(checkout: Checkout) -> None:
    checkout.push()
    checkout.plant("core.fsmonitor", "{run}")
    for path in (checkout.path, *checkout.path.rglob("*")):
        os.chown(path, 4242, -1)
    with pytest.raises(SourceUnavailableError, match=r"belongs to another user.*chown -R.*safe\.directory"):
        await checkout.pages(pull=True)
    assert await checkout.pages(pull=False) == ["# Leave\n\nFirst.\n"]
    assert not checkout.canary.exists()
