"""Google Drive on loopback: the API, v3, its token endpoint and the
editors' export, answering as the published ones do.

Written from developers.google.com/workspace/drive (reference v3; guides on changes, shared
drives, limited access, errors, exports) and developers.google.com/identity/protocols/oauth2.
Never compared with the real product, which cannot be had here.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.fakes.drive_fields import chosen, read_fields, read_query
from tests.fakes.drive_state import ACCOUNT, OWN, RANKS, DriveState, Item
from tests.fakes.served import Served

MOST = 2
"""Results on a page, whatever was asked for, so that every list is paged."""
_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = _KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@dataclass(kw_only=True)
class Drive(Served, DriveState):
    """`export_limit`: bytes. `people`: whom the service account may act as. `refresh_token`: None: it was revoked."""

    export_limit: int = 10 * 1024 * 1024
    people: set[str] = field(default_factory=set)
    refresh_token: str | None = "1//refresh-token"
    key_is_valid: bool = True
    tokens: dict[str, str] = field(default_factory=dict)
    """Access token -> whose it is."""
    failing: deque[tuple[str, int, dict[str, Any]]] = field(default_factory=deque)
    broken: set[str] = field(default_factory=set)
    """Files that cannot be downloaded."""
    asked: list[str] = field(default_factory=list)
    down: bool = False

    def fail(self, where: str, status: int, reason: str = "backendError", message: str = "scripted") -> None:
        """The next request whose address holds `where` gets this answer."""
        self.failing.append((where, status, _error(status, reason, message)))

    def expire(self) -> None:
        """All access tokens."""
        self.tokens.clear()

    def key(self) -> str:
        """The service account's key file."""
        return json.dumps(
            {
                "type": "service_account", "project_id": "acme", "private_key_id": "k1", "private_key": PEM,
                "client_email": ACCOUNT, "client_id": "1", "token_uri": f"{self.url}/token",
            }
        )  # fmt: skip

    async def __aenter__(self) -> Self:
        app = web.Application(middlewares=[self._guarded])
        v3 = "/drive/v3"
        app.router.add_post("/token", self._token)
        app.router.add_get(f"{v3}/files", self._files)
        app.router.add_get(f"{v3}/files/{{id}}", self._file)
        app.router.add_get(f"{v3}/files/{{id}}/export", self._export)
        app.router.add_get(f"{v3}/files/{{id}}/permissions", self._permissions)
        app.router.add_get(f"{v3}/drives", self._drives)
        app.router.add_get(f"{v3}/drives/{{id}}", self._drive)
        app.router.add_get(f"{v3}/changes/startPageToken", self._start)
        app.router.add_get(f"{v3}/changes", self._changes)
        app.router.add_get("/feeds/download/documents/Export", self._editors_export)
        self.url = await self.serve(app)
        return self

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.asked.append(request.path_qs)
        if self.down:
            return web.json_response(_error(503, "backendError", "Backend Error"), status=503)
        if request.path != "/token" and self._bearer(request) not in self.tokens:
            said = "Request had invalid authentication credentials."
            return web.json_response(_error(401, "authError", said), status=401)
        if self.failing and self.failing[0][0] in request.path_qs:
            _, status, body = self.failing.popleft()
            return web.json_response(body, status=status)
        if any(file_id in request.path_qs for file_id in self.broken) and "alt=media" in request.path_qs:
            return web.json_response(_error(400, "badRequest", "Bad Request"), status=400)
        response: web.StreamResponse = await handler(request)
        return response

    def _bearer(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    def _me(self, request: web.Request) -> str:
        return self.tokens[self._bearer(request)]

    async def _token(self, request: web.Request) -> web.Response:
        form = await request.post()
        if form.get("grant_type") == "refresh_token":
            if form.get("client_secret") != "client-secret":
                return _oauth("invalid_client", "The OAuth client was not found.", 401)
            if self.refresh_token is None or form.get("refresh_token") != self.refresh_token:
                return _oauth("invalid_grant", "Token has been expired or revoked.")
            return self._issued("dana@acme.com")
        if form.get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" or not self.key_is_valid:
            return _oauth("invalid_grant", "Invalid JWT Signature.")
        try:
            claims = jwt.decode(
                str(form.get("assertion")), _KEY.public_key(), algorithms=["RS256"],
                audience=f"{self.url}/token", options={"verify_iat": False, "verify_exp": False},
            )  # fmt: skip
        except jwt.PyJWTError:
            return _oauth("invalid_grant", "Invalid JWT Signature.")
        assert claims["iss"] == ACCOUNT
        assert claims["exp"] - claims["iat"] <= 3600
        assert claims["scope"] == "https://www.googleapis.com/auth/drive.readonly"
        if "sub" in claims and claims["sub"] not in self.people:
            said = "Client is unauthorized to retrieve access tokens using this method."
            return _oauth("unauthorized_client", said, 401)
        return self._issued(claims.get("sub", ACCOUNT))

    def _issued(self, who: str) -> web.Response:
        token = f"ya29.secret-{len(self.asked)}"
        self.tokens[token] = who
        return web.json_response({"access_token": token, "expires_in": 3599, "token_type": "Bearer"})

    def _found(self, request: web.Request) -> Item:
        file_id = request.match_info["id"]
        item = self.items.get(file_id)
        if item is None or not self.seen(item, self._me(request)):
            raise _raised(404, "notFound", f"File not found: {file_id}.")
        is_export = request.path.endswith("/export")  # which has no such parameter
        if item.drive is not None and request.query.get("supportsAllDrives") != "true" and not is_export:
            raise _raised(404, "notFound", f"File not found: {file_id}.")
        return item

    async def _files(self, request: web.Request) -> web.Response:
        who, query = self._me(request), request.query
        corpora, everything = query.get("corpora", "user"), query.get("includeItemsFromAllDrives") == "true"
        if corpora in ("drive", "allDrives") and not everything:
            raise _raised(403, "teamDrivesParameters", "includeItemsFromAllDrives must be true.")
        if corpora == "drive" and not self.is_member(query["driveId"], who):
            raise _raised(404, "notFound", f"Shared drive not found: {query['driveId']}")
        wanted = read_query(query.get("q", ""))
        found = []
        for item in self.items.values():
            told = self.told(item, who)
            inside = {
                "drive": item.drive == query.get("driveId"),
                "user": item.drive is None or (everything and bool(item.grants)),
                "allDrives": True,
            }[corpora]
            if inside and item.id != item.drive and self.seen(item, who) and wanted(told):
                found.append(told)
        return self._paged(
            request, "files", found, more={"kind": "drive#fileList", "incompleteSearch": False}
        )

    async def _file(self, request: web.Request) -> web.Response:
        if request.match_info["id"] == "root":
            return self._answer(request, {"kind": "drive#file", "id": "0AOwnRoot", "name": "My Drive"})
        item = self._found(request)
        if request.query.get("alt") != "media":
            return self._answer(request, self.told(item, self._me(request)))
        if item.mime.startswith(OWN):
            said = "Only files with binary content can be downloaded. Use Export with Docs Editors files."
            raise _raised(403, "fileNotDownloadable", said)
        if not item.downloads:
            raise _raised(403, "cannotDownloadFile", "This file cannot be downloaded by the user.")
        return web.Response(body=item.content, content_type=item.mime)

    async def _export(self, request: web.Request) -> web.Response:
        item = self._found(request)
        media_type = request.query["mimeType"]
        if not item.mime.startswith(OWN):
            raise _raised(403, "fileNotExportable", "Export only supports Docs Editors files.")
        if not item.downloads:
            raise _raised(403, "cannotExportFile", "This file cannot be exported by the user.")
        if len(item.content) > self.export_limit:
            raise _raised(403, "exportSizeLimitExceeded", "This file is too large to be exported.")
        return web.Response(body=item.content, content_type=media_type)

    async def _editors_export(self, request: web.Request) -> web.Response:
        return web.Response(body=self.items[request.query["id"]].content)

    async def _permissions(self, request: web.Request) -> web.Response:
        item = self._found(request)
        if item.drive is None and self.rank(item, self._me(request)) < RANKS.index("writer"):
            said = "The user does not have sufficient permissions for this file."
            raise _raised(403, "insufficientFilePermissions", said)
        return self._paged(
            request, "permissions", self.effective(item), more={"kind": "drive#permissionList"}
        )

    async def _drives(self, request: web.Request) -> web.Response:
        who = self._me(request)
        found = [
            {"kind": "drive#drive", "id": item.id, "name": item.name}
            for item in self.items.values()
            if item.id == item.drive and self.is_member(item.id, who)
        ]
        return self._paged(request, "drives", found, more={"kind": "drive#driveList"})

    async def _drive(self, request: web.Request) -> web.Response:
        drive_id = request.match_info["id"]
        if not self.is_member(drive_id, self._me(request)):
            raise _raised(404, "notFound", f"Shared drive not found: {drive_id}")
        return self._answer(request, {"id": drive_id, "name": self.items[drive_id].name})

    async def _start(self, request: web.Request) -> web.Response:
        self._check_log(request)
        return web.json_response(
            {"kind": "drive#startPageToken", "startPageToken": str(len(self.log) + 1000)}
        )

    async def _changes(self, request: web.Request) -> web.Response:
        """The account's log has what is in My Drive and what was shared
        with it; a shared drive's all that is in the drive.
        """
        self._check_log(request)
        written = request.query["pageToken"]
        if not written.isdecimal() or int(written) < 1000:
            raise _raised(400, "invalid", "Invalid Value")
        drive_id, first = request.query.get("driveId"), int(written) - 1000
        who = self._me(request)
        latest = {
            file_id: at
            for at, (log, file_id) in enumerate(self.log)
            if log == drive_id or self._granted(file_id, drive_id)
        }
        places = sorted(at for at in latest.values() if at >= first)
        changes = [self._change(self.log[at][1], who) for at in places[:MOST]]
        answer: dict[str, Any] = {"kind": "drive#changeList", "changes": changes}
        if len(places) > MOST:
            answer["nextPageToken"] = str(places[MOST] + 1000)
        else:
            answer["newStartPageToken"] = str(len(self.log) + 1000)
        return self._answer(request, answer)

    def _granted(self, file_id: str, drive_id: str | None) -> bool:
        """What is in a shared drive and was shared by itself is in the accounts' log as well."""
        item = self.items.get(file_id)
        return drive_id is None and item is not None and bool(item.grants)

    def _check_log(self, request: web.Request) -> None:
        drive_id = request.query.get("driveId")
        if drive_id is not None and not self.is_member(drive_id, self._me(request)):
            raise _raised(404, "notFound", f"Shared drive not found: {drive_id}")

    def _change(self, file_id: str, who: str) -> dict[str, Any]:
        item = self.items.get(file_id)
        told: dict[str, Any] = {
            "kind": "drive#change",
            "changeType": "file",
            "type": "file",
            "fileId": file_id,
        }
        if item is None or not self.seen(item, who):
            return told | {"removed": True}
        return told | {"removed": False, "file": self.told(item, who)}

    def _paged(
        self, request: web.Request, name: str, found: list[dict[str, Any]], *, more: Mapping[str, Any]
    ) -> web.Response:
        first = int(request.query.get("pageToken", "0"))
        answer = {**more, name: found[first : first + MOST]}
        if first + MOST < len(found):
            answer["nextPageToken"] = str(first + MOST)
        return self._answer(request, answer)

    def _answer(self, request: web.Request, told: dict[str, Any]) -> web.Response:
        """Those fields alone that were asked for."""
        fields = request.query.get("fields")
        return web.json_response(chosen(told, read_fields(fields)) if fields else told)


def _error(status: int, reason: str, message: str) -> dict[str, Any]:
    usage = reason.endswith("RateLimitExceeded") or reason == "rateLimitExceeded"
    one = {"message": message, "domain": "usageLimits" if usage else "global", "reason": reason}
    return {"error": {"code": status, "message": message, "errors": [one]}}


def _raised(status: int, reason: str, message: str) -> web.HTTPException:
    kinds = {400: web.HTTPBadRequest, 403: web.HTTPForbidden, 404: web.HTTPNotFound}
    return kinds[status](text=json.dumps(_error(status, reason, message)), content_type="application/json")


def _oauth(code: str, description: str, status: int = 400) -> web.Response:
    return web.json_response({"error": code, "error_description": description}, status=status)
