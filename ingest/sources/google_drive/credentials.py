"""Access tokens of an hour: for a service account, which signs a JWT with its key, or for a person's refresh token.

Both are a POST to the token endpoint (https://developers.google.com/identity/protocols/oauth2/service-account
and .../web-server). Every secret is a `SecretStr`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError
from yarl import URL

from ingest.sources.json_api import ApiError
from ingest.sources.port import fingerprint
from kb.config.sources import GoogleDriveSettings

SCOPE = "https://www.googleapis.com/auth/drive.readonly"
TOKEN_URL = "https://oauth2.googleapis.com/token"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_HOUR_S = 3600
_RENEW_S = 300
"""A token is renewed when it has less than this left."""

Ask = Callable[[str, Mapping[str, str]], Awaitable[Any]]
"""URL, fields of a form -> the parsed JSON. Raises `ApiError`."""


class _Key(BaseModel):
    """A service account's key file."""

    model_config = ConfigDict(extra="ignore")

    client_email: str
    private_key: SecretStr
    private_key_id: str | None = None
    token_uri: str = TOKEN_URL


@dataclass(frozen=True, kw_only=True, slots=True)
class _Granted:
    token: SecretStr
    until: float


class Credentials:
    """One token at a time. `clock`: seconds since 1970."""

    def __init__(
        self, settings: GoogleDriveSettings, *, ask: Ask, clock: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self._ask = ask
        self._clock = clock
        self._granted: _Granted | None = None
        self._renewing = asyncio.Lock()

    @property
    def account(self) -> str:
        """Whom to share with, in words."""
        if self._settings.refresh_token is not None:
            return "the account of the refresh token"
        if self._settings.subject is not None:
            return self._settings.subject
        try:
            return _read_key(self._settings).client_email
        except ApiError:  # said with more words by whoever asks for a token
            return "the service account"

    @property
    def mark(self) -> str:
        """Another account sees other files, and has another change log."""
        token = self._settings.refresh_token
        return fingerprint([(token.get_secret_value() if token is not None else self.account).encode()])

    async def headers(self) -> Mapping[str, str]:
        """
        Raises:
            ApiError: there is no token; the message says what to do.
        """
        async with self._renewing:  # of many requests that need one, the first asks for it
            if self._granted is None or self._granted.until - self._clock() < _RENEW_S:
                self._granted = await self._new()
            return {"Authorization": f"Bearer {self._granted.token.get_secret_value()}"}

    def forget(self) -> None:
        """Google did not take it."""
        self._granted = None

    async def _new(self) -> _Granted:
        url, fields = self._refresh() if self._settings.refresh_token is not None else self._signed()
        try:
            told = await self._ask(url, fields)
        except ApiError as error:
            code = error.told.get("error") if isinstance(error.told, dict) else None
            if not isinstance(code, str):
                busy = f"{error}; look whether {URL(url).host} can be reached from here"
                raise ApiError(busy, status=error.status) from error
            raise ApiError(_advice(code, self._settings), status=401) from error
        if not isinstance(told, dict) or not told.get("access_token"):
            raise ApiError(f"{URL(url).host} does not answer as Google's token endpoint does", status=401)
        lifetime = told.get("expires_in")
        until = self._clock() + (lifetime if isinstance(lifetime, int | float) else _HOUR_S)
        return _Granted(token=SecretStr(str(told["access_token"])), until=until)

    def _refresh(self) -> tuple[str, dict[str, str]]:
        chosen = self._settings
        fields = {"grant_type": "refresh_token", "client_id": chosen.client_id or ""}
        for name, secret in (
            ("client_secret", chosen.client_secret),
            ("refresh_token", chosen.refresh_token),
        ):
            fields[name] = secret.get_secret_value() if secret is not None else ""
        return _token_url(chosen), fields

    def _signed(self) -> tuple[str, dict[str, str]]:
        key = _read_key(self._settings)
        now = int(self._clock())
        claims: dict[str, Any] = {
            "iss": key.client_email,
            "scope": SCOPE,
            "aud": key.token_uri,
            "iat": now,
            "exp": now + _HOUR_S,
        }
        if self._settings.subject is not None:
            claims["sub"] = self._settings.subject
        headers = {"kid": key.private_key_id} if key.private_key_id else None
        try:
            signed = jwt.encode(
                claims, key.private_key.get_secret_value(), algorithm="RS256", headers=headers
            )
        except (ValueError, TypeError, jwt.PyJWTError):  # their text may show a part of the key
            raise ApiError(_BROKEN_KEY, status=401) from None
        return key.token_uri, {"grant_type": _GRANT, "assertion": signed}


_BROKEN_KEY = (
    "the service account's key cannot be used: give the whole JSON file that Google made, by key_file or "
    "GOOGLE_SERVICE_ACCOUNT_KEY"
)


def _token_url(settings: GoogleDriveSettings) -> str:
    """A stand-in for the API on this machine has the endpoint as well."""
    return TOKEN_URL if settings.api_url.scheme == "https" else f"{str(settings.api_url).rstrip('/')}/token"


def _read_key(settings: GoogleDriveSettings) -> _Key:
    try:
        if settings.key is not None:
            written = settings.key.get_secret_value()
        else:
            written = Path(settings.key_file or "").expanduser().read_text(encoding="utf-8")
        key = _Key.model_validate(json.loads(written))
    except OSError as error:
        raise ApiError(
            f"the service account's key cannot be read ({error.strerror}): correct key_file", status=401
        ) from error
    except (ValueError, ValidationError):  # their text shows the key
        raise ApiError(_BROKEN_KEY, status=401) from None
    url = URL(key.token_uri)
    if url.scheme != "https" and url.host not in ("localhost", "127.0.0.1", "::1"):
        raise ApiError(f"the key's token_uri is no https address: {_BROKEN_KEY}", status=401)
    return key


def _advice(code: str, settings: GoogleDriveSettings) -> str:
    """Says what to do, by the codes of RFC 6749, section 5.2."""
    by_person = settings.refresh_token is not None
    match code:
        case "invalid_grant" if by_person:
            return (
                "Google takes the refresh token no longer: sign in anew and set GOOGLE_REFRESH_TOKEN "
                "(tokens of an OAuth app in testing live for seven days: publish the app)"
            )
        case "invalid_grant":
            return (
                "Google does not accept the service account: look whether its key was deleted, the "
                "clock of this machine is right "
                "and `subject` is a person of the domain"
            )
        case "unauthorized_client" if not by_person:
            return (
                f"the service account may not act as {settings.subject}: in the Admin console, allow its client ID "
                f"the scope {SCOPE} (domain-wide delegation)"
            )
        case "invalid_client" | "unauthorized_client" | "deleted_client":
            return "Google does not know the OAuth client: correct client_id and client_secret"
        case _:
            return f"Google gives no access token ({code}): look at the account's credentials"
