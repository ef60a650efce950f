"""Google Drive, asked over the network. `DriveSettings` in `files` are those of a folder that was exported from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, HttpUrl, SecretStr, model_validator

from kb.config.sources.common import CommonSettings

_ID = r"^[\w-]{10,}$"
_ADDRESS = re.compile(r"^https://drive\.google\.com/\S*?/folders/([\w-]+)")


def _as_id(given: object) -> object:
    """Returns a folder's id, also from the address that a browser shows."""
    match = _ADDRESS.match(given.strip()) if isinstance(given, str) else None
    return match[1] if match else given


FolderId = Annotated[str, BeforeValidator(_as_id), Field(pattern=_ID)]


class GoogleDriveSettings(CommonSettings):
    """What a service account, or a person by OAuth, sees of Google Drive:
    Docs, Sheets, Slides, PDF and Office files.
    """

    reader = "google_drive.source:GoogleDriveSource"
    variables: ClassVar[Mapping[str, str]] = {
        "GOOGLE_APPLICATION_CREDENTIALS": "key_file",
        "GOOGLE_SERVICE_ACCOUNT_KEY": "key",
        "GOOGLE_CLIENT_ID": "client_id",
        "GOOGLE_CLIENT_SECRET": "client_secret",
        "GOOGLE_REFRESH_TOKEN": "refresh_token",
    }

    kind: Literal["google_drive"]
    key_file: Path | None = None
    """The JSON key of a service account."""
    key: SecretStr | None = None
    """What stands in that file, in its place."""
    subject: str | None = None
    """For domain-wide delegation: the person (an e-mail address) as whom the service account reads."""
    client_id: str | None = None
    """An OAuth client and a person's refresh token; they go before a service account."""
    client_secret: SecretStr | None = None
    refresh_token: SecretStr | None = None
    folders: tuple[FolderId, ...] = ()
    """Shared drives and folders, by address or id. Empty: all that the account sees."""
    exclude: tuple[str, ...] = ()
    """Gitignore patterns on the names of folders and files, as below the folder that is read."""
    readers: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Those with whom files are shared -> the channels of those people, or "everyone". Keys: the address
    of a group or a person; a domain ("acme.com"), also by link ("acme.com with the link");
    "anyone", "anyone with the link". A file that is shared with none of them is not indexed."""
    places: Mapping[FolderId, tuple[str, ...]] = Field(default_factory=dict)
    """Folder or shared drive -> the channels that may read what is in it,
    where the account may not see with whom it is shared.
    """
    api_url: HttpUrl = HttpUrl("https://www.googleapis.com")
    timeout_s: Annotated[float, Field(gt=0, le=300)] = 60.0
    """An export of a large document takes Google half a minute."""

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        parts = {
            "client_id": self.client_id,
            "client_secret": self.client_secret,
            "refresh_token": self.refresh_token,
        }
        missing = [name for name, value in parts.items() if value is None]
        if 0 < len(missing) < len(parts):
            raise ValueError(f"OAuth needs all of {', '.join(parts)}: set {' and '.join(missing)}")
        if missing and self.key is None and self.key_file is None:
            raise ValueError(
                "no account: set key_file (or GOOGLE_APPLICATION_CREDENTIALS) to a service account's JSON key, or "
                "GOOGLE_SERVICE_ACCOUNT_KEY to what stands in it, or client_id, client_secret and refresh_token"
            )
        if self.subject is not None and not missing:
            raise ValueError("subject is for a service account: somebody's own refresh token reads as them")
        if self.api_url.scheme == "http" and self.api_url.host not in ("localhost", "127.0.0.1", "[::1]"):
            raise ValueError("a token must not be sent over http://: use https://")
        return self
