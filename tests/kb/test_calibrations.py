"""What is measured on a generation: files of other versions, and when it is measured anew."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from kb.calibration import Calibration, Reranking, from_text, to_text


def test_what_was_measured_comes_back_from_its_text() -> None:
    calibration = Calibration(
        reranking=Reranking(model="mini", weight=0.3, candidates=20, samples=60),
        passages=12,
        measured=datetime(2026, 11, 28, 12, tzinfo=UTC),
    )
    assert from_text(to_text(calibration)) == calibration


def test_a_text_of_another_version_is_read_and_one_that_is_none_is_measured_anew() -> None:
    later = {"passages": 7, "novelty": 1, "reranking": {"model": "m", "weight": 0, "candidates": 5, "new": 2}}
    read = from_text(json.dumps(later))
    assert read is not None
    assert read.reranking == Reranking(model="m", weight=0.0, candidates=5)
    earlier = {"background": {"spaces": [{"model": "m"}]}, "reranking": None, "passages": 7}
    assert from_text(json.dumps(earlier)) == Calibration(passages=7)
    assert from_text("{}") is None
    assert from_text("half a fi") is None


def test_an_index_outgrows_what_was_measured_by_a_fifth() -> None:
    calibration = Calibration(passages=100)
    assert [calibration.outgrown(passages) for passages in (79, 80, 100, 120, 121)] == [
        True,
        False,
        False,
        False,
        True,
    ]
