"""Requests to the Drive API, v3: one account, its limits, page by page of results.

Errors come as https://developers.google.com/workspace/drive/api/guides/handle-errors
has them: a rate limit is 429, or 403 with a reason, and ends within a minute.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any
from urllib.parse import quote

from pydantic import TypeAdapter
from yarl import URL

from ingest.sources.api_responses import ApiError, BusyError, CredentialsError, Response, error_of
from ingest.sources.google_drive.credentials import Account
from ingest.sources.google_drive.files import (
    FIELDS,
    PERMISSION_FIELDS,
    UNKNOWN_FORM,
    DriveFile,
    Permission,
    parsed,
)
from ingest.sources.json_api import JsonApi, Parameters, Sleep
from kb.config.sources import GoogleDriveSettings

UNSEEN = (403, 404)
"""Status codes for what does not exist, or not for this account."""
_LIMITS = frozenset({"userRateLimitExceeded", "rateLimitExceeded", "sharingRateLimitExceeded"})
_LIMITED_S = 4.0
"""The first pause; they double, and together last longer than the minute in which requests are counted."""
_PAGE_SIZE = 1000
"""The most that Google gives; where permissions are asked for it gives fewer."""
_DRIVES_SIZE = 100
_OBJECT = TypeAdapter(dict[str, Any])
TOO_LARGE = "exportSizeLimitExceeded"
_EXPORT_HOST = "docs.google.com"
_EVERYWHERE: Mapping[str, str] = {"supportsAllDrives": "true"}
_LISTED: Mapping[str, str] = {**_EVERYWHERE, "includeItemsFromAllDrives": "true"}


class Connection:
    """Every method raises `ApiError`. `clock`: seconds since 1970."""

    def __init__(
        self,
        settings: GoogleDriveSettings,
        *,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._sleep = sleep
        self._origin = URL(str(settings.api_url)).origin()
        self.account = Account(settings, sleep=sleep, clock=clock)
        self._api = self._opened(f"{str(settings.api_url).rstrip('/')}/drive/v3")

    async def close(self) -> None:
        await self._api.close()

    async def file(self, file_id: str) -> DriveFile:
        return parsed(DriveFile, await self._get(_path(file_id), {**_EVERYWHERE, "fields": FIELDS}))

    async def folder(self, file_id: str) -> DriveFile:
        """Returns a folder as people call it: the one that is a shared drive is named "Drive" by the API of files."""
        folder = await self.file(file_id)
        if folder.id != folder.drive_id:
            return folder
        return folder.model_copy(update={"name": await self.drive_name(folder.id)})

    async def files(self, query: Parameters) -> AsyncIterator[DriveFile]:
        """Yields the files that a query finds. Raises also where Google could not search all of it."""
        parameters = {**_LISTED, "pageSize": _PAGE_SIZE, **query}
        async for file in self._every("/files", "files", f"incompleteSearch,files({FIELDS})", parameters):
            yield parsed(DriveFile, file)

    async def permissions(self, file_id: str) -> tuple[Permission, ...]:
        """Lists the permissions of a file or a shared drive, inherited ones included."""
        path, fields = f"{_path(file_id)}/permissions", f"permissions({PERMISSION_FIELDS})"
        parameters: Parameters = {**_EVERYWHERE, "pageSize": _DRIVES_SIZE}
        found = self._every(path, "permissions", fields, parameters)
        return tuple([parsed(Permission, permission) async for permission in found])

    async def drives(self) -> dict[str, str]:
        """Returns id -> name of every shared drive that the account is a member of."""
        found = self._every("/drives", "drives", "drives(id,name)", {"pageSize": _DRIVES_SIZE})
        return {str(drive["id"]): str(drive.get("name", "")) async for drive in found}

    async def drive_name(self, drive_id: str) -> str:
        """Raises with status 404 where the account is no member, whatever else it sees of the drive."""
        drive = await self._get(f"/drives/{quote(drive_id, safe='')}", {"fields": "id,name"})
        return str(drive.get("name", ""))

    async def own_root(self) -> str:
        """Returns the id of the account's My Drive."""
        return str((await self._get("/files/root", {"fields": "id"})).get("id", ""))

    async def start_token(self, drive_id: str | None) -> str:
        """Returns the token from which on changes are told: of the account, or of a shared drive."""
        start = await self._get("/changes/startPageToken", {**_EVERYWHERE, **_log(drive_id)})
        return str(start["startPageToken"])

    async def changes(self, token: str, drive_id: str | None) -> tuple[list[Any], str, bool]:
        """Returns a page of changes as Google writes them, the token of what follows, and whether there is more now."""
        parameters: Parameters = {
            **_LISTED,
            **_log(drive_id),
            "pageToken": token,
            "pageSize": _PAGE_SIZE,
            "includeRemoved": "true",
            "fields": f"nextPageToken,newStartPageToken,changes(changeType,removed,fileId,file({FIELDS}))",
        }
        page = await self._get("/changes", parameters)
        following = page.get("nextPageToken") or page.get("newStartPageToken")
        if not following:
            raise ApiError(UNKNOWN_FORM)
        return list(page.get("changes") or ()), str(following), "nextPageToken" in page

    async def content(self, file: DriveFile, *, max_bytes: int) -> bytes:
        """Returns the content of a file, or Google's export of it, of at most `max_bytes`."""
        path = _path(file.id)
        if file.export is None:
            return await self._api.download(f"{path}?alt=media&supportsAllDrives=true", max_bytes=max_bytes)
        try:
            path += f"/export?mimeType={quote(file.export, safe='')}"
            return await self._api.download(path, max_bytes=max_bytes)
        except ApiError as error:
            if reason_of(error) != TOO_LARGE:
                raise
            return await self._exported_by_link(file, file.export, max_bytes, error)

    async def _exported_by_link(
        self, file: DriveFile, media_type: str, max_bytes: int, error: ApiError
    ) -> bytes:
        """Downloads the editor's own export, to which a file links: unlike `files.export` it has no limit of 10 MB."""
        links = (await self._get(_path(file.id), {**_EVERYWHERE, "fields": "exportLinks"})).get("exportLinks")
        link = URL(str((links or {}).get(media_type, "")), encoded=True)
        ours = link.absolute and link.origin() == self._origin
        if not ours and not (link.scheme == "https" and link.host == _EXPORT_HOST):
            raise error
        async with self._opened(str(link.origin())) as exports:
            return await exports.download(link.raw_path_qs, max_bytes=max_bytes)

    async def _every(self, path: str, name: str, fields: str, parameters: Parameters) -> AsyncIterator[Any]:
        """Yields every result in the lists called `name`, page by page."""
        query: Parameters = {**parameters, "fields": f"nextPageToken,{fields}"}
        token: str | None = None
        while True:
            page = await self._get(path, {**query, "pageToken": token} if token else query)
            if page.get("incompleteSearch"):
                raise ApiError("Google could not search all drives to the end: try later")
            for result in page.get(name) or ():
                yield result
            token = page.get("nextPageToken")
            if not token:
                return

    async def _get(self, path: str, parameters: Parameters) -> dict[str, Any]:
        return parsed(_OBJECT, await self._api.get(path, parameters))

    def _opened(self, base_url: str) -> JsonApi:
        return JsonApi(
            base_url,
            vendor="google_drive",
            timeout_s=self._settings.timeout_s,
            sleep=self._sleep,
            credentials=self.account,
            error_of=_error_of,
        )


def _error_of(response: Response) -> ApiError | None:
    if response.status == 403 and _reason(response.payload) in _LIMITS:
        return BusyError(
            "it answers 403",
            status=403,
            payload=response.payload,
            wait_s=response.retry_after_s,
            first_s=_LIMITED_S,
        )
    return error_of(response)


def _path(file_id: str) -> str:
    return f"/files/{quote(file_id, safe='')}"


def reason_of(error: ApiError) -> str:
    """Returns Google's code for an error ("notFound"); "" where it has none."""
    return _reason(error.payload)


def message_of(error: ApiError) -> str:
    """Returns Google's sentence for an error."""
    return str(_details(error.payload).get("message") or "")


def advice(error: ApiError, account: str) -> str:
    """Advises on an error that concerns more than a single file."""
    match error.status, reason_of(error):
        case _ if isinstance(error, CredentialsError) and error.status == 401:
            return str(error)  # its text says what to do
        case 401, _:
            return "Google does not accept the access token: look at the account's credentials"
        case 403, "accessNotConfigured" | "SERVICE_DISABLED":
            return "the Google Drive API is not enabled in the account's Cloud project: enable it there"
        case 403, "insufficientPermissions" | "ACCESS_TOKEN_SCOPE_INSUFFICIENT":
            return "the account may not read files: grant it the scope drive.readonly"
        case 403, "dailyLimitExceeded":
            return "the requests of this day are used up: raise the quota of the Cloud project, or sync less often"
        case (404, _) | (403, "insufficientFilePermissions" | "teamDriveMembershipRequired"):
            return (
                f"there is no such folder, or it is not shared with {account}: share it, or correct `folders`"
            )
        case (429, _) | (403, "userRateLimitExceeded" | "rateLimitExceeded"):
            return "Google limits the rate of requests and did not stop doing so: sync less often, or later"
        case _:
            message = message_of(error)
            reason = f"{error} ({message})" if message else str(error)
            return f"{reason}; look whether googleapis.com can be reached from here"


def _reason(payload: Any) -> str:
    details = _details(payload)
    for part in (*(details.get("errors") or ()), *(details.get("details") or ())):
        if isinstance(part, dict) and part.get("reason"):
            return str(part["reason"])
    return str(details.get("status") or "")


def _details(payload: Any) -> dict[str, Any]:
    details = payload.get("error") if isinstance(payload, dict) else None
    return details if isinstance(details, dict) else {}


def _log(drive_id: str | None) -> dict[str, str]:
    return {} if drive_id is None else {"driveId": drive_id}
