"""Which sources a knowledge base is made of: those in the settings, and what `footnote ingest` was given.

Folders that it was given are remembered in the data folder, so that a reindex from
Slack reads the same pages again. A file is uploaded: a copy of it is kept there.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from kb.config.settings import Settings
from kb.config.sources import AnySourceSettings, DriveSettings, FolderSettings
from kb.errors import SettingsError
from kb.store.data_folder import DataFolder

SAMPLE = "handbook"
UPLOADS = "uploads"
_BOOK = TypeAdapter(tuple[FolderSettings, ...])


class SourceRegistry:
    """Reads and writes `sources.json` of a data folder that this process owns."""

    def __init__(self, folder: DataFolder, settings: Settings) -> None:
        self._file = folder.sources_file
        self._uploads = folder.path / UPLOADS
        self.kept = folder.path / "sources"
        """Where sources keep clones and what they remember of earlier visits."""
        self._configured = settings.sources

    def all(self) -> tuple[AnySourceSettings, ...]:
        """Returns every source; one in the settings wins over a remembered one of the same name."""
        names = {source.name for source in self._configured}
        return (
            *self._configured,
            *(remembered for remembered in self._remembered() if remembered.name not in names),
        )

    def contacts(self) -> Mapping[str, str]:
        """Maps a source's name to whom to ask about its pages, where the settings name somebody."""
        return {source.name: source.owner for source in self._configured if source.owner}

    def folders(self) -> tuple[FolderSettings, ...]:
        """Returns the sources whose pages are files on this machine."""
        return tuple(
            source.as_folder() if isinstance(source, DriveSettings) else source
            for source in self.all()
            if isinstance(source, FolderSettings | DriveSettings)
        )

    def add(self, path: Path) -> FolderSettings:
        """Remembers a folder, or keeps a copy of a file. The same folder keeps its name.

        Raises:
            SettingsError: there is nothing at `path`.
        """
        root = path.expanduser().resolve()
        if not root.exists():
            raise SettingsError(f"there is no folder or file {path}")
        if root.is_file():
            return self._upload(root)
        for known in self.folders():
            if known.path.expanduser().resolve() == root:
                return known
        source = FolderSettings(name=self._free_name(root), path=root)
        self._write((*self._remembered(), source))
        return source

    def add_sample(self) -> FolderSettings:
        """Adds the handbook that comes with Footnote."""
        # Its pages show what dates do: the dates of this project's own commits would hide that.
        source = FolderSettings(name=SAMPLE, path=sample_folder(), git_dates=False)
        self._write((*(remembered for remembered in self._remembered() if remembered.name != SAMPLE), source))
        return source

    def _upload(self, file: Path) -> FolderSettings:
        """Copies a file into the uploads; replaces one of the same name, which is the same page."""
        self._uploads.mkdir(parents=True, exist_ok=True)
        draft = self._uploads / f".{file.name}"
        shutil.copyfile(file, draft)
        draft.replace(self._uploads / file.name.lstrip("."))
        source = FolderSettings(name=UPLOADS, path=self._uploads, git_dates=False)
        self._write(
            (*(remembered for remembered in self._remembered() if remembered.name != UPLOADS), source)
        )
        return source

    def _free_name(self, root: Path) -> str:
        name = re.sub(r"[^a-z0-9_-]+", "-", root.name.lower()).strip("-_")[:50] or "pages"
        if name not in {source.name for source in self.all()}:
            return name
        return f"{name}-{hashlib.sha256(str(root).encode()).hexdigest()[:8]}"

    def _remembered(self) -> tuple[FolderSettings, ...]:
        if not self._file.exists():
            return ()
        try:
            return _BOOK.validate_json(self._file.read_bytes())
        except ValidationError as error:
            raise SettingsError(
                f"{self._file} cannot be read; delete it and run `footnote ingest` on your folders again"
            ) from error

    def _write(self, sources: tuple[FolderSettings, ...]) -> None:
        draft = self._file.with_suffix(".new")
        draft.write_bytes(_BOOK.dump_json(sources, indent=2, exclude_defaults=True))
        draft.replace(self._file)


def sample_folder() -> Path:
    return Path(str(resources.files("ingest") / "sample" / "handbook"))
