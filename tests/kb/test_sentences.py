"""Text split into what can be cited on its own."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.text.sentences import split_units

PAGE = """\
# Leave

Full-time employees get 25.5 days a year. Ask
Dr. J. Smith!

- item one. Two sentences.
  continued
  - nested
1. first
2. second

| a | b |
|---|---|
| 1 | 2 |

---

```py
x. Y
```
> quoted. Twice.
> more

**Bold heading**
The end."""


def test_blocks_are_units_and_paragraphs_are_sentences() -> None:
    assert [(unit.kind, unit.text) for unit in split_units(PAGE)] == [
        ("heading", "# Leave"),
        ("sentence", "Full-time employees get 25.5 days a year."),
        ("sentence", "Ask\nDr. J. Smith!"),
        ("item", "- item one. Two sentences.\n  continued"),
        ("item", "  - nested"),
        ("item", "1. first"),
        ("item", "2. second"),
        ("row", "| a | b |\n|---|---|"),
        ("row", "| 1 | 2 |"),
        ("fence", "```py\nx. Y\n```"),
        ("quote", "> quoted. Twice.\n> more"),
        ("heading", "**Bold heading**"),
        ("sentence", "The end."),
    ]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It costs 1.50 euro. Or 1,000.", ["It costs 1.50 euro.", "Or 1,000."]),
        ("See https://a.example/b.html. Then ask.", ["See https://a.example/b.html.", "Then ask."]),
        ("Bring a pass, e.g. Your badge. Done.", ["Bring a pass, e.g. Your badge.", "Done."]),
        ("No. That is not allowed. See No. 5 for it.", ["No.", "That is not allowed.", "See No. 5 for it."]),
        ("Phase B. Then rest.", ["Phase B.", "Then rest."]),
        (
            "Dit geldt d.w.z. Voor iedereen. Bijv. Anna ook.",
            ["Dit geldt d.w.z. Voor iedereen.", "Bijv. Anna ook."],
        ),
        (
            "Es gilt ab dem 3. März 2026. Danach z. B. nicht.",
            ["Es gilt ab dem 3. März 2026.", "Danach z. B. nicht."],
        ),
        (
            "Run `a. B` and [c. D](http://x.example/y). Yes!",
            ["Run `a. B` and [c. D](http://x.example/y).", "Yes!"],
        ),
        ('"Really?" she said. "Yes." He left.', ['"Really?" she said.', '"Yes."', "He left."]),
        ("Wait... and see. Really?! Yes", ["Wait... and see.", "Really?!", "Yes"]),
        ("日本語です。次の文！終わり", ["日本語です。", "次の文！", "終わり"]),
        ("¿Cuántos días? ¡Veinte! Sí.", ["¿Cuántos días?", "¡Veinte!", "Sí."]),
        ("One line  \nand another", ["One line", "and another"]),
        ("", []),
        ("\n \n", []),
    ],
)
def test_full_stops_that_end_nothing_end_nothing(text: str, sentences: list[str]) -> None:
    assert [unit.text for unit in split_units(text)] == sentences


def test_a_fence_that_is_never_closed_is_one_unit() -> None:
    assert [unit.kind for unit in split_units("Run:\n```\na. B\n\nc")] == ["sentence", "fence"]


@given(st.text(alphabet="aB1.!?。 \n-*|#`>~[]()é\t", max_size=200))
def test_units_are_slices_in_order_and_lose_no_words(text: str) -> None:
    units = split_units(text)

    assert all(text[unit.start : unit.end] == unit.text for unit in units)
    assert all(before.end <= after.start for before, after in itertools.pairwise(units))
    covered = "".join(unit.text for unit in units)
    assert [char for char in covered if char.isalnum()] == [char for char in text if char.isalnum()]
