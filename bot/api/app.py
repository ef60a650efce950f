"""Defines the routes of the HTTP API, as `docs/openapi.json` describes them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException

from bot.api import schemas
from bot.api.connection import ClientGoneError, while_connected
from bot.api.errors import ApiError, KeyRefusedError
from bot.api.events import STREAM
from bot.api.keys import ApiKey
from bot.api.service import Service
from bot.api.streaming import FAILED, EventStream

BASE = "/api/v1"
CODES = {404: "not_found", 405: "not_allowed", 413: "too_large"}

_RETRY = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": schemas.ErrorReply, "description": "`invalid_request`: the body could not be read."},
    401: {"model": schemas.ErrorReply, "description": "`invalid_key`: no key, or none that counts."},
    413: {"model": schemas.ErrorReply, "description": "`too_large`: the body is larger than 512 KiB."},
    421: {
        "model": schemas.ErrorReply,
        "description": "`foreign_host`: the Host or Origin is not known here.",
    },
    422: {"model": schemas.ErrorReply, "description": "`invalid_request`: `problems` says what is wrong."},
    429: {"model": schemas.ErrorReply, "description": "`rate_limited`", "headers": _RETRY},
    503: {
        "model": schemas.ErrorReply,
        "description": "`busy`, or `unavailable`: an outage, which says nothing about the pages.",
        "headers": _RETRY,
    },
}


def create_app(service: Service | None = None) -> FastAPI:
    """Builds the app; without a `service` it can only describe itself."""
    app = FastAPIOffline(
        title="Footnote",
        version="1",
        summary="Search your own pages, and ask them: cited answers, with a word about pages that are out of date.",
        description="Needs a key (`footnote keys add NAME`): what it may read decides what is found. See docs/api.md.",
        openapi_url=f"{BASE}/openapi.json",
        docs_url=f"{BASE}/docs",
        redoc_url=None,
        static_url=f"{BASE}/docs/static",
        swagger_ui_oauth2_redirect_url=f"{BASE}/docs/oauth2-redirect",
        max_body_size=schemas.MAX_BODY,
        redirect_slashes=False,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
    )
    app.state.service = service
    app.include_router(_routes)
    app.add_exception_handler(ApiError, _refused)
    app.add_exception_handler(ClientGoneError, _gone)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _failed)
    return app


_routes = APIRouter()
_bearer = HTTPBearer(auto_error=False, description="A key that `footnote keys add` has shown.")


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


_Served = Annotated[Service, Depends(_service)]


async def _admitted(
    service: _Served, sent: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> ApiKey:
    if sent is None:
        raise KeyRefusedError
    return await service.admit(sent.credentials)


_Key = Annotated[ApiKey, Depends(_admitted)]


@_routes.post(
    f"{BASE}/search",
    response_model=schemas.SearchReply,
    responses=_REFUSALS,
    summary="Passages, best first, and an answer where it is wanted",
    operation_id="search",
)
async def search(body: schemas.SearchRequest, key: _Key, service: _Served, request: Request) -> Any:
    return await while_connected(request, service.search(key, body))


@_routes.post(
    f"{BASE}/ask",
    response_class=Response,
    responses=_REFUSALS | STREAM,
    summary="An answer, sentence by sentence, as server-sent events",
    operation_id="ask",
)
async def ask(body: schemas.AskRequest, key: _Key, service: _Served) -> Response:
    service.concurrency.check()
    return EventStream(lambda progress: service.ask(key, body, progress=progress))


@_routes.get(
    "/health",
    response_model=schemas.Health,
    responses={503: {"model": schemas.Health, "description": "The index does not answer."}},
    summary="Whether the index answers",
    operation_id="health",
)
async def health(service: _Served) -> Response:
    return _health(await service.is_well())


@_routes.get(
    "/live",
    response_model=schemas.Health,
    summary="Whether the process answers at all: no reason to restart it where this does, whatever is away",
    operation_id="live",
)
async def live() -> Response:
    return _health(True)


@_routes.get(
    "/ready",
    response_model=schemas.Health,
    responses={503: {"model": schemas.Health, "description": "Not yet, or not now."}},
    summary="Whether questions can be answered: index and store answer, and the models are loaded",
    operation_id="ready",
)
async def ready(service: _Served) -> Response:
    return _health(await service.is_ready())


@_routes.get(
    "/metrics",
    response_class=PlainTextResponse,
    summary="Figures in the text format of Prometheus",
    operation_id="metrics",
)
async def metrics(service: _Served) -> Response:
    return Response(await service.metrics(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _health(well: bool) -> Response:
    health = schemas.Health(status="ok" if well else "unavailable")
    return JSONResponse(health.model_dump(), status_code=200 if well else 503)


async def _gone(_: Request, __: Exception) -> Response:
    """Answers with a status that nobody reads, since the client is gone."""
    return Response(status_code=499)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return _error(error.status, error.code, error.message, headers=error.headers)


async def _invalid(_: Request, error: Exception) -> Response:
    """Says where and what is wrong, and repeats nothing of what was sent: no value, and no name of an unknown field."""
    assert isinstance(error, RequestValidationError)
    problems = [
        {"where": ".".join(map(str, _known_part(problem))), "message": str(problem["msg"])}
        for problem in error.errors()
    ]
    return _error(422, "invalid_request", "The request is not as described in openapi.json.", problems)


def _known_part(problem: Any) -> Any:
    return problem["loc"][:-1] if problem["type"] == "extra_forbidden" else problem["loc"]


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = CODES.get(error.status_code, "invalid_request")
    return _error(error.status_code, code, str(error.detail), headers=error.headers)


async def _failed(_: Request, __: Exception) -> Response:
    """Answers at the process edge; the server logs the trace."""
    return _error(500, "failed", FAILED)


def _error(
    status: int,
    code: Any,
    message: str,
    problems: list[dict[str, str]] | None = None,
    headers: Any = None,
) -> Response:
    error = {"error": {"code": code, "message": message, "problems": problems or []}}
    return JSONResponse(schemas.ErrorReply.model_validate(error).model_dump(), status, headers=headers)
