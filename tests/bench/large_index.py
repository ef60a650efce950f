"""Large indexes of the embedded engine, as they are written and as they can be kept.

    python -m tests.bench.large_index --passages N --pages DIR [DIR ...] [--data-set DIR] [--forms FORM ...]

`tests.bench.large_sets` tells how the passages are made, `tests.bench.large_forms` what the forms are. Told are how
long a form takes to make and to open, its memory, and what searches cost and find. Each is measured in a process of
its own, one after the other. `--work DIR` keeps what was made: 200,000 passages take 1 GB a form.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from kb.index.embedded.generations import Generations
from tests.bench.large_forms import FORMS, PLAIN, anonymous_mb
from tests.bench.large_sets import make

LOOK_S = 0.1
"""Between two looks at the memory of what makes a form."""


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as temporary:
        work = options.work or Path(temporary)
        folder = work / str(options.passages)
        asyncio.run(make(work, folder, options.passages, options.pages, options.data_set, options.model))
        told = [_measured(folder, form, options.data_set, options.model) for form in options.forms]
    _compare(told)
    _show(told, Console())
    if options.json is not None:
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.large_index", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--passages", type=int, default=200_000)
    parser.add_argument(
        "--pages", type=Path, nargs="+", required=True, help="folders of pages to make them of"
    )
    parser.add_argument(
        "--data-set", type=Path, help="conversations whose passages are among them, and asked"
    )
    parser.add_argument("--model", default="all-MiniLM-L6-v2", help="the embedder (all-MiniLM-L6-v2)")
    parser.add_argument("--forms", nargs="+", choices=[PLAIN, *FORMS], default=[PLAIN, "quantized"])
    parser.add_argument("--work", type=Path, help="where the indexes are kept for another run")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    return parser.parse_args()


def _measured(folder: Path, form: str, data_set: Path | None, model: str) -> dict[str, Any]:
    made = folder / form / "made.json"
    if not made.exists():
        print(f"making {form} ...", file=sys.stderr, flush=True)
        made.parent.mkdir(exist_ok=True)
        told = _run(
            "tests.bench.large_forms", str(folder / PLAIN / "gen-1"), str(folder / form / "gen-1"), form
        )
        Generations(folder / form).commit(1)
        made.write_text(json.dumps(told), encoding="utf-8")
    print(f"measuring {form} ...", file=sys.stderr, flush=True)
    asked = ["--data-set", str(data_set)] if data_set is not None else []
    found = _run("tests.bench.large_measured", str(folder), form, model, *asked)
    found.pop("anon_peak_mb")
    return {"form": form, "made": json.loads(made.read_text(encoding="utf-8")), **found}


def _run(module: str, *arguments: str) -> dict[str, Any]:
    """What it prints, and the most memory of its own that it had meanwhile (0 where the system does not tell)."""
    peak = 0.0
    with tempfile.TemporaryFile() as output:
        with subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=output) as process:
            while process.poll() is None:
                peak = max(peak, anonymous_mb(process.pid))
                time.sleep(LOOK_S)
        if process.returncode:
            raise RuntimeError(f"{module} {' '.join(arguments)} ended with {process.returncode}")
        output.seek(0)
        return {**json.load(output), "anon_peak_mb": peak}


def _compare(told: Sequence[dict[str, Any]]) -> None:
    """How many of the 20 best after fusion are those of the first form."""
    first = told[0]["rankings"]
    for one in told:
        rankings = one.pop("rankings") if one is not told[0] else first
        one["fused_recall"] = {
            name: float(
                np.mean([len(set(a) & set(b)) / max(1, len(a)) for a, b in zip(first[name], of, strict=True)])
            )
            for name, of in rankings.items()
        }
    told[0].pop("rankings")


ROWS: Sequence[tuple[str, Any]] = (
    ("made in, s by the clock", lambda of: f"{of['made']['seconds']:.0f}"),
    ("made in, s of a processor", lambda of: f"{of['made']['cpu_s']:.0f}"),
    ("making it, MB at most (of its own)", lambda of: f"{of['made']['peak_mb']:,.0f} ({of['made']['anon_peak_mb']:,.0f})"),
    ("MB on the disk", lambda of: f"{of['made']['disk_mb']:,.0f}"),
    ("opened in, s (of a processor)", lambda of: f"{of['open_s']:.1f} ({of['open_cpu_s']:.1f})"),
    ("first search after, s", lambda of: f"{of['first_search_s']:.1f}"),
    ("MB resident (of its own), without index", lambda of: f"{of['before_mb']:,.0f} ({of['before_anon_mb']:,.0f})"),
    ("MB resident (of its own), with it", lambda of: f"{of['rss_mb']:,.0f} ({of['anon_mb']:,.0f})"),
    *(
        (f"{words}, ms p50/p95 ({what})", lambda of, name=name, kind=kind: f"{of[name][kind + 'p50']:.0f}/{of[name][kind + 'p95']:.0f}")
        for name, words in (
            ("alone", "one wording"),
            ("thread", "three"),
            ("few", "one, 1% of the pages"),
            ("few_thread", "three, 1%"),
        )
        for kind, what in (("", "clock"), ("cpu_", "processor"))
    ),
    ("recall@20 of the vectors against exact", lambda of: f"{of['recall']:.4f}"),
    ("recall@20 after fusion: one, three, 1%", lambda of: ", ".join(f"{of['fused_recall'][name]:.4f}" for name in ("alone", "thread", "few"))),
    ("data set: recall@5, nDCG@5 (turns)", lambda of: f"{of['figures'][0]:.3f}, {of['figures'][1]:.3f} ({of['turns']})" if "figures" in of else ""),
    ("load before, after", lambda of: f"{of['load_1m']:.1f}, {of['load_1m_end']:.1f}"),
)  # fmt: skip


def _show(told: Sequence[dict[str, Any]], console: Console) -> None:
    table = Table("", *(one["form"] for one in told), box=None)
    for name, cell in ROWS:
        table.add_row(name, *(cell(one) for one in told))
    console.print(table, highlight=False)


if __name__ == "__main__":
    raise SystemExit(main())
