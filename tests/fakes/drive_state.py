"""What is in a Google Drive, with whom it is shared, and what becomes of it: the side that people see."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FOLDER = "application/vnd.google-apps.folder"
SHORTCUT = "application/vnd.google-apps.shortcut"
DOCUMENT = "application/vnd.google-apps.document"
SHEET = "application/vnd.google-apps.spreadsheet"
SLIDES = "application/vnd.google-apps.presentation"
ACCOUNT = "footnote@acme.iam.gserviceaccount.com"
OWN = "application/vnd.google-apps."
RANKS = ("reader", "commenter", "writer", "fileOrganizer", "organizer", "owner")


@dataclass(kw_only=True)
class Item:
    """`grants`: its own permissions, not those from above. `exported`:
    what the editors make of it, for Google's own kinds.
    """

    id: str
    name: str
    mime: str
    parent: str | None = None
    drive: str | None = None
    content: bytes = b""
    trashed: bool = False
    modified: str = "2026-03-04T10:00:00.000Z"
    grants: list[dict[str, Any]] = field(default_factory=list)
    limited: bool = False
    target: str = ""
    downloads: bool = True


def user(address: str, role: str = "reader", **more: Any) -> dict[str, Any]:
    return {"type": "user", "emailAddress": address, "role": role, **more}


def group(address: str, role: str = "reader", **more: Any) -> dict[str, Any]:
    return {"type": "group", "emailAddress": address, "role": role, **more}


def domain(name: str, *, found: bool = True) -> dict[str, Any]:
    return {"type": "domain", "domain": name, "role": "reader", "allowFileDiscovery": found}


def anyone(*, found: bool = False) -> dict[str, Any]:
    return {"type": "anyone", "role": "reader", "allowFileDiscovery": found}


def name_of(grant: Mapping[str, Any]) -> str:
    return str(grant.get("emailAddress") or grant.get("domain") or grant["type"])


@dataclass(kw_only=True)
class DriveState:
    url: str = ""
    items: dict[str, Item] = field(default_factory=dict)
    log: list[tuple[str | None, str]] = field(default_factory=list)
    """(shared drive or None for accounts, id) in the order of changes."""
    _made: int = 0

    def put(self, name: str, mime: str = "text/markdown", **more: Any) -> str:
        """A new file or folder; its id."""
        self._made += 1
        file_id = more.pop("id", f"1{hashlib.sha1(f'{name}{self._made}'.encode()).hexdigest()[:24]}")
        parent = more.get("parent")
        if parent in self.items and "drive" not in more:
            more["drive"] = self.items[parent].drive
        self.items[file_id] = Item(id=file_id, name=name, mime=mime, **more)
        return self.touch(file_id)

    def folder(self, name: str, **more: Any) -> str:
        return self.put(name, FOLDER, **more)

    def shared_drive(self, name: str, *grants: dict[str, Any], member: bool = True) -> str:
        members = [user(ACCOUNT, "fileOrganizer")] if member else []
        drive_id = f"0A{name.encode().hex()[:14]:0<14}PVA"
        self.items[drive_id] = Item(
            id=drive_id, name=name, mime=FOLDER, drive=drive_id, grants=[*members, *grants]
        )
        return drive_id

    def change(self, file_id: str, **values: Any) -> None:
        """Edits, moves, renames, shares or trashes it. Only its own change
        is told: not one of each file in a folder.
        """
        for name, value in values.items():
            setattr(self.items[file_id], name, value)
        self.touch(file_id)

    def delete(self, file_id: str) -> None:
        for inner in [one.id for one in self.items.values() if one.parent == file_id]:
            self.delete(inner)
        self.touch(file_id)
        del self.items[file_id]

    @property
    def changes(self) -> int:
        """How many there were so far: tokens are 1000 higher."""
        return len(self.log)

    def touch(self, file_id: str) -> str:
        item = self.items[file_id]
        self.log.append((item.drive, file_id))
        return file_id

    def effective(self, item: Item) -> list[dict[str, Any]]:
        """Its permissions, those from above included, as `permissions.list` tells them."""
        own = [{**grant, "permissionDetails": [{"inherited": False}]} for grant in item.grants]
        above = self.items.get(item.parent or "")
        root = self.items.get(item.drive or "")
        if above is None and root is not None and root.id != item.id:
            above = root
        inherited = self.effective(above) if above is not None else []
        named = {name_of(grant) for grant in own}
        for grant in inherited:
            if name_of(grant) not in named:
                told = {**grant, "permissionDetails": [{"inherited": True}]}
                may = grant["role"] in ("organizer", "owner") or name_of(grant) == ACCOUNT
                own.append({**told, "view": "metadata"} if item.limited and not may else told)
        return [{"id": hashlib.sha1(name_of(one).encode()).hexdigest()[:20], **one} for one in own]

    def rank(self, item: Item, who: str) -> int:
        ranks = [
            RANKS.index(grant["role"])
            for grant in self.effective(item)
            if name_of(grant) == who and "view" not in grant
        ]
        return max(ranks, default=-1)

    def seen(self, item: Item, who: str) -> bool:
        return self.rank(item, who) >= 0

    def is_member(self, drive_id: str, who: str) -> bool:
        root = self.items.get(drive_id)
        return root is not None and any(name_of(grant) == who for grant in root.grants)

    def is_trashed(self, item: Item) -> bool:
        above = self.items.get(item.parent or "")
        return item.trashed or (above is not None and self.is_trashed(above))

    def told(self, item: Item, who: str) -> dict[str, Any]:
        own = item.mime.startswith(OWN)
        parent = item.parent or (item.drive if item.drive != item.id else None)
        above = self.items.get(parent or "")
        told: dict[str, Any] = {
            "kind": "drive#file", "id": item.id, "name": item.name, "mimeType": item.mime,
            "trashed": self.is_trashed(item), "modifiedTime": item.modified,
            "webViewLink": f"https://drive.google.com/file/d/{item.id}/view",
            "inheritedPermissionsDisabled": item.limited,
        }  # fmt: skip
        if above is not None and self.seen(above, who):
            told["parents"] = [parent]
        if item.drive is not None:
            told |= {
                "driveId": item.drive,
                "hasAugmentedPermissions": bool(item.grants) and item.drive != item.id,
            }
            if item.drive == item.id:
                told["name"] = "Drive"
        elif self.rank(item, who) >= RANKS.index("writer"):
            told["permissions"] = self.effective(item)
        if not own:
            told |= {"md5Checksum": hashlib.md5(item.content).hexdigest(), "size": str(len(item.content))}
        elif item.mime == SHORTCUT:
            target = self.items.get(item.target)
            told["shortcutDetails"] = {
                "targetId": item.target,
                "targetMimeType": target.mime if target else "",
            }
        elif item.mime == DOCUMENT:
            told["exportLinks"] = {
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document": (
                    f"{self.url}/feeds/download/documents/Export?id={item.id}&exportFormat=docx"
                )
            }
        return told
