"""Helm's engine in a process of its own: `helm.py CHART < [VALUES, ...]`, what it makes of each as JSON.

Its library brings Go's runtime, threads and signal handlers included,
which nothing else in the tests' process should meet.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import helm_python


def told(chart: str, values: dict[str, Any]) -> dict[str, Any]:
    """`files`: template -> what is rendered; or `refused`. `concerns`: what lint has to say."""
    messages = helm_python.lint(chart, values, strict=True)["messages"]
    concerns = [one["error"] for one in messages if "icon is recommended" not in one["error"]]
    try:
        files = helm_python.Chart.load(chart).render(values, name="kb", namespace="tools")
    except helm_python.HelmError as error:
        return {"refused": str(error), "concerns": concerns}
    return {"files": files, "concerns": concerns}


if __name__ == "__main__":
    print(json.dumps([told(sys.argv[1], values) for values in json.load(sys.stdin)]))
