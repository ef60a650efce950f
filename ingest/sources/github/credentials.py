"""An app, which opens private repositories with the tokens of its installations.

It signs a JWT with its private key, finds its installation by a repository, and gets a token that is
valid for an hour (https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from pydantic import SecretStr

from ingest.sources.access_tokens import AccessToken, bearer, read_secret, signed_jwt, unescaped
from ingest.sources.api_responses import ApiError, CredentialsError
from ingest.sources.json_api import Credentials, JsonApi
from kb.config.sources import GithubSettings

_DRIFT_S = 60
"""Seconds by which clocks may differ."""
_JWT_S = 540
"""GitHub takes none that is valid for more than ten minutes."""
_UNUSABLE = (
    "the app's private key cannot be used: give the whole .pem file that GitHub made, "
    "by `private_key_file` or GITHUB_APP_PRIVATE_KEY"
)


class App:
    """`open_api`: GitHub's API with these credentials. `clock`: seconds since 1970."""

    def __init__(
        self,
        settings: GithubSettings,
        open_api: Callable[[Credentials], JsonApi],
        *,
        clock: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._api = open_api(self)

    async def close(self) -> None:
        await self._api.close()

    async def headers(self) -> Mapping[str, str]:
        """Returns the headers for what an app may ask about itself."""
        key = read_secret(
            self._settings.private_key,
            self._settings.private_key_file,
            name="the app's private key",
            setting="`private_key_file`",
        )
        now = int(self._clock())
        claims = {"iat": now - _DRIFT_S, "exp": now + _JWT_S, "iss": str(self._settings.app_id)}
        return bearer(SecretStr(signed_jwt(claims, unescaped(key), algorithm="RS256", unusable=_UNUSABLE)))

    def forget(self) -> bool:
        return False

    async def grant(self, repository: str) -> AccessToken:
        """Asks for a token that opens `repository` ("owner/name").

        Raises:
            CredentialsError: the app cannot be used, or is not installed there.
        """
        try:
            found = await self._api.get(f"/repos/{repository}/installation")
            granted = await self._api.post(f"/app/installations/{int(found['id'])}/access_tokens")
        except CredentialsError:
            raise
        except ApiError as error:
            raise CredentialsError(_advice(error, repository), status=401) from error
        until = datetime.fromisoformat(str(granted["expires_at"])).timestamp()
        return AccessToken(secret=SecretStr(str(granted["token"])), until=until)


def _advice(error: ApiError, repository: str) -> str:
    match error.status:
        case 401:
            return "GitHub does not accept the app: look whether `app_id` and the private key belong together"
        case 404:
            return f"the app is not installed on {repository}: install it there, with this repository chosen"
        case _:
            return str(error)
