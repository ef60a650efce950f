"""`footnote eval grow`: an answer set from what people asked, and the golden questions of a reindex."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bot.cli.composition.runtime import utc_now
from bot.cli.evaluation.report import Report
from bot.cli.output import write_json
from bot.cli.session.session import open_session
from kb.config.settings import Settings
from kb.errors import SettingsError

NOTHING = 1


async def grow(settings: Settings, out: Path, *, golden: Path | None, private: bool) -> Report:
    """Writes the cases to `out`. The exit code is 1 where there are none.

    Raises:
        SettingsError: a file cannot be written.
        UnavailableError: the store, the index or a model does not answer; nothing is written.
    """
    async with open_session(settings, "eval", models=True) as session:
        grown = await session.grow(private=private)
    cases = grown["cases"]
    if cases:
        _write(out, golden, grown)
    figures = {
        "cases": len(cases),
        "voted_up": sum(case["category"] == "voted-up" for case in cases),
        "gaps_closed": sum(case["category"] == "gap-closed" for case in cases),
        "golden": len(grown["golden"]),
        "left_out": grown["left_out"],
        "out": str(out) if cases else None,
    }
    return Report(figures=figures, shown=list(_lines(figures, out)), code=0 if cases else NOTHING)


def _write(out: Path, golden: Path | None, grown: dict[str, Any]) -> None:
    today = utc_now().date().isoformat()
    answers = {
        "note": "Written by `footnote eval grow` from what people asked.",
        "as_of": today,
        "cases": grown["cases"],
    }
    try:
        write_json(out, answers)
        if golden is not None:
            lines = [json.dumps(question, ensure_ascii=False) for question in grown["golden"]]
            golden.write_text("\n".join([*lines, ""]), encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"the cases cannot be written: {error}") from error


def _lines(figures: dict[str, Any], out: Path) -> Iterator[str]:
    if figures["cases"]:
        yield (
            f"{figures['cases']} {'case' if figures['cases'] == 1 else 'cases'} in {out}: "
            f"{figures['voted_up']} of answers voted up, {figures['gaps_closed']} of gaps closed since."
        )
        yield f"Run them with `footnote eval answers {out}`."
    else:
        yield "There is no case to write: nobody has voted an answer up, and no gap was closed."
    if figures["left_out"]:
        reasons = ", ".join(f"{reason} {number}" for reason, number in sorted(figures["left_out"].items()))
        yield f"Left out: {reasons}."
