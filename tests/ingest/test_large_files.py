"""Files of thousands of pages or rows are read whole, in bounded memory, or say what was left out."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from ingest.page import ParsedPage
from ingest.parsers.formats import parse_file
from ingest.parsers.pdf import document as pdf
from ingest.parsers.pool import ReaderPool
from tests.fakes.documents import a_pdf, an_xlsx

SMALL = 1 << 30
"""Half of the address space that a reader has, of which half a GB is mapped by its libraries."""


@pytest.fixture
async def pool() -> AsyncIterator[ReaderPool]:
    pool = ReaderPool(workers=1, memory_bytes=SMALL, seconds=120)
    yield pool
    await pool.close()


WORDS = ("canteen", "garden", "office", "bicycle", "printer", "holiday", "parking", "kitchen")


def a_manual(pages: int) -> bytes:
    """Each page has words of its own in the middle: what stands at the
    same place everywhere is taken for a running head.
    """
    return a_pdf([
        [(20, f"Chapter {n}"), *((11, f"The {WORDS[(n + k) % 8]} of house {n * k} is open.") for k in range(1, 9))]
        for n in range(1, pages + 1)
    ])  # fmt: skip


def pages_of(page: ParsedPage) -> list[str | None]:
    return [section.anchor for section in page.sections]


@pytest.mark.series
async def test_a_pdf_of_more_than_a_thousand_pages_is_read_to_its_last(pool: ReaderPool) -> None:
    page = await pool.read(a_manual(1_602), path="manual.pdf")

    assert pages_of(page) == [f"page={number}" for number in range(1, 1_603)]
    assert f"of house {1602 * 8} is open" in page.sections[-1].blocks[-1].text
    assert page.front.notes == ()


@pytest.mark.parametrize("lines", [1, 3, 6])
def test_pages_that_are_alike_but_for_their_numbers_keep_every_line(lines: int) -> None:
    content = a_pdf([
        [(11, f"Line {k} of sheet {n} says {n * k}.") for k in range(lines)] for n in range(1, 41)
    ])  # fmt: skip

    page = parse_file(content, path="sheets.pdf")

    assert pages_of(page) == [f"page={number}" for number in range(1, 41)]
    told = " ".join(block.text for block in page.sections[6].blocks)
    assert [told.index(f"Line {k} of sheet 7 says {7 * k}.") for k in range(lines)] == sorted(
        told.index(f"Line {k} of sheet 7 says {7 * k}.") for k in range(lines)
    )
    assert page.front.notes == ()


def test_running_heads_of_pages_with_text_of_their_own_stay_out() -> None:
    content = a_pdf([
        [(9, f"Handbook, page {n}"), *((11, f"The {WORDS[(n * k) % 8]} of house {n * k} is open every day.") for k in range(1, 9))]
        for n in range(1, 21)
    ])  # fmt: skip

    assert "Handbook, page" not in " ".join(
        block.text for section in parse_file(content, path="h.pdf").sections for block in section.blocks
    )


def test_pages_read_some_at_a_time_are_as_those_read_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    content = a_manual(11)
    whole = parse_file(content, path="manual.pdf")

    monkeypatch.setattr(pdf, "_AT_FIRST", 3)
    monkeypatch.setattr(pdf, "_AT_A_TIME", 2)

    assert parse_file(content, path="manual.pdf") == whole


def test_a_pdf_that_takes_too_long_says_which_pages_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    content = a_manual(11)
    monkeypatch.setattr(pdf, "_AT_FIRST", 4)
    monkeypatch.setattr(pdf, "_SECONDS", 0.0)

    page = parse_file(content, path="manual.pdf")

    assert pages_of(page) == ["page=1", "page=2", "page=3", "page=4"]
    assert page.front.notes == ("only the first 4 of its 11 pages were read, which took 0 s: split it",)


@pytest.mark.parametrize(
    ("name", "between", "count"),
    [
        ("stock.csv", ",", 20_000),
        ("stock.tsv", "\t", 2_000),
        pytest.param("stock.csv", ",", 200_000, marks=pytest.mark.series),
    ],
)
async def test_a_table_of_very_many_rows_is_read_whole(
    pool: ReaderPool, name: str, between: str, count: int
) -> None:
    rows = [["id", "part", "left"], *([str(n), f"part {n}", str(n * 7 % 1000)] for n in range(count))]
    content = "\n".join(between.join(row) for row in rows).encode()

    page = await pool.read(content, path=name)

    (block,) = page.sections[0].blocks
    assert len(block.parts) == count
    assert block.lead == "| id | part | left |\n| --- | --- | --- |"
    assert block.parts[-1] == f"| {count - 1} | part {count - 1} | 993 |"


async def test_a_sheet_of_thousands_of_rows_is_read_whole(pool: ReaderPool) -> None:
    rows = [["id", "part", "left"], *([n, f"part {n}", n * 7 % 1000] for n in range(12_000))]

    page = await pool.read(an_xlsx({"Stock": rows}), path="stock.xlsx")

    (block,) = page.sections[0].blocks
    assert len(block.parts) == 12_000
    assert block.parts[-1] == "| 11999 | part 11999 | 993 |"
