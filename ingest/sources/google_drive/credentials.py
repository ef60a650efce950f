"""Access tokens of an hour: for a service account, which signs a JWT with its key, or for a person's refresh token.

Both are a POST to the token endpoint (https://developers.google.com/identity/protocols/oauth2/service-account
and .../web-server).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, SecretStr
from yarl import URL

from ingest.sources.access_tokens import HOUR_S, AccessToken, RenewedToken, read_secret, signed_jwt
from ingest.sources.api_responses import ApiError, CredentialsError
from ingest.sources.json_api import JsonApi, Sleep
from ingest.sources.port import fingerprint
from kb.config.sources import GoogleDriveSettings

SCOPE = "https://www.googleapis.com/auth/drive.readonly"
TOKEN_URL = "https://oauth2.googleapis.com/token"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_UNUSABLE = (
    "the service account's key cannot be used: give the whole JSON file that Google made, by key_file or "
    "GOOGLE_SERVICE_ACCOUNT_KEY"
)


class _Key(BaseModel):
    """A service account's key file."""

    client_email: str
    private_key: SecretStr
    private_key_id: str | None = None
    token_uri: str = TOKEN_URL


class Account(RenewedToken):
    """`clock`: seconds since 1970."""

    def __init__(self, settings: GoogleDriveSettings, *, sleep: Sleep, clock: Callable[[], float]) -> None:
        super().__init__(self._new, clock=clock)
        self._settings = settings
        self._sleep = sleep

    @property
    def name(self) -> str:
        """Whom to share with, in words."""
        if self._settings.refresh_token is not None:
            return "the account of the refresh token"
        if self._settings.subject is not None:
            return self._settings.subject
        try:
            return _read_key(self._settings).client_email
        except CredentialsError:  # reported in detail when a token is asked for
            return "the service account"

    @property
    def fingerprint(self) -> str:
        """Another account sees other files, and has another change log."""
        token = self._settings.refresh_token
        return fingerprint([(token.get_secret_value() if token is not None else self.name).encode()])

    async def _new(self) -> AccessToken:
        url, form = self._refresh() if self._settings.refresh_token is not None else self._signed()
        try:
            async with JsonApi(
                str(url.origin()),
                vendor="google_drive",
                timeout_s=self._settings.timeout_s,
                sleep=self._sleep,
            ) as api:
                payload = await api.post(url.raw_path, form=form)
        except ApiError as error:
            code = error.payload.get("error") if isinstance(error.payload, dict) else None
            if not isinstance(code, str):
                busy = f"{error}; look whether {url.host} can be reached from here"
                raise CredentialsError(busy, status=error.status) from error
            raise CredentialsError(_advice(code, self._settings), status=401) from error
        token = AccessToken.granted(payload, now=self._clock())
        if token is None:
            raise CredentialsError(f"{url.host} does not answer as Google's token endpoint does", status=401)
        return token

    def _refresh(self) -> tuple[URL, dict[str, str]]:
        chosen = self._settings
        secrets = {"client_secret": chosen.client_secret, "refresh_token": chosen.refresh_token}
        return _token_url(chosen), {
            "grant_type": "refresh_token",
            "client_id": chosen.client_id or "",
            **{name: secret.get_secret_value() if secret else "" for name, secret in secrets.items()},
        }

    def _signed(self) -> tuple[URL, dict[str, str]]:
        key = _read_key(self._settings)
        now = int(self._clock())
        claims: dict[str, Any] = {
            "iss": key.client_email, "scope": SCOPE, "aud": key.token_uri, "iat": now, "exp": now + HOUR_S,
        }  # fmt: skip
        if self._settings.subject is not None:
            claims["sub"] = self._settings.subject
        signed = signed_jwt(
            claims,
            key.private_key.get_secret_value(),
            algorithm="RS256",
            headers={"kid": key.private_key_id} if key.private_key_id else None,
            unusable=_UNUSABLE,
        )
        return URL(key.token_uri), {"grant_type": _GRANT, "assertion": signed}


def _token_url(settings: GoogleDriveSettings) -> URL:
    """Returns Google's token endpoint; a stand-in for the API on this machine, without https, has its own."""
    api_url = str(settings.api_url).rstrip("/")
    return URL(TOKEN_URL if settings.api_url.scheme == "https" else f"{api_url}/token")


def _read_key(settings: GoogleDriveSettings) -> _Key:
    written = read_secret(
        settings.key, settings.key_file, name="the service account's key", setting="key_file"
    )
    try:
        key = _Key.model_validate(json.loads(written))
    except ValueError:  # its text shows the key
        raise CredentialsError(_UNUSABLE, status=401) from None
    url = URL(key.token_uri)
    if url.scheme != "https" and url.host not in ("localhost", "127.0.0.1", "::1"):
        raise CredentialsError(f"the key's token_uri is no https address: {_UNUSABLE}", status=401)
    return key


def _advice(code: str, settings: GoogleDriveSettings) -> str:
    """Advises by the error codes of RFC 6749, section 5.2."""
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
