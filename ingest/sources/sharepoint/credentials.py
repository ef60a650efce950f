"""The token of an app of Entra ID, by its secret or its certificate (OAuth 2.0 client credentials).

https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow and, for the
signed assertion, https://learn.microsoft.com/en-us/entra/identity-platform/certificate-credentials.
Every secret is a `SecretStr`.
"""

from __future__ import annotations

import re
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509 import load_pem_x509_certificate
from pydantic import SecretStr

from ingest.sources.json_api import ApiError, JsonApi, Sleep
from kb.config.sources import SharePointSettings

_ASSERTION_S = 300
_RENEW_S = 300
"""A token is renewed when it has less than this left."""
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_CODE = re.compile(r"AADSTS(\d+)")
_ADVICE: Mapping[str, str] = {
    "7000215": (
        "Microsoft does not accept the app's secret: set SHAREPOINT_CLIENT_SECRET to the secret's value, not its id"
    ),
    "7000222": "the app's secret has expired: make a new one in Entra ID and set SHAREPOINT_CLIENT_SECRET to it",
    "700016": "the tenant has no such app: correct `client_id`, or `tenant`",
    "90002": "there is no such tenant: correct `tenant`",
    "900023": "there is no such tenant: correct `tenant`",
    "700027": (
        "Microsoft does not accept the app's certificate, which may have expired: upload it to the app in Entra ID, or "
        "correct `certificate_file`"
    ),
    "700024": "Microsoft finds the signed request too old or too new: set this machine's clock",
    "7000229": "the app has no service principal in the tenant: have an admin of it consent to the app",
    "53003": "a policy of the tenant (conditional access) forbids the app to sign in from here: have an admin allow it",
}
"""Advice by the number of Entra ID's error
(https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes).
"""


class CredentialsError(ApiError):
    """There is no token; the message says what to do."""


class AppToken:
    """`clock`: seconds since 1970."""

    def __init__(self, settings: SharePointSettings, *, clock: Callable[[], float], sleep: Sleep) -> None:
        self._settings = settings
        self._clock = clock
        self._api = JsonApi(
            str(settings.login_url), headers={}, timeout_s=settings.timeout_s, sleep=sleep, longest_wait_s=600
        )
        self._graph = settings.graph_url
        self._held: SecretStr | None = None
        self._until = 0.0

    async def headers(self) -> Mapping[str, str]:
        """
        Raises:
            CredentialsError: the app is not known, or not let in.
        """
        if self._held is None or self._until - self._clock() < _RENEW_S:
            await self._renew()
        assert self._held is not None
        return {"Authorization": f"Bearer {self._held.get_secret_value()}"}

    def forget(self) -> None:
        """Graph did not take it."""
        self._held = None

    async def close(self) -> None:
        await self._api.close()

    async def _renew(self) -> None:
        path = f"/{self._settings.tenant}/oauth2/v2.0/token"
        port = f":{self._graph.port}" if self._graph.port not in (None, 443) else ""
        fields = {
            "client_id": self._settings.client_id,
            "scope": f"{self._graph.scheme}://{self._graph.host}{port}/.default",
            "grant_type": "client_credentials",
            **self._proof(f"{str(self._settings.login_url).rstrip('/')}{path}"),
        }
        try:
            told = await self._api.post(path, fields)
        except ApiError as error:
            refused = error.status in (400, 401, 403)
            raise CredentialsError(_advice(error), status=401 if refused else error.status) from error
        if not isinstance(told, dict) or "access_token" not in told:
            raise CredentialsError(
                f"{self._settings.login_url} does not answer as Entra ID does: correct `login_url`"
            )
        self._held = SecretStr(str(told["access_token"]))
        self._until = self._clock() + float(told.get("expires_in") or 0)

    def _proof(self, audience: str) -> dict[str, str]:
        pem = self._pem()
        if pem is not None:
            return {"client_assertion_type": _ASSERTION, "client_assertion": self._signed(pem, audience)}
        secret = self._settings.client_secret
        if secret is None:
            raise CredentialsError(
                "the app has neither a secret nor a certificate: set SHAREPOINT_CLIENT_SECRET, or certificate_file",
                status=401,
            )
        return {"client_secret": secret.get_secret_value()}

    def _signed(self, pem: bytes, audience: str) -> str:
        now = int(self._clock())
        claims = {
            "aud": audience, "iss": self._settings.client_id, "sub": self._settings.client_id,
            "jti": str(uuid.uuid4()), "iat": now, "nbf": now, "exp": now + _ASSERTION_S,
        }  # fmt: skip
        try:
            mark = load_pem_x509_certificate(pem).fingerprint(SHA256())
            named = {"x5t#S256": urlsafe_b64encode(mark).rstrip(b"=").decode()}
            return jwt.encode(claims, _key_of(pem), algorithm="PS256", headers=named)
        except (ValueError, TypeError, jwt.PyJWTError):  # their text may show a part of the key
            raise CredentialsError(
                "the app's certificate cannot be used: give a .pem file with the certificate and its "
                "private key (RSA, without "
                "a password), by certificate_file or SHAREPOINT_CERTIFICATE",
                status=401,
            ) from None

    def _pem(self) -> bytes | None:
        if self._settings.certificate is not None:  # in an environment file line breaks are often written out
            return self._settings.certificate.get_secret_value().replace("\\n", "\n").encode()
        if self._settings.certificate_file is None:
            return None
        try:
            return Path(self._settings.certificate_file).expanduser().read_bytes()
        except OSError as error:
            raise CredentialsError(
                f"the app's certificate cannot be read ({error.strerror}): correct `certificate_file`",
                status=401,
            ) from error


def _key_of(pem: bytes) -> bytes:
    """The private key of a file that holds the certificate as well."""
    found = re.search(rb"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?-----END \1-----", pem, re.DOTALL)
    if found is None:
        raise ValueError("no private key")
    return found.group()


def _advice(error: ApiError) -> str:
    told = error.told if isinstance(error.told, dict) else {}
    numbers = _CODE.findall(str(told.get("error_description", "")))
    known = next((_ADVICE[number] for number in numbers if number in _ADVICE), None)
    if known is not None:
        return known
    if error.status is None:
        return f"Microsoft's sign-in does not answer ({error}): look whether it can be reached from here"
    code = f"AADSTS{numbers[0]}" if numbers else told.get("error") or error.status
    return f"Microsoft does not let the app in ({code}): look at `tenant`, `client_id` and its secret or certificate"
