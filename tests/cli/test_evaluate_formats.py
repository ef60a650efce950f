"""`footnote eval formats` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.fakes.documents import a_docx, a_pdf, paragraph


def a_folder(root: Path, *, expected: str) -> Path:
    for path, content in {
        "docx/sources/leave.docx": a_docx(body=paragraph("Leave", heading=1) + paragraph("You get 25 days.")),
        "docx/groundtruth/leave.docx.md": expected.encode(),
        "scan.pdf": a_pdf([[]]),
        "photo.jpg": b"\xff\xd8",
    }.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return root


def test_every_file_is_counted_as_indexed_or_with_its_reason(footnote: Run, tmp_path: Path) -> None:
    folder, out = a_folder(tmp_path / "files", expected="# Leave\n\nYou get 25 days."), tmp_path / "out.json"
    ended = footnote("eval", "formats", folder, "--json", out, data=tmp_path / "data")

    assert ended.code == 0, ended.err
    assert "1 it is a picture (.jpg)" in ended.out
    told = json.loads(out.read_text())
    assert (told["files"], told["indexed"], told["recall"], told["headings"]) == (4, 2, 1.0, 1.0)
    assert [one["path"] for one in told["each"] if one["reason"]] == ["photo.jpg", "scan.pdf"]


def test_lost_words_fail_the_command(footnote: Run, tmp_path: Path) -> None:
    folder = a_folder(
        tmp_path / "files", expected="# Leave\n\nYou get 25 days and a bicycle, a tree and a goat."
    )
    ended = footnote("eval", "formats", folder, data=tmp_path / "data")

    assert ended.code == 1
    assert "below the target" in ended.out
