"""Files and folders as Graph tells them, and the memory of a drive's delta query: all of its items by their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import Field

from ingest.sources.api_responses import Shape, parsed


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """`parent`: the id of the folder that it is in; None: it is the root.
    `size` in bytes. `tag`: changes with every edit.
    """

    id: str
    name: str
    parent: str | None
    is_folder: bool
    tag: str = ""
    size: int = 0
    edited: date | None = None
    url: str = ""
    download: Annotated[str | None, Field(exclude=True)] = None
    """An address that opens the file to whoever has it: it is kept nowhere."""
    malware: bool = False
    checked_out: bool = False

    @property
    def ending(self) -> str:
        return PurePosixPath(self.name).suffix.lower()


class _Reference(Shape):
    id: str | None = None


class _Publication(Shape):
    level: str = "published"


class _DriveItem(Shape):
    id: str
    name: str = ""
    e_tag: str = ""
    size: int = 0
    web_url: str = ""
    modified: datetime | None = Field(default=None, alias="lastModifiedDateTime")
    parent: _Reference = Field(default_factory=_Reference, alias="parentReference")
    file: dict[str, Any] | None = None
    folder: dict[str, Any] | None = None
    root: dict[str, Any] | None = None
    deleted: dict[str, Any] | None = None
    malware: dict[str, Any] | None = None
    publication: _Publication = Field(default_factory=_Publication)
    download: str | None = Field(default=None, alias="@microsoft.graph.downloadUrl")


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """`item`: as it is now; None: it was deleted, or is neither a file nor a folder (a notebook)."""

    id: str
    item: Item | None


def change_of(payload: Mapping[str, Any]) -> Change:
    """
    Raises:
        ApiError: it is told in a form that is not known.
    """
    item = parsed(_DriveItem, payload, unknown="it tells a file in a form that Footnote does not know")
    is_folder = item.folder is not None or item.root is not None
    if item.deleted is not None or not (is_folder or item.file is not None):
        return Change(id=item.id, item=None)
    changed = f"{item.modified}/{item.size}"
    return Change(
        id=item.id,
        item=Item(
            id=item.id,
            name=item.name,
            parent=None if item.root is not None else item.parent.id,
            is_folder=is_folder,
            tag=item.e_tag or changed,
            size=item.size,
            edited=item.modified.date() if item.modified else None,
            url=item.web_url,
            download=item.download,
            malware=item.malware is not None,
            checked_out=item.publication.level == "checkout",
        ),
    )


def changed(known: Mapping[str, Item], changes: Iterable[Change]) -> dict[str, Item]:
    """Returns the items of a drive after changes, of which the last of an item counts. What is left in a
    folder that was deleted goes with it: what was moved out before names another folder by then.
    """
    items = dict(known)
    gone = set[str]()
    for change in changes:
        if change.item is None:
            gone.add(change.id)
            items.pop(change.id, None)
        else:
            gone.discard(change.id)
            items[change.id] = change.item
    while gone:
        gone = {item.id for item in items.values() if item.parent in gone}
        for orphan in gone:
            del items[orphan]
    return items


def folders_above(item: Item, items: Mapping[str, Item]) -> list[Item]:
    """Lists the folders above an item, outermost first, without the root."""
    above: list[Item] = []
    parent = item.parent
    while parent is not None and (folder := items.get(parent)) is not None and folder not in above:
        if folder.parent is not None:
            above.insert(0, folder)
        parent = folder.parent
    return above
