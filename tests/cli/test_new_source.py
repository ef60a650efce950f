"""A new kind of source is a class and its settings, which name it: nothing else is edited."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

SETTINGS = '''
from pathlib import Path
from typing import ClassVar, Literal

from kb.config.sources.common import CommonSettings


class JsonLinesSettings(CommonSettings):
    """A file with a page on each line."""

    reader = "json_lines:JsonLinesSource"

    kind: Literal["json_lines"]
    path: Path
'''
SOURCE = """
import json

from ingest.sources.port import ConfiguredSource, PageRef, RawPage, fingerprint


class JsonLinesSource(ConfiguredSource):
    def __init__(self, settings, folder):
        super().__init__(settings)
        lines = settings.path.read_text(encoding="utf-8").splitlines()
        self._pages = {page["title"]: page["text"] for page in map(json.loads, lines)}

    def url_of(self, path):
        return path

    async def discover(self):
        for path, text in self._pages.items():
            yield PageRef(path=path, revision=fingerprint([text.encode()]))

    async def fetch(self, ref):
        text = self._pages[ref.path]
        return RawPage(
            path=ref.path,
            url=self.url_of(ref.path),
            content=f"# {ref.path}\\n\\n{text}".encode(),
            media_type="text/markdown",
            revision=fingerprint([text.encode()]),
        )

    async def close(self):
        self._pages = {}
"""

COMMANDS = r"""
import sys
from bot.cli import main

question = sys.argv[1]
sys.argv[1:] = ["ingest"]
try:
    main()
except SystemExit as ended:
    if ended.code:
        raise
print("\x1e", flush=True)
sys.argv[1:] = ["ask", "--json", question]
raise SystemExit(main())
"""
"""Two commands in one process: each would import all modules of the copy."""


def test_a_new_kind_of_source_is_two_files(tmp_path: Path) -> None:
    code = tmp_path / "code"
    # With what is compiled of them, which holds for a copy of the same time.
    for room in ("bot", "ingest", "kb"):
        shutil.copytree(ROOT / room, code / room)
    (code / "kb" / "config" / "sources" / "kinds" / "json_lines.py").write_text(SETTINGS, encoding="utf-8")
    (code / "ingest" / "sources" / "json_lines.py").write_text(SOURCE, encoding="utf-8")
    pages = [
        {"title": "Bikes", "text": "A lease bike costs 40 euros a month."},
        {"title": "Tea", "text": "Tea is free."},
    ]
    (tmp_path / "pages.jsonl").write_text("\n".join(map(json.dumps, pages)), encoding="utf-8")
    (tmp_path / "footnote.toml").write_text(
        f'''[[sources]]\nkind = "json_lines"\nname = "notes"\npath = "{tmp_path}/pages.jsonl"\n''',
        encoding="utf-8",
    )

    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, "What does a lease bike cost?"],
        env=os.environ
        | {
            "PYTHONPATH": str(code),
            "FOOTNOTE_CONFIG": f"{tmp_path}/footnote.toml",
            "FOOTNOTE_DATA": f"{tmp_path}/data",
            "FOOTNOTE_RERANK__MODEL": "off",
        },
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    _, answer = done.stdout.split("\x1e")
    assert [citation["title"] for citation in json.loads(answer)["citations"]] == ["Bikes"]
