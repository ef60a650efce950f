"""Which site generator the pages of a folder are written for, told by its configuration.

The nearest configuration above a page counts, up to the root of the checkout or, where there is none, the folder above
the source's own: of a site, often only its pages are a source. What a generator adds to Markdown is in
`ingest.parsers.markup.dialects`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePosixPath

_MARKDOWN = (".md", ".markdown")
_REPOSITORYS_OWN = re.compile(
    r"(?:readme|contributing|changelog|changes|history|code_of_conduct|security|support|licen[cs]e|agents|claude)(?:[.-]\w+)*\.(?:md|markdown)",
    re.IGNORECASE,
)
"""Pages beside a configuration that are read on the repository's host: no generator touches them."""
_MAX_BYTES = 200_000
"""How much of a configuration is read."""
_READS_ITS_README = frozenset({"gitbook", "honkit"})
_SCRIPTS = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts")


def _scripts(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}{ending}" for name in names for ending in _SCRIPTS)


_FILES: Sequence[tuple[str, tuple[str, ...]]] = (
    ("docusaurus", _scripts("docusaurus.config")),
    ("vitepress", (".vitepress", ".vuepress")),
    ("starlight", (*_scripts("astro.config"), "src/content")),
    ("eleventy", _scripts(".eleventy", "eleventy.config")),
    ("gitbook", (".gitbook.yaml", ".gitbook.yml", ".gitbook")),
    ("mdbook", ("book.toml",)),
    ("quarto", ("_quarto.yml", "_quarto.yaml")),
    ("myst", ("myst.yml", "_toc.yml")),
    ("hugo", ("hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json", "config/_default", "archetypes")),
    ("honkit", ("book.json", "book.js")),
)
"""Configurations that only one generator has."""
_MKDOCS = ("mkdocs.yml", "mkdocs.yaml", "properdocs.yml")
_JEKYLL = ("_config.yml", "_config.yaml", "_config.toml", "_layouts", "_includes", "_posts")
_SHARED = ("config.toml", "config.yaml", "config.yml", "config.json")
"""Hugo's before it had a name of its own, Zola's, and of much else: told by what they hold."""
_MACROS = re.compile(r"^[ \t]*(?:-[ \t]*)?[\"']?macros[\"']?[ \t]*(?::|$)", re.MULTILINE)
_ZOLA = re.compile(r"^base_url\s*=", re.MULTILINE)
_HUGO = re.compile(r"^[ \t]*[\"']?base_?url[\"']?\s*[:=]", re.MULTILINE | re.IGNORECASE)


class Generators:
    """`root`: the source's folder. Looks each folder up once; make another one for another listing."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[Path, str | None] = {}
        self._of_pages: dict[str, tuple[str | None, bool]] = {}
        """Generators by the folder of their pages."""
        self._top = next(
            (folder for folder in (root, *root.parents) if (folder / ".git").exists()), root.parent
        )

    def media_type(self, path: str) -> str | None:
        """Returns the media type of Markdown, with its generator as the variant; else None: the name says it all."""
        if not path.lower().endswith(_MARKDOWN):
            return None
        folder, _, page = path.rpartition("/")
        if folder not in self._of_pages:
            self._of_pages[folder] = self._generator(PurePosixPath(folder))
        name, beside = self._of_pages[folder]
        if beside and name not in _READS_ITS_README and _REPOSITORYS_OWN.fullmatch(page):
            return None
        return f"text/markdown; variant={name}" if name else None

    def _generator(self, pages: PurePosixPath) -> tuple[str | None, bool]:
        """Returns the generator of the pages in a folder, and whether its configuration stands beside them."""
        own = self._root / pages
        folders = [
            own,
            *(self._root / folder for folder in pages.parents),
        ]  # from the pages' own up to the root
        beyond = [folder for folder in self._root.parents if folder.is_relative_to(self._top)]
        for folder in (*folders, *beyond):
            if folder not in self._known:
                self._known[folder] = _of_folder(folder)
            name = self._known[folder]
            if name is not None:
                return name, folder == own
        underscored = any(part.startswith("_") for part in (self._root.name, *pages.parts))
        return ("jekyll-collection" if underscored else None), False  # without the rest of its site


def _of_folder(folder: Path) -> str | None:
    held = _names(folder)
    for name, files in _FILES:
        if _holds(folder, held, files):
            return name
    if config := [name for name in _MKDOCS if name in held]:
        return "mkdocs-macros" if _MACROS.search(_text(folder / config[0])) else "mkdocs"
    if "conf.py" in held and "myst" in _text(folder / "conf.py"):
        return "myst"
    if _holds(folder, held, _JEKYLL):
        return "jekyll"
    if "content" not in held:
        return None
    configurations = {name: _text(folder / name) for name in _SHARED if name in held}
    if _ZOLA.search(configurations.get("config.toml", "")):
        return "zola"
    return "hugo" if any(map(_HUGO.search, configurations.values())) else None


def _names(folder: Path) -> frozenset[str]:
    """Lists a folder; empty where it cannot be read: the pages then stay as they are written."""
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


def _holds(folder: Path, held: Collection[str], names: Iterable[str]) -> bool:
    return any(
        name.partition("/")[0] in held and ("/" not in name or (folder / name).exists()) for name in names
    )


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MAX_BYTES).decode(errors="replace")
    except OSError:
        return ""
