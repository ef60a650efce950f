"""What nobody meant ends a command with a sentence that says what to do,
and with no trace and no value of anybody's.
"""

from __future__ import annotations

import errno

import pytest

from bot.cli import commands


def ends(monkeypatch: pytest.MonkeyPatch, error: BaseException, *arguments: str) -> None:
    def broken() -> None:
        raise error

    monkeypatch.setattr(commands, "app", broken)
    monkeypatch.setattr("sys.argv", ["footnote", "ingest", *arguments])
    with pytest.raises(SystemExit) as ended:
        commands.main()
    assert ended.value.code == 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full: free some space"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "the disk is full: free some space"),
        (RuntimeError("engine: No space left on device (os error 28)"), "the disk is full: free some space"),
        (
            PermissionError(errno.EACCES, "Permission denied", "/srv/data"),
            "/srv/data: Permission denied. Look",
        ),
        (MemoryError(), "there is not enough memory"),
        (KeyError("what somebody wrote"), "Footnote itself failed (KeyError at test_fault_words.py:"),
    ],
)
def test_a_fault_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, said: str
) -> None:
    ends(monkeypatch, error)

    told = capsys.readouterr().err
    assert told.startswith(f"footnote: {said}")
    assert "Traceback" not in told
    assert "somebody" not in told
    assert told.count("\n") == 1


def test_who_asks_for_details_gets_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyError):
        ends(monkeypatch, KeyError("x"), "--verbose")
