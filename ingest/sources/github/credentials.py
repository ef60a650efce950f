"""What opens private repositories: a personal token, or the tokens of an app's installations.

An app signs a JWT with its private key, finds its installation by a repository, and gets a token that is
valid for an hour (https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app).
Every secret is a `SecretStr`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import jwt
from pydantic import SecretStr

from kb.config.sources import GithubSettings

_DRIFT_S = 60
"""Clocks may differ by so much."""
_JWT_S = 540
"""GitHub takes none that is valid for more than ten minutes."""
_RENEW_S = 300
"""A token is renewed when it has less than this left."""

Ask = Callable[[str, str, SecretStr], Awaitable[Any]]
"""Method, path, bearer -> the parsed JSON. Raises `CredentialsError`."""


class CredentialsError(Exception):
    """There is no token; the message says what to do."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Tokens(Protocol):
    async def token(self, repository: str, /) -> SecretStr | None:
        """What opens `repository` ("owner/name"). Raises `CredentialsError`."""

    def forget(self, repository: str, /) -> bool:
        """GitHub did not take it. Whether there may be another."""


class PersonalToken:
    def __init__(self, token: SecretStr | None) -> None:
        self._token = token

    async def token(self, _: str) -> SecretStr | None:
        return self._token

    def forget(self, _: str) -> bool:
        return False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Installed:
    token: SecretStr
    until: float


class AppTokens:
    """One token for each account that the app is installed on. `clock`: seconds since 1970."""

    def __init__(self, settings: GithubSettings, *, ask: Ask, clock: Callable[[], float]) -> None:
        self._app_id = str(settings.app_id)
        self._key, self._key_file = settings.private_key, settings.private_key_file
        self._ask = ask
        self._clock = clock
        self._installed: dict[str, _Installed] = {}

    async def token(self, repository: str) -> SecretStr:
        owner = _owner(repository)
        held = self._installed.get(owner)
        if held is None or held.until - self._clock() < _RENEW_S:
            held = self._installed[owner] = await self._new(repository)
        return held.token

    def forget(self, repository: str) -> bool:
        return self._installed.pop(_owner(repository), None) is not None

    async def _new(self, repository: str) -> _Installed:
        signed = self._signed()
        try:
            found = await self._ask("GET", f"/repos/{repository}/installation", signed)
        except CredentialsError as error:
            raise CredentialsError(_advice(error, repository), status=error.status) from error
        told = await self._ask("POST", f"/app/installations/{int(found['id'])}/access_tokens", signed)
        until = datetime.fromisoformat(str(told["expires_at"])).timestamp()
        return _Installed(token=SecretStr(str(told["token"])), until=until)

    def _signed(self) -> SecretStr:
        now = int(self._clock())
        claims = {"iat": now - _DRIFT_S, "exp": now + _JWT_S, "iss": self._app_id}
        try:
            return SecretStr(jwt.encode(claims, self._pem(), algorithm="RS256"))
        except (ValueError, TypeError, jwt.PyJWTError):  # their text may show a part of the key
            raise CredentialsError(
                "the app's private key cannot be used: give the whole .pem file that GitHub made, "
                "by `private_key_file` or GITHUB_APP_PRIVATE_KEY"
            ) from None

    def _pem(self) -> str:
        if self._key is not None:  # in an environment file line breaks are often written out
            return self._key.get_secret_value().replace("\\n", "\n")
        try:
            return Path(self._key_file or "").expanduser().read_text(encoding="ascii")
        except OSError as error:
            raise CredentialsError(
                f"the app's private key cannot be read ({error.strerror}): correct `private_key_file`"
            ) from error


def _owner(repository: str) -> str:
    return repository.partition("/")[0].lower()


def _advice(error: CredentialsError, repository: str) -> str:
    match error.status:
        case 401:
            return "GitHub does not accept the app: look whether `app_id` and the private key belong together"
        case 404:
            return f"the app is not installed on {repository}: install it there, with this repository chosen"
        case _:
            return str(error)
