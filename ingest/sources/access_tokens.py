"""Tokens that open an API for an hour or so: kept until they end, and asked for with what is signed by a private key.

Every secret is a `SecretStr`; no error shows a part of a key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt
from pydantic import SecretStr

from ingest.sources.api_responses import CredentialsError

RENEW_S = 300
"""A token is renewed when it has less than this left."""
HOUR_S = 3600


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessToken:
    """`until` is in seconds since 1970."""

    secret: SecretStr
    until: float

    @classmethod
    def granted(cls, payload: object, *, now: float) -> AccessToken | None:
        """Reads what a token endpoint of OAuth 2.0 grants; None where it grants nothing."""
        if not isinstance(payload, dict) or not payload.get("access_token"):
            return None
        lifetime = payload.get("expires_in")
        until = now + (lifetime if isinstance(lifetime, int | float) else HOUR_S)
        return cls(secret=SecretStr(str(payload["access_token"])), until=until)


class RenewedToken:
    """One token at a time, as `Credentials` of an API.

    `grant`: asks for a new one; raises `CredentialsError`. `clock`: seconds since 1970.
    """

    def __init__(self, grant: Callable[[], Awaitable[AccessToken]], *, clock: Callable[[], float]) -> None:
        self._grant = grant
        self._clock = clock
        self._token: AccessToken | None = None
        self._renewing = asyncio.Lock()

    async def secret(self) -> SecretStr:
        async with self._renewing:  # of many requests that need one, the first asks for it
            if self._token is None or self._token.until - self._clock() < RENEW_S:
                self._token = await self._grant()
            return self._token.secret

    async def headers(self) -> Mapping[str, str]:
        return bearer(await self.secret())

    def forget(self) -> bool:
        """Drops a refused token; True, as each of several requests at once may find it refused and ask again."""
        self._token = None
        return True


def bearer(secret: SecretStr) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret.get_secret_value()}"}


def read_secret(secret: SecretStr | None, file: Path | str | None, *, name: str, setting: str) -> str:
    """Returns a key from the settings themselves, or else from a file.

    Raises:
        CredentialsError: the file cannot be read. `name` says whose key it is, `setting` what to correct.
    """
    if secret is not None:
        return secret.get_secret_value()
    try:
        return Path(file or "").expanduser().read_text(encoding="utf-8")
    except OSError as error:
        raise CredentialsError(
            f"{name} cannot be read ({error.strerror}): correct {setting}", status=401
        ) from error


def unescaped(pem: str) -> str:
    """Returns a PEM file with real line breaks: environment files often write them as a backslash and an n."""
    return pem.replace("\\n", "\n")


def signed_jwt(
    claims: Mapping[str, Any],
    pem: str,
    *,
    algorithm: str,
    unusable: str,
    headers: Mapping[str, Any] | None = None,
) -> str:
    """
    Raises:
        CredentialsError: the key cannot sign; `unusable` says so, and what to do.
    """
    try:
        return jwt.encode(dict(claims), pem, algorithm=algorithm, headers=dict(headers or {}))
    except (ValueError, TypeError, jwt.PyJWTError):  # their text may show a part of the key
        raise CredentialsError(unusable, status=401) from None
