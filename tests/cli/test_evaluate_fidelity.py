"""`footnote eval fidelity` as it is typed, on files that need no other program, and without those that others need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bot.cli.evaluation.fidelity import fidelity
from bot.cli.evaluation.fidelity_report import FileResult, code_of
from ingest.page import ParsedPage, Section
from ingest.parsers.reader import DirectReader
from kb.evaluation.fidelity.comparison import Fidelity, Kept
from tests.cli.conftest import Run

FILES = {
    "leave.html": "<h1>Leave</h1><p>Everybody gets 25 days.</p>",
    "pay.csv": "office,day\nGhent,25\nLille,28\n",
    "notes.txt": "Ask your lead first, then the office.\n",
    "more/notes.txt": "Travel is booked by the office.\n",
    "data.json": "{}",
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        file = tmp_path / "files" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "files"


def test_files_that_are_read_well_end_with_0(footnote: Run, files: Path, tmp_path: Path) -> None:
    ended = footnote("eval", "fidelity", files, "--json", data=tmp_path / "data")
    assert ended.code == 0, ended.err
    told = ended.json
    assert (told["files"], told["checked"], told["holds"]) == (5, 4, True)
    assert told["formats"]["csv"]["cells"] == {"all": 4, "kept": 4, "share": 1.0}
    assert [one["path"] for one in told["each"] if one["refused"]] == ["data.json"]
    assert not (tmp_path / "data").exists()


async def test_the_table_names_formats_and_what_is_not_indexed(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = await fidelity(files, reader=DirectReader())
    report.show()
    out = capsys.readouterr().out
    assert report.code == 0
    assert "100.00" in out
    assert "1 not indexed: it is data, not a page (.json)" in out


async def test_formats_and_numbers_of_files_can_be_chosen(files: Path) -> None:
    chosen = await fidelity(files, formats=["txt"], limit=1, reader=DirectReader())
    assert [file["format"] for file in chosen.figures["each"]] == ["txt"]


def test_a_folder_that_is_missing_is_an_error_of_usage(footnote: Run, tmp_path: Path) -> None:
    ended = footnote("eval", "fidelity", tmp_path / "nope", data=tmp_path / "data")
    assert ended.code == 2
    assert "does not exist" in ended.err


def test_a_format_that_no_file_has_is_an_error_of_usage(footnote: Run, files: Path, tmp_path: Path) -> None:
    ended = footnote("eval", "fidelity", files, "--format", "docx", data=tmp_path / "data")
    assert ended.code == 2
    assert "holds no .docx files" in ended.err


@dataclass(frozen=True, kw_only=True, slots=True)
class BrokenReader(DirectReader):
    """Reads as always, and then loses, adds or moves what it is told to."""

    spoils: Callable[[str], str]

    async def read(self, content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
        page = await DirectReader().read(content, path=path, media_type=media_type)
        return replace(page, sections=tuple(self._spoilt(section) for section in page.sections))

    def _spoilt(self, section: Section) -> Section:
        blocks = (
            replace(block, parts=tuple(map(self.spoils, block.parts)), lead=self.spoils(block.lead))
            for block in section.blocks
        )
        return replace(section, blocks=tuple(blocks))


@pytest.mark.parametrize(
    ("spoils", "code", "shown"),
    [
        (lambda text: text, 0, ""),
        (lambda text: text.replace("lead", ""), 1, "lost: lead"),
        (lambda text: text.replace("25", "52"), 1, "lost: 25"),
        (lambda text: text.replace("lead", "lead None"), 0, "added: none"),
        (
            lambda text: text.replace("lead first, then the office", "office first, then the lead"),
            0,
            "moved: ",
        ),
        (
            lambda text: text.replace("| office | day |", "| day | office |"),
            0,
            "cells: office: ghent | day: 25",
        ),
    ],
)
async def test_what_a_broken_parser_does_is_shown(
    files: Path, capsys: pytest.CaptureFixture[str], spoils: Callable[[str], str], code: int, shown: str
) -> None:
    report = await fidelity(files, reader=BrokenReader(spoils=spoils))
    report.show()
    out = capsys.readouterr().out
    assert report.code == code
    assert shown in out
    assert ("lost:" in out) == (code == 1)
    assert ("below 99.5% of the numbers or 99% of the words" in out) == (code == 1)


async def test_a_format_whose_program_is_missing_is_said_to_be_unchecked(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (files / "page.md").write_text("# Leave\n\nTake it.\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    report = await fidelity(files, reader=DirectReader())
    assert report.code == 3
    assert "   1 unchecked: pandoc is not installed (package pandoc)" in report.shown


@pytest.mark.parametrize(
    ("numbers", "words", "code"),
    [((1000, 995), (100, 99), 0), ((1000, 994), (100, 100), 1), ((0, 0), (1000, 989), 1)],
)
def test_the_bar_is_995_of_1000_numbers_and_99_of_100_words(
    numbers: tuple[int, int], words: tuple[int, int], code: int
) -> None:
    one = Fidelity(numbers=Kept(all=numbers[0], kept=numbers[1]), words=Kept(all=words[0], kept=words[1]))
    unchecked = FileResult(path="b.pdf", kind="pdf", unchecked="pdftotext is not installed")
    assert code_of([FileResult(path="a.md", kind="md", fidelity=one)]) == code
    assert code_of([FileResult(path="a.md", kind="md", fidelity=one), unchecked]) == (code or 3)


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("it broke the parser; the log says where", 1),
        ("reading it took longer than 30 s: it was given up", 1),
        ("it makes the program that reads it crash: save it again", 1),
        ("it is a picture (.png)", 0),
    ],
)
def test_a_parser_that_breaks_crashes_or_hangs_fails_its_format(reason: str, code: int) -> None:
    assert code_of([FileResult(path="a.md", kind="md", refused=reason)]) == code
