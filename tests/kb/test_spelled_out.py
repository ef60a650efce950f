"""Rows of tables with the names of their columns: what is embedded of a table."""

from __future__ import annotations

import time

import pytest

from kb.models import Chunk
from kb.retrieval.heading_search import unheaded
from kb.spelled_out import spelled_out
from tests.fakes.passages import a_passage

TABLE = "| Name | Lead |\n| --- | --- |\n| Search | Ann |\n| Mail | |"
ROWS = "Name: Search; Lead: Ann\nName: Mail"


@pytest.mark.parametrize(
    ("markdown", "written"),
    [
        (f"Our teams:\n{TABLE}\n\nAsk them.", f"Our teams:\n{ROWS}\n\nAsk them."),
        (f"{TABLE}\n\n{TABLE}", f"{ROWS}\n\n{ROWS}"),
        ("  | Name |\n  |:-:|\n  | Search |", "Name: Search"),
        ("|Name|Lead\n|---|---\n|Search|Ann", "Name: Search; Lead: Ann"),
        ("Name | Lead\n--- | ---\nSearch | Ann", "Name: Search; Lead: Ann"),
        ("| | 2024 |\n| --- | --- |\n| Sick days | 3 | more |", "Sick days; 2024: 3; more"),
        ("| Key | Does |\n| --- | --- |\n| a \\| b | either |", "Key: a \\| b; Does: either"),
        ("| Name | Lead |\n| --- | --- |", "| Name | Lead |\n| --- | --- |"),
        ("Press | or a | b.\n| no header |", "Press | or a | b.\n| no header |"),
        ("", ""),
    ],
)
def test_each_row_has_the_names_of_its_columns(markdown: str, written: str) -> None:
    assert spelled_out(markdown) == written


@pytest.mark.parametrize("text", ["|" * 200_000, "|-" * 100_000, "| a | b |\n" * 20_000, "a|\n|--" * 50_000])
def test_takes_linear_time(text: str) -> None:
    started = time.process_time()
    spelled_out(text)
    assert time.process_time() - started < 2


def test_a_passage_is_embedded_with_its_rows_spelled_out_and_stays_a_table() -> None:
    passage: Chunk = a_passage(TABLE, title="Teams")
    assert passage.text == TABLE
    assert passage.embedded_text.endswith(f"\n{ROWS}")
    assert "|" not in unheaded(passage)
