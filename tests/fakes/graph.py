"""Microsoft Graph v1.0 and Entra ID's token endpoint on loopback, answering as they are published.

Written from learn.microsoft.com (driveItem, delta, permission, sitePage, errors, throttling;
the client credentials flow). Never compared with the real product, which cannot be had here.
"""

from __future__ import annotations

import re
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509 import Certificate

from tests.fakes.graph_drive import HOST, Drive, Node
from tests.fakes.served import Served

MOST = 2
"""Results on a page of a list, so that every list is paged."""
TENANT = "acme.onmicrosoft.com"


@dataclass(kw_only=True)
class Site:
    id: str
    path: str
    title: str
    drives: list[Drive] = field(default_factory=list)
    pages: Drive | None = None


@dataclass(kw_only=True)
class GraphServer(Served):
    """`failing`: what the next requests get instead. `sign_in`: the
    number of Entra's error, with its word and status.
    """

    client_id: str = "11111111-2222-3333-4444-555555555555"
    secret: str = "secret~value"
    certificate: Certificate | None = None
    sites: list[Site] = field(default_factory=list)
    onedrives: dict[str, Drive] = field(default_factory=dict)
    failing: deque[tuple[str, int, dict[str, Any], dict[str, str]]] = field(default_factory=deque)
    sign_in: tuple[str, str, int] | None = None
    tokens: list[str] = field(default_factory=list)
    token_lives_s: int = 3599
    asked: list[str] = field(default_factory=list)
    down: bool = False
    refuses: tuple[int, str] | None = None
    """Status and code of what every request to Graph gets."""
    url: str = ""
    links_to: str = ""
    """Where links to what follows lead; "": here."""

    def site(self, path: str = "/sites/hr", title: str = "Human Resources") -> Site:
        number = len(self.sites)
        site = Site(
            id=f"{HOST},{uuid.UUID(int=100 + number)},{uuid.UUID(int=200 + number)}", path=path, title=title
        )
        self.sites.append(site)
        return site

    def library(self, site: Site, name: str = "Documents") -> Drive:
        drive = Drive(id=f"b!{site.path.rpartition('/')[2]}-{len(site.drives):04}", name=name)
        site.drives.append(drive)
        return drive

    def fail(self, where: str, status: int, code: str = "generalException", **headers: str) -> None:
        """The next request whose path holds `where` gets this answer."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.failing.append((where, status, _error(code, "scripted"), named))

    async def __aenter__(self) -> Self:
        app = web.Application(middlewares=[self._guarded])
        app.router.add_post("/{tenant}/oauth2/v2.0/token", self._token)
        app.router.add_get("/download/{drive}/{item}", self._download)
        app.router.add_get("/v1.0/{rest:.*}", self._answer)
        self.url = await self.serve(app)
        return self

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.asked.append(request.path)
        if self.down:
            return web.json_response(
                _error("serviceNotAvailable", "The service is temporarily unavailable."), status=503
            )
        if self.failing and self.failing[0][0] in request.path:
            _, status, body, headers = self.failing.popleft()
            return web.json_response(body, status=status, headers=headers)
        if request.path.startswith("/v1.0/"):
            bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
            if bearer not in self.tokens:
                told = _error(
                    "InvalidAuthenticationToken", "Lifetime validation failed, the token is expired."
                )
                return web.json_response(told, status=401)
            if self.refuses is not None:
                status, code = self.refuses
                return web.json_response(_error(code, "refused"), status=status)
        response: web.StreamResponse = await handler(request)
        return response

    async def _token(self, request: web.Request) -> web.Response:
        form = await request.post()
        if self.sign_in is not None:
            return _refused(*self.sign_in)
        if request.match_info["tenant"] != TENANT:
            return _refused("90002", "invalid_request", 400)
        if form.get("client_id") != self.client_id:
            return _refused("700016", "unauthorized_client", 400)
        if form.get("grant_type") != "client_credentials" or form.get("scope") != f"{self.url}/.default":
            return _refused("70011", "invalid_scope", 400)
        if "client_assertion" in form:
            if not self._is_signed(str(form["client_assertion"]), f"{self.url}{request.path}"):
                return _refused("700027", "invalid_client", 401)
        elif form.get("client_secret") != self.secret:
            return _refused("7000215", "invalid_client", 401)
        self.tokens.append(f"eyJ0.token.{len(self.tokens)}")
        told = {
            "token_type": "Bearer",
            "expires_in": self.token_lives_s,
            "ext_expires_in": self.token_lives_s,
        }
        return web.json_response(told | {"access_token": self.tokens[-1]})

    def _is_signed(self, assertion: str, audience: str) -> bool:
        assert self.certificate is not None
        head = jwt.get_unverified_header(assertion)
        mark = urlsafe_b64encode(self.certificate.fingerprint(SHA256())).rstrip(b"=").decode()
        lasts = {"verify_exp": False, "verify_nbf": False, "verify_iat": False}  # the clock is the test's own
        try:
            claims = jwt.decode(
                assertion, self.certificate.public_key(), algorithms=["PS256"], audience=audience, options=lasts  # type: ignore[arg-type]
            )  # fmt: skip
        except jwt.PyJWTError:
            return False
        lives_s = claims["exp"] - claims["nbf"]
        return (
            head.get("x5t#S256") == mark
            and 0 < lives_s <= 600
            and claims["iss"] == claims["sub"] == self.client_id
        )

    async def _download(self, request: web.Request) -> web.Response:
        """The address opens by itself; with a token of Graph as well it does not."""
        if "Authorization" in request.headers or request.query.get("tempauth") != "v1.secret":
            return web.Response(status=401)
        node = self._drive(request.match_info["drive"]).nodes[request.match_info["item"]]
        return web.Response(body=node.content)

    async def _answer(self, request: web.Request) -> web.Response:
        path = request.path.removeprefix("/v1.0")
        for pattern, handler in self._routes():
            if match := re.fullmatch(pattern, path):
                response: web.Response = handler(request, *match.groups())
                return response
        raise _missing()

    def _routes(self) -> list[tuple[str, Any]]:
        return [
            (rf"/sites/{re.escape(HOST)}(?::(/.*))?", self._site),
            (r"/sites/([^/:]+)", self._site_by_id),
            (r"/sites/([^/]+)/drives", self._drives),
            (r"/sites/([^/]+)/lists", self._lists),
            (r"/sites/([^/]+)/lists/([^/]+)/drive", self._list_drive),
            (r"/sites/([^/]+)/pages/([^/]+)/microsoft\.graph\.sitePage", self._page),
            (r"/users/([^/]+)/drive", self._onedrive),
            (r"/drives/([^/]+)/root/delta", lambda request, drive: self._delta(request, drive, "")),
            (r"/drives/([^/]+)/root/delta\(token='([^']*)'\)", self._delta),
            (r"/drives/([^/]+)/root", lambda request, drive: self._item(request, drive, "root")),
            (r"/drives/([^/]+)/items/([^/]+)", self._item),
            (r"/drives/([^/]+)/items/([^/]+)/permissions", self._permissions),
        ]

    def _site(self, _: web.Request, path: str | None) -> web.Response:
        site = next((one for one in self.sites if one.path == (path or "/")), None)
        return web.json_response(self._shown(site))

    def _site_by_id(self, _: web.Request, site_id: str) -> web.Response:
        return web.json_response(self._shown(self._of(site_id)))

    def _shown(self, site: Site | None) -> dict[str, Any]:
        if site is None:
            raise _missing()
        return {
            "id": site.id, "displayName": site.title, "name": site.path.rpartition("/")[2],
            "webUrl": f"https://{HOST}{site.path}", "root": {}, "siteCollection": {"hostname": HOST},
        }  # fmt: skip

    def _of(self, site_id: str) -> Site:
        site = next((one for one in self.sites if one.id == site_id), None)
        if site is None:
            raise _missing()
        return site

    def _drives(self, request: web.Request, site_id: str) -> web.Response:
        return self._paged(request, [_drive(one) for one in self._of(site_id).drives])

    def _lists(self, request: web.Request, site_id: str) -> web.Response:
        site = self._of(site_id)
        told = [*site.drives, *([site.pages] if site.pages else [])]
        lists = [
            {"id": f"list of {one.id}", "name": one.name, "list": {"template": one.template}} for one in told
        ]
        return self._paged(request, [{"id": "tasks", "list": {"template": "genericList"}}, *lists])

    def _list_drive(self, _: web.Request, __: str, list_id: str) -> web.Response:
        return web.json_response(_drive(self._drive(list_id.removeprefix("list of "))))

    def _onedrive(self, _: web.Request, person: str) -> web.Response:
        if person not in self.onedrives:
            raise _missing()
        owner = {"user": {"displayName": person.partition("@")[0].title(), "id": "1"}}
        return web.json_response(_drive(self.onedrives[person]) | {"driveType": "business", "owner": owner})

    def _drive(self, drive_id: str) -> Drive:
        of_sites = [one for site in self.sites for one in (*site.drives, site.pages) if one is not None]
        found = next((one for one in (*of_sites, *self.onedrives.values()) if one.id == drive_id), None)
        if found is None:
            raise _missing()
        return found

    def _delta(self, request: web.Request, drive_id: str, token: str) -> web.Response:
        """A token is where the listing began in the log, where it goes on, and where in the results it is."""
        drive = self._drive(drive_id)
        since, until, at = (
            (int(part) for part in _opened(token).split(";")) if token else (-1, len(drive.log), 0)
        )
        if since >= 0 and since < drive.oldest_token:
            location = f"{self.url}/v1.0/drives/{quote(drive_id)}/root/delta"
            body = _error("resyncChangesApplyDifferences", "Resync required.")
            return web.json_response(body, status=410, headers={"Location": location})
        if at == 0:
            until = len(drive.log)
        if since < 0:
            ids = list(drive.nodes)
        else:
            named = list(dict.fromkeys(drive.log[since:until]))
            parents = dict.fromkeys(above for one in named for above in drive.above(one))
            ids = [*reversed(parents), *named]
        shown = [self._delta_item(drive, one) for one in ids[at : at + MOST]]
        here = f"{self.links_to or self.url}/v1.0/drives/{quote(drive_id)}/root/delta"
        if at + MOST < len(ids):
            following = {"@odata.nextLink": f"{here}(token='{_sealed(f'{since};{until};{at + MOST}')}')"}
        else:
            following = {"@odata.deltaLink": f"{here}(token='{_sealed(f'{until};{until};0')}')"}
        return web.json_response({"value": shown, **following})

    def _delta_item(self, drive: Drive, item: str) -> dict[str, Any]:
        if item not in drive.nodes:
            return {"id": item, "deleted": {"state": "deleted"}, "parentReference": {"driveId": drive.id}}
        told = self._shown_item(drive, drive.nodes[item])
        told["parentReference"].pop("path", None)
        return {key: value for key, value in told.items() if key != "cTag"}

    def _item(self, _: web.Request, drive_id: str, item: str) -> web.Response:
        drive = self._drive(drive_id)
        if item not in drive.nodes:
            raise _missing()
        return web.json_response(self._shown_item(drive, drive.nodes[item]))

    def _shown_item(self, drive: Drive, node: Node) -> dict[str, Any]:
        above = [drive.nodes[one].name for one in drive.above(node.id) if one != "root"]
        where = "".join(f"/{quote(name)}" for name in reversed(above))
        told: dict[str, Any] = {
            "id": node.id, "name": node.name, "eTag": f'"{{{node.guid.upper()}}},{node.version}"',
            "cTag": f'"c:{{{node.guid.upper()}}},{node.version}"', "lastModifiedDateTime": node.modified,
            "webUrl": f"https://{HOST}/sites/hr/{quote(drive.name)}{where}/{quote(node.name)}",
            "size": len(node.content or b""), "fileSystemInfo": {"lastModifiedDateTime": node.modified},
            "parentReference": {
                "driveId": drive.id, "driveType": "documentLibrary",
                **({"id": node.parent, "path": f"/drives/{drive.id}/root:{where}"} if node.parent else {}),
            },
        }  # fmt: skip
        if node.parent is None:
            told |= {"root": {}, "folder": {"childCount": 1}}
        elif node.content is None:
            told["folder"] = {"childCount": 1}
        else:
            told["file"] = {"mimeType": "application/octet-stream", "hashes": {"quickXorHash": "..."}}
            address = f"{self.url}/download/{quote(drive.id)}/{node.id}?UniqueId=x%2By&tempauth=v1.secret"
            told["@microsoft.graph.downloadUrl"] = address
        return {key: value for key, value in (told | node.more).items() if value is not None}

    def _permissions(self, request: web.Request, drive_id: str, item: str) -> web.Response:
        drive = self._drive(drive_id)
        if item not in drive.nodes:
            raise _missing()
        return self._paged(request, drive.permissions(item))

    def _page(self, request: web.Request, site_id: str, guid: str) -> web.Response:
        pages = self._of(site_id).pages
        node = next((one for one in (pages.nodes.values() if pages else ()) if one.guid == guid), None)
        if node is None or node.page is None:
            raise _missing()
        told = {"@odata.type": "#microsoft.graph.sitePage", "id": guid, "name": node.name, **node.page}
        if request.query.get("$expand") != "canvasLayout":
            told.pop("canvasLayout", None)
        return web.json_response(told)

    def _paged(self, request: web.Request, results: list[Any]) -> web.Response:
        at = int(request.query.get("$skiptoken", "0"))
        told: dict[str, Any] = {"value": results[at : at + MOST]}
        if at + MOST < len(results):
            following = request.url.update_query({"$skiptoken": str(at + MOST)})
            told["@odata.nextLink"] = str(following)
        return web.json_response(told)


def _drive(drive: Drive) -> dict[str, Any]:
    return {"id": drive.id, "name": drive.name, "driveType": "documentLibrary", "webUrl": f"https://{HOST}"}


def _sealed(state: str) -> str:
    """Opaque, with characters that must come back as they were written."""
    return quote(urlsafe_b64encode(state.encode()).decode().rstrip("=") + "+/=", safe="")


def _opened(token: str) -> str:
    """As the server sees it, with %2B and %2F read."""
    assert token.endswith("+/="), f"a token was changed on its way: {token}"
    bare = token.removesuffix("+/=")
    return urlsafe_b64decode(bare + "=" * (-len(bare) % 4)).decode()


def _error(code: str, message: str) -> dict[str, Any]:
    inner = {"date": "2026-03-04T10:00:00", "request-id": "r-1", "client-request-id": "c-1"}
    return {"error": {"code": code, "message": message, "innerError": inner}}


def _missing() -> web.HTTPException:
    body = (
        '{"error": {"code": "itemNotFound", "message": "The resource could not be found.", "innerError": {}}}'
    )
    return web.HTTPNotFound(text=body, content_type="application/json")


def _refused(number: str, word: str, status: int) -> web.Response:
    told = {
        "error": word, "error_codes": [int(number)], "trace_id": "t-1", "correlation_id": "c-1",
        "error_description": f"AADSTS{number}: It was refused. Trace ID: t-1 Correlation ID: c-1 Timestamp: 2026-03-04 10:00:00Z",
        "timestamp": "2026-03-04 10:00:00Z", "error_uri": f"https://login.microsoftonline.com/error?code={number}",
    }  # fmt: skip
    return web.json_response(told, status=status)
