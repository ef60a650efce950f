"""What the Drive API tells of a file
(https://developers.google.com/workspace/drive/api/reference/rest/v3/files), and as what it is read.

Docs are exported as Word files: their Markdown has `{#anchors}` in its
headings, bold headings, pictures as text, and no merged cells, while a Word
file keeps headings and tables, and our reader leaves its comments out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from pathlib import PurePosixPath

from pydantic import Field

from ingest.sources import api_responses
from ingest.sources.api_responses import Shape
from kb.config.sources import DOCUMENTS

UNKNOWN_FORM = "Google answers in a form that Footnote does not know"
_OWN = "application/vnd.google-apps."
FOLDER = f"{_OWN}folder"
SHORTCUT = f"{_OWN}shortcut"
DOCUMENT = f"{_OWN}document"
_OPEN_XML = "application/vnd.openxmlformats-officedocument."
_EXPORTS: Mapping[str, tuple[str, str]] = {
    DOCUMENT: (f"{_OPEN_XML}wordprocessingml.document", "docx"),
    f"{_OWN}spreadsheet": (f"{_OPEN_XML}spreadsheetml.sheet", "xlsx"),
    f"{_OWN}presentation": (f"{_OPEN_XML}presentationml.presentation", "pptx"),
}
"""Google's own kind -> what it is exported as, and that file's ending."""
_ENDINGS: Mapping[str, str] = {
    "application/pdf": "pdf",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/rtf": "rtf",
    "text/rtf": "rtf",
    "application/epub+zip": "epub",
    "text/plain": "txt",
    "text/markdown": "md",
    "text/x-markdown": "md",
    "text/html": "html",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "message/rfc822": "eml",
    **dict(_EXPORTS.values()),
}
"""For names without an ending that tells."""
_DOCUMENTS = frozenset(PurePosixPath(pattern).suffix.lower().lstrip(".") for pattern in DOCUMENTS) - {""}

PERMISSION_FIELDS = "id,type,emailAddress,domain,allowFileDiscovery,deleted,expirationTime,view"
FIELDS = (
    "id,name,mimeType,parents,driveId,trashed,modifiedTime,md5Checksum,size,webViewLink,hasAugmentedPermissions,"
    f"inheritedPermissionsDisabled,shortcutDetails(targetId,targetMimeType),permissions({PERMISSION_FIELDS})"
)


class Permission(Shape):
    """One party with whom a file is shared. `view`: only an aspect of it is shared, such as the mere name of a folder.
    `discoverable`: also people without its address find it.
    """

    type: str
    address: str = Field(default="", alias="emailAddress")
    domain: str = ""
    discoverable: bool = Field(default=False, alias="allowFileDiscovery")
    deleted: bool = False
    expires: datetime | None = Field(default=None, alias="expirationTime")
    view: str = ""

    @property
    def key(self) -> str:
        """As `readers` names it."""
        match self.type:
            case "user" | "group":
                return self.address.lower()
            case "domain":
                return self.domain.lower() + ("" if self.discoverable else BY_LINK)
            case "anyone":
                return "anyone" + ("" if self.discoverable else BY_LINK)
            case _:
                return self.type

    def holds_at(self, now: datetime) -> bool:
        return not self.deleted and not self.view and (self.expires is None or self.expires > now)


BY_LINK = " with the link"


class Target(Shape):
    """Where a shortcut leads."""

    id: str = Field(default="", alias="targetId")
    media_type: str = Field(default="", alias="targetMimeType")


class DriveFile(Shape):
    """A file or a folder. `permissions`: None where they are not told: of everything in a
    shared drive, and where the account may not share the file itself.
    `has_own_permissions`: of what is in a shared drive, beside those of what is above it.
    `is_limited`: a folder that only those may read who are named on it.
    """

    id: str
    name: str = ""
    media_type: str = Field(default="", alias="mimeType")
    parents: tuple[str, ...] = ()
    drive_id: str | None = None
    trashed: bool = False
    modified: datetime | None = Field(default=None, alias="modifiedTime")
    checksum: str = Field(default="", alias="md5Checksum")
    size: int = 0
    link: str = Field(default="", alias="webViewLink")
    permissions: tuple[Permission, ...] | None = None
    has_own_permissions: bool = Field(default=True, alias="hasAugmentedPermissions")
    is_limited: bool = Field(default=False, alias="inheritedPermissionsDisabled")
    target: Target = Field(default=Target(), alias="shortcutDetails")

    @property
    def is_folder(self) -> bool:
        return self.media_type == FOLDER

    @property
    def parent(self) -> str | None:
        """A file has one, if any that the account sees."""
        return self.parents[0] if self.parents else None

    @property
    def edited(self) -> date | None:
        return self.modified.date() if self.modified else None

    @property
    def url(self) -> str:
        return self.link or url_of(self.id)

    @property
    def export(self) -> str | None:
        """The media type in which Google is to export it; None where it is a file."""
        found = _EXPORTS.get(self.media_type)
        return found[0] if found else None

    @property
    def file_name(self) -> str | None:
        """The name with the ending by which the file is read; None: it is no document (a picture, a form)."""
        name = self.name.replace("/", "_").strip() or self.id
        if self.media_type in _EXPORTS:
            return f"{name}.{_EXPORTS[self.media_type][1]}"
        if self.media_type.startswith(_OWN):
            return None
        if PurePosixPath(name).suffix.lower().lstrip(".") in _DOCUMENTS:
            return name
        ending = _ENDINGS.get(self.media_type)
        return f"{name}.{ending}" if ending else None

    @property
    def version(self) -> str:
        """Changes with the words of the file. Google's own kinds have no checksum."""
        return f"{self.media_type} {self.checksum} {self.modified}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """`file`: as it is now; None: it was deleted, or the account sees it no longer."""

    id: str
    file: DriveFile | None


class _Change(Shape):
    kind: str = Field(default="file", alias="changeType")
    id: str = Field(default="", alias="fileId")
    removed: bool = False
    file: DriveFile | None = None


parsed = partial(api_responses.parsed, unknown=UNKNOWN_FORM)
"""Raises `ApiError`."""


def change_of(payload: object) -> Change | None:
    """Reads a change; None: it is no change of a file."""
    change = parsed(_Change, payload)
    if change.kind != "file" or not change.id:
        return None
    return Change(id=change.id, file=None if change.removed else change.file)


def url_of(file_id: str) -> str:
    """Returns the address, which leads on to the editor of its kind."""
    return f"https://drive.google.com/open?id={file_id}"
