"""One owner at a time; a killed owner leaves nothing that blocks the next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kb.errors import DataFolderInUseError, SettingsError
from kb.store.data_folder import DataFolder
from kb.store.sockets import MAX_SOCKET_PATH, make_private, socket_path

OWN_AND_WAIT = """
import sys, time
from pathlib import Path
from kb.store.data_folder import DataFolder
folder = DataFolder(Path(sys.argv[1])).own("serve")
print("owned", flush=True)
time.sleep(60)
"""


@pytest.fixture
def other_owner(tmp_path: Path):
    process = subprocess.Popen(
        [sys.executable, "-c", OWN_AND_WAIT, str(tmp_path / "data")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "owned\n"
        yield process
        process.kill()


def test_a_second_owner_is_told_who_the_first_is(tmp_path: Path, other_owner: subprocess.Popen[str]):
    with pytest.raises(DataFolderInUseError, match=rf"footnote serve.*pid {other_owner.pid}"):
        DataFolder(tmp_path / "data").own("playground")


def test_others_find_the_owner_and_its_socket(tmp_path: Path, other_owner: subprocess.Popen[str]):
    owner = DataFolder(tmp_path / "data").owner()
    assert owner is not None
    assert (owner.pid, owner.command) == (other_owner.pid, "serve")
    assert owner.socket == DataFolder(tmp_path / "data").socket


def test_the_lock_of_a_killed_owner_is_taken_over(tmp_path: Path, other_owner: subprocess.Popen[str]):
    os.kill(other_owner.pid, signal.SIGKILL)
    other_owner.wait()
    folder = DataFolder(tmp_path / "data")
    assert (tmp_path / "data" / "owner.json").exists()
    assert folder.owner() is None
    with folder.own("serve"):
        assert folder.owner() is not None


def test_a_released_folder_has_no_owner(tmp_path: Path):
    with DataFolder(tmp_path).own("ask"):
        pass
    assert DataFolder(tmp_path).owner() is None


def test_the_folder_is_private(tmp_path: Path):
    with DataFolder(tmp_path / "new").own("ask"):
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def modes(folder: Path) -> set[str]:
    return {oct(path.lstat().st_mode & 0o777) for path in folder.rglob("*") if not path.is_symlink()}


@pytest.fixture
def everyday_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("everyday_umask")
def test_an_earlier_folder_and_what_is_in_it_are_made_private(tmp_path: Path):
    data = tmp_path / "data"
    (data / "index" / "gen-1").mkdir(parents=True)
    (data / "index" / "gen-1" / "points").write_text("limited")
    (data / "uploads").mkdir()
    (data / "uploads" / "pay.md").write_text("limited")
    (data / "lock").touch()
    elsewhere = tmp_path / "elsewhere.md"
    elsewhere.write_text("somebody's")
    (data / "uploads" / "link.md").symlink_to(elsewhere)
    for path in (data, *data.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)

    with DataFolder(data).own("serve") as folder:
        assert data.stat().st_mode & 0o777 == 0o700
        assert modes(data) == {"0o700", "0o600"}
        assert folder.exposed == ""
        (data / "uploads" / "new.md").write_text("limited")
        assert modes(data) == {"0o700", "0o600"}
    assert elsewhere.stat().st_mode & 0o777 == 0o644
    (tmp_path / "after.md").touch()
    assert (tmp_path / "after.md").stat().st_mode & 0o777 == 0o644


@pytest.mark.usefixtures("everyday_umask")
def test_what_was_put_into_it_by_others_is_private_from_the_next_start(tmp_path: Path):
    data = tmp_path / "data"
    with DataFolder(data).own("serve"):
        pass
    (data / "notes-of-an-admin.txt").write_text("limited")
    data.chmod(0o755)
    with DataFolder(data).own("serve"):
        assert modes(data) == {"0o600"}
        assert data.stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("everyday_umask")
def test_somebodys_folder_with_other_things_in_it_stays_as_it_is(tmp_path: Path):
    home = tmp_path / "home"
    (home / "Documents").mkdir(parents=True)
    (home / "Documents" / "mine.txt").touch()
    home.chmod(0o755)
    with DataFolder(home).own("serve") as folder:
        assert (
            "holds other things than Footnote's and is open to others: name a folder of its own"
            in folder.exposed
        )
    assert {oct(path.stat().st_mode & 0o777) for path in (home, home / "Documents")} == {"0o755"}
    assert (home / "Documents" / "mine.txt").stat().st_mode & 0o777 == 0o644


@pytest.mark.usefixtures("everyday_umask")
def test_an_empty_home_is_nobodys_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    tmp_path.chmod(0o755)
    with DataFolder(tmp_path).own("serve") as folder:
        assert folder.exposed
    assert tmp_path.stat().st_mode & 0o777 == 0o755


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run as somebody else")
def test_what_belongs_to_another_user_is_told():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        assert (
            "belongs to another user and others may read it: give it to this one (chown -R 4242"
            in told_to_another_user(Path(folder) / "data")
        )


def told_to_another_user(data: Path) -> str:
    data.mkdir()
    data.chmod(0o777)
    (data / "uploads").mkdir(mode=0o755)
    script = (
        "import os, sys; from pathlib import Path; from kb.store.data_folder import DataFolder; os.setuid(4242)\n"
        "with DataFolder(Path(sys.argv[1])).own('serve') as folder: print(folder.exposed)"
    )
    told = subprocess.run(
        [sys.executable, "-c", script, str(data)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    return told.stdout


def test_a_folder_that_cannot_be_made_says_what_to_do(tmp_path: Path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(SettingsError, match="--data"):
        DataFolder(tmp_path / "file" / "data").own("ask")


def test_a_deep_folder_gets_a_short_private_socket(tmp_path: Path):
    deep = tmp_path / ("d" * 120)
    socket = socket_path(deep, "footnote.sock")
    make_private(socket.parent, itself=deep)
    assert len(os.fsencode(socket)) <= MAX_SOCKET_PATH
    assert socket.parent.stat().st_mode & 0o777 == 0o700
    assert socket == socket_path(deep, "footnote.sock")


def test_a_private_folder_that_others_may_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    data = DataFolder(tmp_path / ("d" * 120))
    data.socket.parent.mkdir(mode=0o755)
    with pytest.raises(SettingsError, match="not private"):
        data.own("serve")
    assert data.owner() is None
