"""The alert rules and the dashboard of deploy/ by themselves: promtool's tests, and what a person needs of each."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DEPLOYED = ROOT / "deploy" / "prometheus"
DASHBOARD: dict[str, Any] = json.loads(
    (ROOT / "deploy" / "grafana" / "footnote.json").read_text(encoding="utf-8")
)


def needed(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed (Debian: apt-get install prometheus)")
    return found


def test_each_alert_fires_where_it_is_meant_to_and_not_a_little_below() -> None:
    tests = [Path(__file__).with_name(f"footnote-rules-{name}test.yaml") for name in ("", "days-")]
    done = subprocess.run(
        [needed("promtool"), "test", "rules", *tests], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    tried = "".join(one.read_text(encoding="utf-8") for one in tests)
    assert [name for name in alerts() if name not in tried] == []


def test_each_alert_says_what_is_wrong_and_what_to_do() -> None:
    for rule in alerts().values():
        assert set(rule["annotations"]) == {"summary", "description"}
        assert rule["labels"]["severity"] in {"critical", "warning"}


def test_every_panel_has_a_unit_and_the_data_source_that_is_chosen() -> None:
    panels = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
    assert {panel["datasource"]["uid"] for panel in panels} == {"${datasource}"}
    assert [panel["title"] for panel in panels if not panel["fieldConfig"]["defaults"].get("unit")] == []
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def alerts() -> dict[str, dict[str, Any]]:
    told = yaml.safe_load((DEPLOYED / "footnote-rules.yaml").read_text(encoding="utf-8"))
    return {rule["alert"]: rule for rule in rules_of(told) if "alert" in rule}


def rules_of(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [rule for group in told["groups"] for rule in group["rules"]]


def expressions() -> Iterator[tuple[str, str]]:
    """Panel -> what it asks; the annotations and what fills the choices as well."""
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]
    for one in DASHBOARD["annotations"]["list"]:
        yield one["name"], one["expr"]
