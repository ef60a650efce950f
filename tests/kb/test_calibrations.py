"""What is measured on a generation: the arithmetic, and files of other versions."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import numpy as np
import pytest

from kb.calibration import (
    MIN_SAMPLES,
    Background,
    Calibration,
    Reranking,
    Spread,
    from_text,
    space_background,
    spread_of,
    to_text,
)

SPREAD = Spread(unrelated=0.75, deviation=0.05, related=0.9, samples=40)


def test_a_cosine_is_told_in_the_units_of_the_knowledge_base() -> None:
    assert SPREAD.standard(0.85) == pytest.approx(2.0)
    assert [SPREAD.relatedness(cosine) for cosine in (0.75, 0.9)] == pytest.approx([0.0, 1.0])
    flat = Spread(unrelated=0.5, deviation=0.0, related=0.5, samples=1)
    assert (flat.standard(0.7), flat.relatedness(0.7)) == (0.0, 0.0)


def test_pairs_of_one_page_are_left_out_of_the_background() -> None:
    unrelated = np.array([[np.nan, 0.1], [0.3, np.nan]], dtype=np.float32)
    spread = spread_of(unrelated, np.array([0.8, 0.6], dtype=np.float32))
    assert (spread.unrelated, spread.deviation) == pytest.approx((0.2, 0.1))
    assert (spread.related, spread.samples) == (pytest.approx(0.7), 2)


def test_a_language_pair_has_a_spread_of_its_own_where_there_are_enough_headings() -> None:
    many = MIN_SAMPLES + 3
    asked = ["en"] * many + ["nl"] * 2
    unrelated = np.full((many + 2, 40), 0.1, dtype=np.float32)
    unrelated[:, 20:] = 0.3
    space = space_background(
        "tiny",
        unrelated,
        np.full(many + 2, 0.7, dtype=np.float32),
        asked=asked,
        pages=["en"] * 20 + ["nl"] * 20,
    )
    assert sorted(space.pairs) == ["en>en", "en>nl"]
    assert space.of("en", "nl").unrelated == pytest.approx(0.3)
    assert space.of("en", "nl").related == pytest.approx(0.8)  # .2 unrelated and .7 related over all
    assert space.of("nl", "en") == space.overall
    assert space.overall.unrelated == pytest.approx(0.2)


def test_what_was_measured_comes_back_from_its_text() -> None:
    space = space_background(
        "tiny", np.full((2, 2), 0.1, np.float32), np.full(2, 0.5, np.float32), ["en"] * 2, ["en"] * 2
    )
    calibration = Calibration(
        background=Background(spaces=(space,)),
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
