import json
from datetime import date

import pytest

from kb.errors import IndexMismatchError
from kb.index.payload import (
    from_payload,
    manifest_from_fields,
    manifest_to_fields,
    point_id,
    revisions_of,
    to_payload,
)
from kb.index.port import IndexManifest
from kb.models import Chunk, Page, PageDates

PAGE = Page(
    id="handbook:leave.md",
    source="handbook",
    path="leave.md",
    title="Leave",
    url="https://kb.example/leave",
    language="nl",
    revision="abc",
    audience=("C0LEADS", "#people-leads"),
    dates=PageDates(
        edited=date(2026, 1, 2),
        reviewed=date(2026, 2, 3),
        review_due=date(2026, 8, 1),
        expires=date(2027, 1, 1),
    ),
    owner="People team",
    superseded_by="new.md",
    retired="deprecated",
)
CHUNK = Chunk(
    id="any / id", page=PAGE, position=2, text="| a |", section=("A", "B"), url="https://kb.example/leave#b"
)


def test_every_field_of_a_chunk_survives_json() -> None:
    assert from_payload(json.loads(json.dumps(to_payload(CHUNK)))) == CHUNK


def test_a_page_without_dates_and_owner_stays_without() -> None:
    bare = Chunk(
        id="x",
        page=Page(id="p", source="s", path="p.md", title="P", url=""),
        position=0,
        text="t",
        url="",
    )
    assert from_payload(to_payload(bare)) == bare


def test_a_field_that_a_newer_version_wrote_is_ignored() -> None:
    assert from_payload({**to_payload(CHUNK), "mood": "sunny"}) == CHUNK


@pytest.mark.parametrize("payload", [None, {}, {"text": "only a text"}])
def test_a_payload_of_another_program_asks_for_a_reindex(payload: dict | None) -> None:
    with pytest.raises(IndexMismatchError, match="reindex in full"):
        from_payload(payload)


def test_a_manifest_survives_and_a_missing_one_asks_for_a_reindex() -> None:
    manifest = IndexManifest(embedder="e", dimension=3, chunker="c")
    assert manifest_from_fields(manifest_to_fields(manifest)) == manifest
    with pytest.raises(IndexMismatchError, match="reindex in full"):
        manifest_from_fields(None)


def test_a_chunk_id_always_makes_the_same_point() -> None:
    assert point_id("a") == point_id("a") != point_id("b")


def test_a_page_whose_write_was_cut_off_between_two_revisions_needs_another_write() -> None:
    payloads = [
        {"page_id": "whole", "revision": "r1"},
        {"page_id": "half", "revision": "r1"},
        {"page_id": "half", "revision": "r2"},
        {"page_id": "half", "revision": "r1"},
        {"page_id": "whole", "revision": "r1"},
    ]
    assert revisions_of(payloads) == {"whole": "r1", "half": ""}
