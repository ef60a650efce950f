"""What of a document survives its conversion: counted in words, headings and table rows."""

from __future__ import annotations

from pathlib import Path

from tests.bench.survival import NOTHING, expected_pairs, survival

EXPECTED = """# Leave

You get **25 days** a year\\_round, see [the policy](https://kb.example/leave).

| Grade | Days |
|---|---|
| A | 25 |
| B | 30 |

<!-- image -->
"""


def test_the_same_text_with_other_mark_up_survives_whole() -> None:
    result = "## Leave\n\nYou get 25 days a year_round, see the policy.\n\n| Grade | Days |\n|-|-|\n| A | 25 |\n| B | 30 |"
    kept = survival(EXPECTED, result)

    assert (kept.recall, kept.noise, kept.headings_kept, kept.rows_kept) == (1.0, 0.0, 1.0, 1.0)


def test_lost_words_lower_the_recall_and_foreign_ones_are_noise() -> None:
    kept = survival("one two three four", "one two five five")

    assert (kept.words, kept.words_found, kept.extra) == (4, 2, 2)
    assert (kept.recall, kept.noise) == (0.5, 0.5)


def test_a_word_that_stands_twice_must_be_found_twice() -> None:
    assert survival("go go", "go").recall == 0.5


def test_a_heading_that_became_plain_text_is_lost() -> None:
    kept = survival(EXPECTED, "Leave\n\nYou get 25 days")

    assert (kept.headings, kept.headings_found) == (1, 0)


def test_a_row_whose_cells_stand_on_lines_of_their_own_is_lost() -> None:
    kept = survival(EXPECTED, "Grade\n\nDays\n\nA\n\n25\n\n| B | 30 | more |")

    assert (kept.rows, kept.rows_found) == (3, 1)


def test_nothing_expected_has_no_share_and_sums_add_counts() -> None:
    assert NOTHING.recall is None
    assert (survival("a b", "a") + survival("c d", "c d")).recall == 0.75


def test_pairs_are_found_as_docling_and_markitdown_lay_them_out(tmp_path: Path) -> None:
    for path in ("docx/sources/a.docx", "docx/groundtruth/a.docx.md", "pdf/sources/b.pdf", "pdf/groundtruth/b.md",
                 "test_files/c.pdf", "test_files/expected_outputs/c.md", "docx/sources/unknown.docx"):  # fmt: skip
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)

    assert [(pair.document.name, pair.markdown) for pair in expected_pairs(tmp_path)] == [
        ("a.docx", "docx/groundtruth/a.docx.md"),
        ("b.pdf", "pdf/groundtruth/b.md"),
        ("c.pdf", "test_files/expected_outputs/c.md"),
    ]
