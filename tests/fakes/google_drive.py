"""Google Drive on loopback: the API, v3, its token endpoint and the editors' export, answering as the published ones do.

Written from developers.google.com/workspace/drive (reference v3; guides on changes, shared drives, limited access, errors, exports)
and developers.google.com/identity/protocols/oauth2. Never compared with the real product, which cannot be had here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.fakes.drive_fields import chosen, read_fields

MOST = 2
"""Results on a page, whatever was asked for, so that every list is paged."""
FOLDER = "application/vnd.google-apps.folder"
SHORTCUT = "application/vnd.google-apps.shortcut"
DOCUMENT = "application/vnd.google-apps.document"
SHEET = "application/vnd.google-apps.spreadsheet"
SLIDES = "application/vnd.google-apps.presentation"
ACCOUNT = "footnote@acme.iam.gserviceaccount.com"
_OWN = "application/vnd.google-apps."
_RANKS = ("reader", "commenter", "writer", "fileOrganizer", "organizer", "owner")
_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = _KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@dataclass(kw_only=True)
class Item:
    """`grants`: its own permissions, not those from above. `exported`: what the editors make of it, for Google's own kinds."""

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


@dataclass(kw_only=True)
class Drive:
    """`export_limit`: bytes. `people`: whom the service account may act as. `refresh_token`: None: it was revoked."""

    items: dict[str, Item] = field(default_factory=dict)
    export_limit: int = 10 * 1024 * 1024
    people: set[str] = field(default_factory=set)
    refresh_token: str | None = "1//refresh-token"
    key_is_valid: bool = True
    tokens: dict[str, str] = field(default_factory=dict)
    """Access token -> whose it is."""
    failing: deque[tuple[str, int, dict[str, Any]]] = field(default_factory=deque)
    requests: Counter[str] = field(default_factory=Counter)
    asked: list[str] = field(default_factory=list)
    url: str = ""
    down: bool = False
    _log: list[tuple[str | None, str]] = field(default_factory=list)
    """(shared drive or None for accounts, id) in the order of changes."""
    _made: int = 0

    # what people do in Drive

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
        """Edits, moves, renames, shares or trashes it. Only its own change is told: not one of each file in a folder."""
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
        return len(self._log)

    def touch(self, file_id: str) -> str:
        item = self.items[file_id]
        self._log.append((item.drive, file_id))
        return file_id

    # what a test does to Google

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
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.requests[request.path] += 1
        self.asked.append(request.path_qs)
        if self.down:
            return web.json_response(_error(503, "backendError", "Backend Error"), status=503)
        if request.path != "/token" and self._bearer(request) not in self.tokens:
            said = "Request had invalid authentication credentials."
            return web.json_response(_error(401, "authError", said), status=401)
        if self.failing and self.failing[0][0] in request.path_qs:
            _, status, body = self.failing.popleft()
            return web.json_response(body, status=status)
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

    # who sees what

    def effective(self, item: Item) -> list[dict[str, Any]]:
        """Its permissions, those from above included, as `permissions.list` tells them."""
        own = [{**grant, "permissionDetails": [{"inherited": False}]} for grant in item.grants]
        above = self.items.get(item.parent or "")
        root = self.items.get(item.drive or "")
        if above is None and root is not None and root.id != item.id:
            above = root
        inherited = self.effective(above) if above is not None else []
        named = {_name(grant) for grant in own}
        for grant in inherited:
            if _name(grant) not in named:
                told = {**grant, "permissionDetails": [{"inherited": True}]}
                may = grant["role"] in ("organizer", "owner") or _name(grant) == ACCOUNT
                own.append({**told, "view": "metadata"} if item.limited and not may else told)
        return [{"id": hashlib.sha1(_name(one).encode()).hexdigest()[:20], **one} for one in own]

    def _rank(self, item: Item, who: str) -> int:
        ranks = [
            _RANKS.index(grant["role"])
            for grant in self.effective(item)
            if _name(grant) == who and "view" not in grant
        ]
        return max(ranks, default=-1)

    def _seen(self, item: Item, who: str) -> bool:
        return self._rank(item, who) >= 0

    def _is_member(self, drive_id: str, who: str) -> bool:
        root = self.items.get(drive_id)
        return root is not None and any(_name(grant) == who for grant in root.grants)

    def _is_trashed(self, item: Item) -> bool:
        above = self.items.get(item.parent or "")
        return item.trashed or (above is not None and self._is_trashed(above))

    def _found(self, request: web.Request) -> Item:
        file_id = request.match_info["id"]
        item = self.items.get(file_id)
        if item is None or not self._seen(item, self._me(request)):
            raise _raised(404, "notFound", f"File not found: {file_id}.")
        is_export = request.path.endswith("/export")  # which has no such parameter
        if item.drive is not None and request.query.get("supportsAllDrives") != "true" and not is_export:
            raise _raised(404, "notFound", f"File not found: {file_id}.")
        return item

    def _told(self, item: Item, who: str) -> dict[str, Any]:
        own = item.mime.startswith(_OWN)
        parent = item.parent or (item.drive if item.drive != item.id else None)
        above = self.items.get(parent or "")
        told: dict[str, Any] = {
            "kind": "drive#file", "id": item.id, "name": item.name, "mimeType": item.mime,
            "trashed": self._is_trashed(item), "modifiedTime": item.modified,
            "webViewLink": f"https://drive.google.com/file/d/{item.id}/view",
            "inheritedPermissionsDisabled": item.limited,
        }  # fmt: skip
        if above is not None and self._seen(above, who):
            told["parents"] = [parent]
        if item.drive is not None:
            told |= {
                "driveId": item.drive,
                "hasAugmentedPermissions": bool(item.grants) and item.drive != item.id,
            }
            if item.drive == item.id:
                told["name"] = "Drive"
        elif self._rank(item, who) >= _RANKS.index("writer"):
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

    # the API

    async def _files(self, request: web.Request) -> web.Response:
        who, query = self._me(request), request.query
        corpora, everything = query.get("corpora", "user"), query.get("includeItemsFromAllDrives") == "true"
        if corpora in ("drive", "allDrives") and not everything:
            raise _raised(403, "teamDrivesParameters", "includeItemsFromAllDrives must be true.")
        if corpora == "drive" and not self._is_member(query["driveId"], who):
            raise _raised(404, "notFound", f"Shared drive not found: {query['driveId']}")
        wanted = _read_query(query.get("q", ""))
        found = []
        for item in self.items.values():
            told = self._told(item, who)
            inside = {
                "drive": item.drive == query.get("driveId"),
                "user": item.drive is None or (everything and bool(item.grants)),
                "allDrives": True,
            }[corpora]
            if inside and item.id != item.drive and self._seen(item, who) and wanted(told):
                found.append(told)
        return self._paged(
            request, "files", found, more={"kind": "drive#fileList", "incompleteSearch": False}
        )

    async def _file(self, request: web.Request) -> web.Response:
        if request.match_info["id"] == "root":
            return self._answer(request, {"kind": "drive#file", "id": "0AOwnRoot", "name": "My Drive"})
        item = self._found(request)
        if request.query.get("alt") != "media":
            return self._answer(request, self._told(item, self._me(request)))
        if item.mime.startswith(_OWN):
            said = "Only files with binary content can be downloaded. Use Export with Docs Editors files."
            raise _raised(403, "fileNotDownloadable", said)
        if not item.downloads:
            raise _raised(403, "cannotDownloadFile", "This file cannot be downloaded by the user.")
        return web.Response(body=item.content, content_type=item.mime)

    async def _export(self, request: web.Request) -> web.Response:
        item = self._found(request)
        media_type = request.query["mimeType"]
        if not item.mime.startswith(_OWN):
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
        if item.drive is None and self._rank(item, self._me(request)) < _RANKS.index("writer"):
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
            if item.id == item.drive and self._is_member(item.id, who)
        ]
        return self._paged(request, "drives", found, more={"kind": "drive#driveList"})

    async def _drive(self, request: web.Request) -> web.Response:
        drive_id = request.match_info["id"]
        if not self._is_member(drive_id, self._me(request)):
            raise _raised(404, "notFound", f"Shared drive not found: {drive_id}")
        return self._answer(request, {"id": drive_id, "name": self.items[drive_id].name})

    async def _start(self, request: web.Request) -> web.Response:
        self._check_log(request)
        return web.json_response(
            {"kind": "drive#startPageToken", "startPageToken": str(len(self._log) + 1000)}
        )

    async def _changes(self, request: web.Request) -> web.Response:
        """The account's log has what is in My Drive and what was shared with it; a shared drive's all that is in the drive."""
        self._check_log(request)
        written = request.query["pageToken"]
        if not written.isdecimal() or int(written) < 1000:
            raise _raised(400, "invalid", "Invalid Value")
        drive_id, first = request.query.get("driveId"), int(written) - 1000
        who = self._me(request)
        latest = {
            file_id: at
            for at, (log, file_id) in enumerate(self._log)
            if log == drive_id or self._granted(file_id, drive_id)
        }
        places = sorted(at for at in latest.values() if at >= first)
        changes = [self._change(self._log[at][1], who) for at in places[:MOST]]
        answer: dict[str, Any] = {"kind": "drive#changeList", "changes": changes}
        if len(places) > MOST:
            answer["nextPageToken"] = str(places[MOST] + 1000)
        else:
            answer["newStartPageToken"] = str(len(self._log) + 1000)
        return self._answer(request, answer)

    def _granted(self, file_id: str, drive_id: str | None) -> bool:
        """What is in a shared drive and was shared by itself is in the accounts' log as well."""
        item = self.items.get(file_id)
        return drive_id is None and item is not None and bool(item.grants)

    def _check_log(self, request: web.Request) -> None:
        drive_id = request.query.get("driveId")
        if drive_id is not None and not self._is_member(drive_id, self._me(request)):
            raise _raised(404, "notFound", f"Shared drive not found: {drive_id}")

    def _change(self, file_id: str, who: str) -> dict[str, Any]:
        item = self.items.get(file_id)
        told: dict[str, Any] = {
            "kind": "drive#change",
            "changeType": "file",
            "type": "file",
            "fileId": file_id,
        }
        if item is None or not self._seen(item, who):
            return told | {"removed": True}
        return told | {"removed": False, "file": self._told(item, who)}

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


def _name(grant: Mapping[str, Any]) -> str:
    return str(grant.get("emailAddress") or grant.get("domain") or grant["type"])


def _read_query(written: str) -> Callable[[Mapping[str, Any]], bool]:
    """The search terms that we use: parents, joined by "or", and whether it is in the trash."""
    rest = re.sub(r"'[^']+' in parents", "", written)
    assert re.fullmatch(r"[()\s]*(?:or\s*|[()\s])*(?:and\s*)?(?:trashed = false)?", rest), written
    parents = set(re.findall(r"'([^']+)' in parents", written))
    whole = "trashed = false" not in written

    def wanted(told: Mapping[str, Any]) -> bool:
        above: Iterable[str] = told.get("parents") or ()
        return (whole or not told["trashed"]) and (not parents or bool(parents & set(above)))

    return wanted


def _error(status: int, reason: str, message: str) -> dict[str, Any]:
    usage = reason.endswith("RateLimitExceeded") or reason == "rateLimitExceeded"
    one = {"message": message, "domain": "usageLimits" if usage else "global", "reason": reason}
    return {"error": {"code": status, "message": message, "errors": [one]}}


def _raised(status: int, reason: str, message: str) -> web.HTTPException:
    kinds = {400: web.HTTPBadRequest, 403: web.HTTPForbidden, 404: web.HTTPNotFound}
    return kinds[status](text=json.dumps(_error(status, reason, message)), content_type="application/json")


def _oauth(code: str, description: str, status: int = 400) -> web.Response:
    return web.json_response({"error": code, "error_description": description}, status=status)
