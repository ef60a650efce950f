"""Builds Prometheus metric families and writes them in its text format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

Sample = tuple[Mapping[str, str], float]
Values = float | Iterable[Sample]
"""One value without labels, or the values by their labels."""


def gauge(name: str, text: str, values: Values) -> Metric:
    return _family(name, "gauge", text, values)


def counter(name: str, text: str, values: Values) -> Metric:
    """Builds a counter, whose name ends in "_total"."""
    return _family(name, "counter", text, values)


def by(label: str, values: Mapping[str, float]) -> list[Sample]:
    """Returns samples that differ in one label."""
    return [({label: name}, value) for name, value in values.items()]


def histogram(
    name: str, text: str, *, bounds: Iterable[float], counts: Iterable[int], total: float
) -> Metric:
    """Builds a histogram. `counts`: by the bucket that holds them, one more than there are bounds."""
    family = Metric(name, text, "histogram")
    number = 0
    for bound, number in zip([*map(str, bounds), "+Inf"], accumulate(counts), strict=True):
        family.add_sample(f"{name}_bucket", {"le": bound}, number)
    family.add_sample(f"{name}_sum", {}, total)
    family.add_sample(f"{name}_count", {}, number)
    return family


def exposition_text(families: Iterable[Metric], *, own: CollectorRegistry | None = None) -> str:
    """Writes families in Prometheus' text format, then what `own` has collected itself."""
    registry = CollectorRegistry()
    registry.register(_Made(list(families)))
    text = generate_latest(registry).decode()
    return text + generate_latest(own).decode() if own is not None else text


class _Made(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _family(name: str, kind: str, text: str, values: Values) -> Metric:
    family = Metric(name.removesuffix("_total") if kind == "counter" else name, text, kind)
    for labels, value in [({}, values)] if isinstance(values, int | float) else values:
        family.add_sample(name, dict(labels), value)
    return family
