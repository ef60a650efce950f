"""`footnote eval answers --translations --language`: the sample's cases in other words than its answer set has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

HOTEL = {"nl": "Hoeveel mag een hotel kosten op zakenreis?", "de": "Wie viel darf ein Hotel kosten?"}
PASSWORD = {"nl": "Hoeveel tekens moet een wachtwoord hebben?"}
SMALL = ("--set", "embed.model=all-MiniLM-L6-v2", "--set", "rerank.model=off")


@pytest.fixture
def translations(tmp_path: Path) -> Path:
    file = tmp_path / "translations.json"
    file.write_text(
        json.dumps({"en-hotel": HOTEL, "en-password": PASSWORD, "of another set": {"fr": "Quoi ?"}})
    )
    return file


@pytest.mark.series
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_translated_cases_are_asked_in_one_language_or_as_they_are_written(
    footnote: Run, translations: Path, tmp_path: Path
) -> None:
    """By an embedder that reads English alone: how badly it does is a figure that is asked for."""
    told = {}
    for language in ("en", "nl", "de"):
        out = tmp_path / f"{language}.json"
        ended = footnote(
            "eval", "answers", "--translations", translations, "--language", language, *SMALL, "--json", out,
            data=tmp_path / "data",
        )  # fmt: skip
        assert ended.code in (0, 1), ended.err
        assert "in best 2" in ended.out
        assert "in best 16" in ended.out
        told[language] = json.loads(out.read_text())

    asked = {name: {case["id"]: case["question"] for case in one["cases"]} for name, one in told.items()}
    assert asked == {
        "en": {
            "en-password": "How many characters does a password need?",
            "en-hotel": "How much may a hotel cost on a business trip?",
        },
        "nl": {"en-password": PASSWORD["nl"], "en-hotel": HOTEL["nl"]},
        "de": {"en-hotel": HOTEL["de"]},
    }
    assert [one["config"]["language"] for one in told.values()] == ["en", "nl", "de"]
    everything = told["en"]["categories"]["all"]
    assert everything["facts_in_best"] == {"2": 2, "16": 2}
    assert {fact["rank"] for case in told["en"]["cases"] for fact in case["facts"]} <= {1, 2}


def test_a_language_needs_a_file_and_a_file_a_language_that_it_has(
    footnote: Run, translations: Path, tmp_path: Path
) -> None:
    wrong = {
        ("--language", "nl"): "--language needs the file of --translations",
        ("--translations", translations): "--translations needs a --language",
        ("--translations", translations, "--language", "fr"): "into 'fr'; there are: de, en, nl",
        ("--translations", tmp_path / "none.json", "--language", "nl"): "holds no translated questions",
    }
    for options, said in wrong.items():
        ended = footnote("eval", "answers", *options, data=tmp_path / "data")
        assert (ended.code, ended.out) == (1, "")
        assert said in ended.err
        assert "Traceback" not in ended.err
