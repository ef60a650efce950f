"""Sixty planted pairs of pages, an old and a new value each, among three hundred ordinary pages; all made up.

The pages come from two small files of words (`pairs.toml`, `ordinary.toml`), written out
as Markdown with front matter, so that an evaluation ingests them as it would anybody's.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from datetime import date, timedelta
from importlib import resources
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

AS_OF = date(2026, 11, 27)
"""The day on which the pages are as old as they are meant to be."""
_MISLEADING_EDIT = date(2026, 11, 2)
"""A site migration touched every old page after the new one was written: edit dates must not decide."""

Kind = Literal["successor", "review", "version", "conflict"]


class Pair(BaseModel):
    """`old`, `new`: the values as an answer says them. Pages are title and Markdown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    question: str
    old: str
    new: str
    old_page: tuple[str, str]
    new_page: tuple[str, str]

    @property
    def old_path(self) -> str:
        return f"{_slug(self.old_page[0])}.md"

    @property
    def new_path(self) -> str:
        path = f"{_slug(self.new_page[0])}.md"
        return path if path != self.old_path else f"new/{path}"


class PlantedSubject(BaseModel):
    """`n`, `m`: the first number and the step to the next."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    question: str
    text: str
    n: tuple[int, int]
    m: tuple[int, int]
    things: tuple[str, ...]


class Ordinary(BaseModel):
    """A page that no other contradicts. `value`: the number that answers the question."""

    model_config = ConfigDict(frozen=True)

    path: str
    title: str
    question: str
    text: str
    value: str


def read_pairs() -> tuple[Pair, ...]:
    return tuple(Pair.model_validate(pair) for pair in _read("pairs.toml")["pair"])


def read_ordinary() -> tuple[Ordinary, ...]:
    subjects = [PlantedSubject.model_validate(subject) for subject in _read("ordinary.toml")["subject"]]
    return tuple(page for subject in subjects for page in _pages_of(subject))


def write_pages(folder: Path, *, sparse: int = 1) -> None:
    """Writes the pages as Markdown files: all 420, or every `sparse`th of the ordinary ones."""
    for number, pair in enumerate(read_pairs()):
        for path, text in _pair_files(pair, number):
            _write(folder / path, text)
    for page in read_ordinary()[::sparse]:
        front = {"title": page.title, "last_reviewed_on": date(2026, 6, 1), "review_in": "12 months"}
        _write(folder / page.path, _page(front, page.text))


def _pair_files(pair: Pair, number: int) -> Iterator[tuple[str, str]]:
    newer = date(2026, 3, 1) + timedelta(days=3 * number)
    old: dict[str, object] = {"title": pair.old_page[0], "owner": "The team in charge"}
    new: dict[str, object] = {"title": pair.new_page[0], "last_reviewed_on": newer, "review_in": "12 months"}
    match pair.kind:
        case "successor":
            old |= {"superseded_by": pair.new_path, "last_updated": _MISLEADING_EDIT}
        case "review":
            old |= {"last_reviewed_on": date(2024, 5, 1), "review_in": "12 months"}
            old |= {"last_updated": _MISLEADING_EDIT}
        case "version":
            old |= {"last_updated": _MISLEADING_EDIT}
        case "conflict":
            old |= {"last_reviewed_on": newer - timedelta(days=60), "review_in": "12 months"}
    yield pair.old_path, _page(old, pair.old_page[1])
    yield pair.new_path, _page(new, pair.new_page[1])


def _pages_of(subject: PlantedSubject) -> Iterator[Ordinary]:
    for index, thing in enumerate(subject.things):
        n, m = subject.n[0] + index * subject.n[1], subject.m[0] + index * subject.m[1]
        title = subject.title.format(thing=thing)
        text = subject.text.format(thing=thing, n=n, m=m)
        yield Ordinary(
            path=f"ordinary/{_slug(title)}.md",
            title=title,
            question=subject.question.format(thing=thing),
            text=text[0].upper() + text[1:],
            value=str(n),
        )


def _page(front: dict[str, object], text: str) -> str:
    fields = "\n".join(f"{name}: {_quoted(value)}" for name, value in front.items())
    return f"---\n{fields}\n---\n\n{text}\n"


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _slug(title: str) -> str:
    return re.sub(r"[^\w]+", "-", title.casefold()).strip("-")


def _read(name: str) -> dict[str, list[dict[str, object]]]:
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
