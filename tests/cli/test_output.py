"""What commands print beside their results: nothing is cut off in a pipe, and nothing is left running."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from rich.table import Table

from bot.cli.administration.index import follow
from bot.cli.output import print_table, say_rest
from bot.cli.session.requests import IngestRequest
from bot.cli.session.session import Session
from kb.config.model_settings import RerankSettings
from kb.jobs import ReindexProgress, SyncReport
from kb.retrieval.rerank import Reranker


class Endless:
    """A session whose sync could tell more than its end."""

    def __init__(self) -> None:
        self.closed = False

    async def ingest(self, _request: IngestRequest) -> AsyncGenerator[ReindexProgress]:
        begun = datetime(2026, 11, 30, tzinfo=UTC)
        try:
            yield ReindexProgress(phase="done", started_at=begun, report=SyncReport(chunks=1, seconds=1.0))
            yield ReindexProgress(phase="queued", started_at=begun)
        finally:
            self.closed = True


async def test_the_steps_of_a_sync_are_closed_before_the_command_goes_on() -> None:
    session = Endless()
    assert await follow(cast("Session", session), IngestRequest()) is not None
    assert session.closed


def test_a_table_in_a_pipe_is_not_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("reads", "expires", box=None)
    table.add_row("what is for everyone, and " + "#people-leads, " * 20, "2027-11-30")
    print_table(table)
    _, row = capsys.readouterr().out.splitlines()
    assert row.rstrip().endswith("#people-leads,   2027-11-30")


@pytest.mark.parametrize(("number", "printed"), [(30, ""), (32, "and 2 more; --json lists them all\n")])
def test_what_a_list_leaves_out_is_counted(
    capsys: pytest.CaptureFixture[str], number: int, printed: str
) -> None:
    say_rest(number, 30)
    assert capsys.readouterr().out == printed


def test_a_reranker_that_is_off_says_so_before_anything_is_loaded() -> None:
    ranker: Any = Reranker(RerankSettings(model="off"))
    try:
        assert ranker.reason == "the reranker is switched off"
    finally:
        ranker.close()
