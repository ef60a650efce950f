"""One owner at a time; a killed owner leaves nothing that blocks the next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kb.data_folder import DataFolder
from kb.errors import DataFolderInUseError, SettingsError
from kb.sockets import MAX_SOCKET_PATH, make_private, socket_path

OWN_AND_WAIT = """
import sys, time
from pathlib import Path
from kb.data_folder import DataFolder
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
