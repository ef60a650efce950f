"""A drive as Microsoft Graph has it: files, folders, with whom they are
shared, what changed when; and a site's modern page.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

HOST = "acme.sharepoint.com"


def site_group(name: str, *, role: str = "read") -> dict[str, Any]:
    """A group of the site itself, whose id counts within the site alone."""
    told = {"displayName": name, "id": "5", "loginName": name}
    return {"id": name, "roles": [role], "grantedToV2": {"siteGroup": told, "user": told}}


def group(name: str, group_id: str, *, role: str = "read", owners: bool = False) -> dict[str, Any]:
    """A group of Entra ID. `owners`: those of a Microsoft 365 group alone."""
    told = {"displayName": name, "id": group_id, "email": f"{name.lower()}@acme.com"}
    login = f"c:0o.c|federateddirectoryclaimprovider|{group_id}{'_o' if owners else ''}"
    return {
        "id": name,
        "roles": [role],
        "grantedToV2": {"group": told, "siteUser": told | {"id": "7", "loginName": login}},
    }


def person(name: str, *, role: str = "read") -> dict[str, Any]:
    told = {"displayName": name, "id": f"id of {name}", "email": f"{name.lower()}@acme.com"}
    site_user = {"displayName": name, "id": "9", "loginName": f"i:0#.f|membership|{name.lower()}@acme.com"}
    return {"id": name, "roles": [role], "grantedToV2": {"user": told, "siteUser": site_user}}


def all_of_the_tenant() -> dict[str, Any]:
    """ "Everyone except external users", in whatever language the site has."""
    told = {"displayName": "Alle behalve externe gebruikers", "id": "4", "loginName": f"c:0-.f|rolemanager|spo-grid-all-users/{uuid.UUID(int=1)}"}  # fmt: skip
    return {"id": "all", "roles": ["read"], "grantedToV2": {"user": told, "siteUser": told}}


def link(scope: str, *granted: dict[str, Any], role: str = "read", **more: Any) -> dict[str, Any]:
    told = {"scope": scope, "type": "view", "webUrl": f"https://{HOST}/:w:/g/secret"}
    many = [one["grantedToV2"] for one in granted]
    return {"id": f"link {scope}", "roles": [role], "link": told, "grantedToIdentitiesV2": many, **more}


@dataclass(kw_only=True)
class Node:
    """A file or a folder. `permissions`: its own; None: those of the folder that it is in. `page`: of a modern page."""

    id: str
    name: str
    parent: str | None
    content: bytes | None = None
    permissions: list[dict[str, Any]] | None = None
    modified: str = "2026-03-04T10:00:00Z"
    version: int = 1
    page: dict[str, Any] | None = None
    more: dict[str, Any] = field(default_factory=dict)
    guid: str = field(default_factory=lambda: str(uuid.uuid4()))


@dataclass(kw_only=True)
class Drive:
    """`log`: ids of items in the order in which they changed; a delta token is a place in it."""

    id: str
    name: str
    nodes: dict[str, Node] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    oldest_token: int = 0
    template: str = "documentLibrary"
    last: int = 0

    def __post_init__(self) -> None:
        self.nodes["root"] = Node(id="root", name="root", parent=None, permissions=[])

    def add(self, name: str, content: str | bytes | None, *, into: str = "root", **more: Any) -> str:
        """A file, or without content a folder; its id."""
        self.last += 1
        item = f"01NKDM7HMOJTVYMDOSXFDK2Q{self.id[-4:].upper()}{self.last:06}"
        data = content.encode() if isinstance(content, str) else content
        self.nodes[item] = Node(id=item, name=name, parent=into, content=data, **more)
        self.log.append(item)
        return item

    def edit(self, item: str, **changes: Any) -> None:
        node = self.nodes[item]
        for key, value in changes.items():
            setattr(node, key, value.encode() if key == "content" and isinstance(value, str) else value)
        node.version += 1
        self.log.append(item)

    def remove(self, item: str) -> None:
        """A folder goes with what is in it, of which delta then tells nothing by itself."""
        self._drop(item)
        self.log.append(item)

    def _drop(self, item: str) -> None:
        for child in [one.id for one in self.nodes.values() if one.parent == item]:
            self._drop(child)
        del self.nodes[item]

    def permissions(self, item: str) -> list[dict[str, Any]]:
        node = self.nodes[item]
        if node.permissions is not None:
            return node.permissions
        return self.permissions(node.parent or "root")

    def above(self, item: str) -> Iterator[str]:
        node = self.nodes.get(item)
        while node is not None and node.parent is not None:
            yield node.parent
            node = self.nodes.get(node.parent)


def modern_page(
    title: str, *html: str, level: str = "published", version: str = "1.0", **more: Any
) -> dict[str, Any]:
    """What Graph tells of a modern page: a column for each text."""
    parts = [
        {"@odata.type": "#microsoft.graph.textWebPart", "id": str(uuid.uuid4()), "innerHtml": one}
        for one in html
    ]
    columns = [{"id": str(at), "width": 6, "webparts": [part]} for at, part in enumerate(parts)]
    return {
        "title": title, "pageLayout": "article", "promotionKind": "page",
        "publishingState": {"level": level, "versionId": version},
        "canvasLayout": {"horizontalSections": [{"layout": "twoColumns", "id": "1", "columns": columns}], **more},
    }  # fmt: skip
