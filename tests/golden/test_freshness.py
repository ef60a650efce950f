"""Stale values and conflicts among the planted pages, and the overdue
pages of real handbooks, both as the commands do it.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
import pytest_asyncio

from bot.cli.evaluation.freshness import WAYS, PlantedResult, Way, freshness, planted
from kb.config.configuration import load_settings
from kb.config.settings import Settings
from kb.evaluation.freshness import conflicts_shown, stale_share

HANDBOOKS = ("uk-gds-way", "uk-moj-modernisation-platform", "uk-data-community")
SPARSE = 5
"""Every fifth ordinary page is there; the command has them all."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(environ={}, data=tmp_path, rerank={"model": "off"})


@pytest.fixture
def dates(tmp_path: Path) -> Path:
    """A folder of two pages, and what is known of them."""
    for name, reviewed in (("old.md", "2024-01-01"), ("new.md", "2026-01-01")):
        page = f"---\ntitle: {name}\nlast_reviewed_on: {reviewed}\nreview_in: 12 months\n---\n\nText.\n"
        (tmp_path / "pages").mkdir(exist_ok=True)
        (tmp_path / "pages" / name).write_text(page)
    facts = {
        "old.md": {"review_due": "2025-01-01", "overdue_at_2026-08-22": True},
        "new.md": {"review_due": "2027-01-01", "overdue_at_2026-08-22": False},
    }
    file = tmp_path / "dates.json"
    file.write_text(json.dumps(facts))
    return file


async def test_the_same_overdue_pages_pass_and_one_too_few_or_too_many_fails(
    settings: Settings, dates: Path
) -> None:
    report = await freshness(settings, dates.parent / "pages", dates=dates)
    assert (report.code, report.figures["overdue"]["overdue"]) == (0, ["old.md"])

    facts = json.loads(dates.read_text())
    for name, overdue in (("old.md", False), ("new.md", True)):
        wrong = {**facts, name: {**facts[name], "overdue_at_2026-08-22": overdue}}
        dates.write_text(json.dumps(wrong))
        assert (await freshness(settings, dates.parent / "pages", dates=dates)).code == 1


async def test_another_day_is_judged_by_the_review_dates_of_the_file(settings: Settings, dates: Path) -> None:
    report = await freshness(settings, dates.parent / "pages", dates=dates, at=date(2028, 1, 1))
    assert report.code == 0


@pytest.mark.parametrize(
    "name", [HANDBOOKS[0], *(pytest.param(name, marks=pytest.mark.series) for name in HANDBOOKS[1:])]
)
async def test_the_overdue_pages_of_a_real_handbook_are_its_overdue_pages_all_and_only(
    settings: Settings, handbooks: Path, name: str
) -> None:
    report = await freshness(settings, handbooks / name, dates=handbooks / name / "dates.json")
    assert report.code == 0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def result(tmp_path_factory: pytest.TempPathFactory) -> PlantedResult:
    settings = load_settings(environ={}, data=tmp_path_factory.mktemp("data"), rerank={"model": "off"})
    return await planted(settings, sparse=SPARSE)


@pytest.mark.series
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("way", WAYS)
async def test_no_stale_value_is_stated_as_current_and_every_conflict_is_shown(
    result: PlantedResult, way: Way
) -> None:
    assert len(result.pairs[way]) == 60
    assert stale_share(result.pairs[way]) <= 0.01
    shown, conflicts = conflicts_shown(result.pairs[way])
    assert (shown, conflicts) == (15, 15)


@pytest.mark.series
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("way", WAYS)
async def test_ordinary_pages_raise_no_false_alarm(result: PlantedResult, way: Way) -> None:
    ordinary = result.ordinary[way]
    assert sum(one.answered for one in ordinary) >= 0.8 * len(ordinary)
    assert [one.alarms for one in ordinary if one.alarms] == []
