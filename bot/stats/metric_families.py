"""Builds Prometheus metric families and writes them in its text format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

Sample = tuple[Mapping[str, str], float]


def gauge(name: str, text: str, samples: Iterable[Sample]) -> Metric:
    return _family(name, "gauge", text, samples)


def counter(name: str, text: str, samples: Iterable[Sample]) -> Metric:
    """`name` ends in "_total"."""
    return _family(name, "counter", text, samples)


def histogram(
    name: str, text: str, *, bounds: Iterable[float], counts: Iterable[int], total: float
) -> Metric:
    """`counts`: by the bucket that holds them, one more than there are bounds."""
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


def _family(name: str, kind: str, text: str, samples: Iterable[Sample]) -> Metric:
    family = Metric(name.removesuffix("_total") if kind == "counter" else name, text, kind)
    for labels, value in samples:
        family.add_sample(name, dict(labels), value)
    return family
