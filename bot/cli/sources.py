"""Which folders a knowledge base is made of: those in the settings, and those that `footnote ingest` was given.

The latter are remembered in the data folder, so that a reindex from Slack reads the same pages again.
"""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from kb.data_folder import DataFolder
from kb.errors import SettingsError
from kb.settings import Settings, SourceSettings

SAMPLE = "handbook"
_BOOK = TypeAdapter(tuple[SourceSettings, ...])


class SourceBook:
    """Reads and writes `sources.json` of a data folder that this process owns."""

    def __init__(self, folder: DataFolder, settings: Settings) -> None:
        self._file = folder.sources_file
        self._configured = settings.sources

    def all(self) -> tuple[SourceSettings, ...]:
        """Every source; one in the settings wins over a remembered one of the same name."""
        names = {source.name for source in self._configured}
        return (*self._configured, *(one for one in self._remembered() if one.name not in names))

    def add(self, path: Path) -> SourceSettings:
        """Remembers a folder (or a single page's folder). The same folder keeps its name.

        Raises:
            SettingsError: there is nothing at `path`.
        """
        root = path.expanduser().resolve()
        if not root.exists():
            raise SettingsError(f"there is no folder or file {path}")
        for known in self.all():
            if known.path.expanduser().resolve() == root:
                return known
        source = SourceSettings(name=self._free_name(root), path=root)
        self._write((*self._remembered(), source))
        return source

    def add_sample(self) -> SourceSettings:
        """The handbook that comes with Footnote."""
        # Its pages show what dates do: the dates of this project's own commits would hide that.
        source = SourceSettings(name=SAMPLE, path=sample_folder(), git_dates=False)
        self._write((*(one for one in self._remembered() if one.name != SAMPLE), source))
        return source

    def _free_name(self, root: Path) -> str:
        name = re.sub(r"[^a-z0-9_-]+", "-", root.name.lower()).strip("-_")[:50] or "pages"
        if name not in {source.name for source in self.all()}:
            return name
        return f"{name}-{hashlib.sha256(str(root).encode()).hexdigest()[:8]}"

    def _remembered(self) -> tuple[SourceSettings, ...]:
        if not self._file.exists():
            return ()
        try:
            return _BOOK.validate_json(self._file.read_bytes())
        except ValidationError as error:
            raise SettingsError(
                f"{self._file} cannot be read; delete it and run `footnote ingest` on your folders again"
            ) from error

    def _write(self, sources: tuple[SourceSettings, ...]) -> None:
        draft = self._file.with_suffix(".new")
        draft.write_bytes(_BOOK.dump_json(sources, indent=2, exclude_defaults=True))
        draft.replace(self._file)


def sample_folder() -> Path:
    return Path(str(resources.files("ingest") / "sample" / "handbook"))
