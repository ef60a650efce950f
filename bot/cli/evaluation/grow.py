"""`footnote eval grow`: an answer set from what people asked, and the golden questions of a reindex."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console

from bot.cli.as_json import print_json, write_json
from bot.cli.composition.runtime import utc_now
from bot.cli.session.opening import open_session
from kb.config.settings import Settings
from kb.errors import SettingsError

NOTHING = 1


async def grow(settings: Settings, out: Path, *, golden: Path | None, private: bool, as_json: bool) -> int:
    """
    Raises:
        SettingsError: a file cannot be written.
        UnavailableError: the store, the index or a model does not answer; nothing is written.
    """
    async with open_session(settings, "eval", models=True) as session:
        grown = await session.grow(private=private)
    cases = grown["cases"]
    if cases:
        _write(out, golden, grown)
    summary = {
        "cases": len(cases),
        "voted_up": sum(case["category"] == "voted-up" for case in cases),
        "gaps_closed": sum(case["category"] == "gap-closed" for case in cases),
        "golden": len(grown["golden"]),
        "left_out": grown["left_out"],
        "out": str(out) if cases else None,
    }
    if as_json:
        print_json(summary)
    else:
        _tell(summary, out)
    return 0 if cases else NOTHING


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


def _tell(summary: dict[str, Any], out: Path) -> None:
    console = Console()

    def say(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    if summary["cases"]:
        say(
            f"{summary['cases']} {'case' if summary['cases'] == 1 else 'cases'} in {out}: "
            f"{summary['voted_up']} of answers voted up, "
            f"{summary['gaps_closed']} of gaps closed since."
        )
        say(f"Run them with `footnote eval answers {out}`.")
    else:
        say("There is no case to write: nobody has voted an answer up, and no gap was closed.")
    if summary["left_out"]:
        left = ", ".join(f"{why} {number}" for why, number in sorted(summary["left_out"].items()))
        say(f"Left out: {left}.")
