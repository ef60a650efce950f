"""`footnote eval` of what pages are read as and dated: `fidelity`, `freshness`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.evaluation.options import evaluation
from bot.cli.evaluation.report import Report
from bot.cli.options import Common

app = typer.Typer()


@evaluation(app, json="printed")
async def fidelity(
    common: Common,
    folder: Annotated[Path, typer.Argument(help="Files of any kind.", exists=True, file_okay=False)],
    only: Annotated[
        list[str] | None,
        typer.Option("--format", metavar="ENDING", help="Only these: --format docx. Repeatable."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only so many files of each format.", show_default=False)
    ] = None,
) -> Report:
    """Reads every file twice, as a sync would and by other programs, and tells what the index would lack, add or move.

    Exits with 1 where a file crashes or hangs its parser, or a format keeps fewer than 99.5% of its numbers or 99% of
    its words, with 3 where all that could be checked holds and something could not: pandoc, pdftotext and LibreOffice
    are used where they are installed.
    """
    from bot.cli.evaluation.fidelity import fidelity as run

    common.settings()
    return await run(folder, formats=only or (), limit=limit)


@evaluation(app, json="file", data=False, changes=True)
async def freshness(
    common: Common,
    folder: Annotated[Path | None, typer.Argument(help="A folder of pages with review dates.")] = None,
    dates: Annotated[Path | None, typer.Option(help="The folder's dates.json, with what is overdue.")] = None,
    at: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="The day to judge at; the file's own without it."),
    ] = None,
    planted: Annotated[
        bool, typer.Option("--planted", help="Ask about the planted pages: stale values and conflicts.")
    ] = False,
) -> Report:
    """Compares overdue pages with a list, and asks about planted ones; exits with 1 below the targets."""
    from bot.cli.evaluation.freshness import freshness as run

    day = at.date() if at else None
    return await run(common.settings(), folder, dates=dates, at=day, ask_planted=planted)
