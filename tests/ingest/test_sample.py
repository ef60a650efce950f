"""The sample handbook keeps its promises: its metadata parses, its links lead somewhere, its questions are honest."""

import json
import re
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from dateutil.relativedelta import relativedelta

import ingest
from tests.fakes.shared import shared

SAMPLE = Path(ingest.__file__).parent / "sample"
HANDBOOK = SAMPLE / "handbook"
PATHS = sorted(path.relative_to(HANDBOOK).as_posix() for path in HANDBOOK.rglob("*.md"))
CASES: list[dict[str, Any]] = json.loads((SAMPLE / "questions.json").read_text("utf-8"))["cases"]
ANSWERED = [case for case in CASES if case["expect"] == "answered"]

TODAY = date(2026, 11, 27)
DATE_KEYS = {"date", "last_reviewed_on", "review_by", "expires"}
KEYS = DATE_KEYS | {"title", "review_in", "owner", "superseded_by", "audience", "language"}
CASE_KEYS = {
    "id",
    "question",
    "language",
    "channel",
    "history",
    "expect",
    "expect_page",
    "must_contain",
    "warning",
    "rewrite_case",
}


def split_page(path: str) -> tuple[dict[str, Any], str]:
    """A page's front matter and its body."""
    opening, front, body = (HANDBOOK / path).read_text("utf-8").split("---\n", 2)
    assert opening == ""
    return yaml.safe_load(front), body


def blocks_of(body: str) -> list[str]:
    """The paragraphs, list items and table rows of a body, lower-case. The handbook writes each on one line."""
    return [line.strip().lower() for line in body.splitlines() if line.strip() and not line.startswith("#")]


def is_restricted(path: str) -> bool:
    return "audience" in split_page(path)[0]


def test_handbook_has_about_forty_pages_and_some_are_dutch() -> None:
    languages = Counter(split_page(path)[0]["language"] for path in PATHS)

    assert 30 <= len(PATHS) <= 45
    assert languages["nl"] >= 4
    assert set(languages) == {"en", "nl"}


@pytest.mark.parametrize("path", PATHS)
def test_front_matter_has_only_known_keys_and_real_dates(path: str) -> None:
    front, _ = split_page(path)

    assert set(front) <= KEYS
    assert front["title"]
    assert front["owner"]
    for key in DATE_KEYS & set(front):
        assert type(front[key]) is date, key
    assert re.fullmatch(r"\d+ months", front.get("review_in", "12 months"))
    for key in {"date", "last_reviewed_on"} & set(front):
        assert front[key] <= TODAY, key
    if "date" in front and "last_reviewed_on" in front:
        assert front["date"] <= front["last_reviewed_on"]


def test_titles_are_unique() -> None:
    titles = Counter(split_page(path)[0]["title"] for path in PATHS)

    assert [title for title, count in titles.items() if count > 1] == []


@pytest.mark.parametrize("path", PATHS)
def test_relative_links_lead_to_pages(path: str) -> None:
    _, body = split_page(path)
    targets = re.findall(r"\]\(([^)\s]+)\)", body)

    missing = [target for target in targets if not ((HANDBOOK / path).parent / target).resolve().is_file()]

    assert missing == []


def test_superseded_pages_name_an_existing_newer_page_by_path_or_by_title() -> None:
    by_name = {path: path for path in PATHS} | {split_page(path)[0]["title"]: path for path in PATHS}
    superseded = {path: split_page(path)[0] for path in PATHS if "superseded_by" in split_page(path)[0]}

    assert len(superseded) == 2
    for front in superseded.values():
        newer, _ = split_page(by_name[front["superseded_by"]])
        assert newer["date"] > front["date"]
        assert "superseded_by" not in newer


def test_study_plan_has_fourteen_days_in_order_that_each_say_what_they_cover() -> None:
    _, body = split_page("academy/togaf-study-plan.md")

    assert re.findall(r"^## Day (\d+)", body, re.MULTILINE) == [str(n) for n in range(1, 15)]
    assert re.findall(r"^Day (\d+) covers ", body, re.MULTILINE) == [str(n) for n in range(1, 15)]


def test_sentences_do_not_start_with_a_word_that_needs_the_sentence_before() -> None:
    dangling = re.compile(r"(?:^|[.!?] |\d\. |- )(It|This|That|These|Those|They|Dit|Dat|Deze)\b")
    found = {path: dangling.findall(line) for path in PATHS for line in split_page(path)[1].splitlines()}

    assert {path: words for path, words in found.items() if words} == {}


def test_facts_of_the_private_page_stand_on_no_other_page() -> None:
    private = [path for path in PATHS if is_restricted(path)]
    elsewhere = "\n".join((HANDBOOK / path).read_text("utf-8") for path in PATHS if path not in private)
    _, body = split_page("people/salary-bands-2026.md")
    amounts = set(re.findall(r"\d,\d{3}|\d+\.\d percent|\d+ euros|17 March 2026", body))

    assert private == ["people/salary-bands-2026.md"]
    assert split_page(private[0])[0]["audience"] == ["#people-leads"]
    assert len(amounts) >= 13
    assert [
        amount for amount in sorted(amounts) if re.search(rf"(?<![\d,]){re.escape(amount)}", elsewhere)
    ] == []
    assert "salary band" not in elsewhere.lower()
    assert "market supplement" not in elsewhere.lower()


def test_question_set_is_broad_enough_to_be_an_end_to_end_test() -> None:
    ids = Counter(case["id"] for case in CASES)

    assert len(CASES) >= 40
    assert max(ids.values()) == 1
    assert sum(case["expect"] == "declined" for case in CASES) >= 8
    assert sum(bool(case["history"]) for case in ANSWERED) >= 15
    assert sum(case["language"] == "nl" for case in ANSWERED) >= 5
    assert {case["warning"] for case in CASES} == {None, "outdated", "superseded"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_question_case_is_well_formed(case: dict[str, Any]) -> None:
    assert set(case) - {"near_miss"} == CASE_KEYS
    assert case["question"].strip()
    assert case["channel"].startswith("#")
    assert case["must_contain"] == [text.lower() for text in case["must_contain"]]
    if case["expect"] == "answered":
        assert case["expect_page"] in PATHS
        assert case["must_contain"]
    else:
        assert case["expect"] == "declined"
        assert (case["expect_page"], case["must_contain"], case["warning"]) == (None, [], None)


@pytest.mark.parametrize("case", ANSWERED, ids=lambda case: case["id"])
def test_answer_stands_literally_in_one_block_of_its_page(case: dict[str, Any]) -> None:
    _, body = split_page(case["expect_page"])

    assert any(all(text in block for text in case["must_contain"]) for block in blocks_of(body))


@pytest.mark.parametrize("case", ANSWERED, ids=lambda case: case["id"])
def test_answered_case_is_asked_where_its_page_may_be_read(case: dict[str, Any]) -> None:
    audience = split_page(case["expect_page"])[0].get("audience", [case["channel"]])

    assert case["channel"] in audience


@pytest.mark.parametrize("case", ANSWERED, ids=lambda case: case["id"])
def test_warning_of_a_case_follows_from_the_dates_of_its_page(case: dict[str, Any]) -> None:
    assert case["warning"] == expected_warning(split_page(case["expect_page"])[0])


def expected_warning(front: dict[str, Any]) -> str | None:
    """The policy by hand: supersession first, then expiry and review dates, then age."""
    if "superseded_by" in front:
        return "superseded"
    due = front.get("review_by") or front.get("expires")
    if due is None and "last_reviewed_on" in front:
        due = front["last_reviewed_on"] + relativedelta(months=int(front["review_in"].split()[0]))
    if due is None and "date" in front:
        due = front["date"] + relativedelta(years=1)
    return "outdated" if due is not None and due < TODAY else None


def test_every_reported_follow_up_has_a_question_case() -> None:
    reported = shared("data/rewrite/rewrite_cases.json")
    ids = {case["id"] for case in json.loads(reported.read_text("utf-8"))["cases"]}

    assert {case["rewrite_case"] for case in CASES} - {None} == ids
