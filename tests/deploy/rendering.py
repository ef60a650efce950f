"""The chart's examples (`ci/` beside it), rendered by Helm's engine."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm" / "footnote"
EXAMPLES = sorted(path.name.removesuffix("-values.yaml") for path in (CHART / "ci").iterdir())

NEEDS_HELM = pytest.mark.skipif(
    importlib.util.find_spec("helm_python") is None, reason="helm-python-sdk has no build for this machine"
)

Manifest = dict[str, Any]


def made_of(*values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What Helm tells of each of these values; see `tests/fakes/helm.py`."""
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "fakes" / "helm.py", CHART],
        input=json.dumps(values),
        capture_output=True,
        text=True,
        check=True,
    )
    told: list[dict[str, Any]] = json.loads(done.stdout)
    return told


def _values(name: str) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load(
        (CHART / "ci" / f"{name}-values.yaml").read_text(encoding="utf-8")
    )
    return values


@cache
def examples() -> dict[str, dict[str, Any]]:
    return dict(zip(EXAMPLES, made_of(*map(_values, EXAMPLES)), strict=True))


def manifests(name: str) -> list[Manifest]:
    files: Mapping[str, str] = examples()[name]["files"]
    texts = [text for path, text in files.items() if path.endswith(".yaml")]
    return [it for text in texts for it in yaml.safe_load_all(text) if it]


def the(name: str, kind: str, named: str) -> Manifest:
    (found,) = [it for it in manifests(name) if (it["kind"], it["metadata"]["name"]) == (kind, named)]
    return found


def pods(name: str) -> list[Manifest]:
    kinds = ("Deployment", "StatefulSet")
    return [it["spec"]["template"]["spec"] for it in manifests(name) if it["kind"] in kinds]


def environment(pod: Manifest) -> dict[str, str]:
    """Plain values as the container gets them; of what is read elsewhere, a stand-in."""
    given = dict[str, str]()
    for variable in pod["containers"][0]["env"]:
        value = variable.get(
            "value", "4" if "resourceFieldRef" in variable.get("valueFrom", {}) else "s3cr3t"
        )
        given[variable["name"]] = re.sub(r"\$\((\w+)\)", lambda found: given[found[1]], value)
    return given
