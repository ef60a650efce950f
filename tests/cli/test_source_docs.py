"""The examples of docs/sources.md are settings that load."""

from __future__ import annotations

import re
from pathlib import Path

from kb.config.configuration import load_settings
from kb.config.sources.kinds import KINDS

ROOT = Path(__file__).resolve().parents[2]


def test_every_example_of_a_source_loads_and_every_kind_has_one(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    file = tmp_path / "footnote.toml"
    file.write_text("\n".join(re.findall(r"```toml\n(.*?)```", text, re.DOTALL)), encoding="utf-8")

    kinds = [source.kind for source in load_settings(environ={}, file=file).sources]
    assert sorted(kinds) == sorted(KINDS)
