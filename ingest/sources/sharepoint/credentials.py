"""The token of an app of Entra ID, by its secret or its certificate (OAuth 2.0 client credentials).

https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow and, for the
signed assertion, https://learn.microsoft.com/en-us/entra/identity-platform/certificate-credentials.
"""

from __future__ import annotations

import re
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509 import load_pem_x509_certificate

from ingest.sources.access_tokens import AccessToken, RenewedToken, read_secret, signed_jwt, unescaped
from ingest.sources.api_responses import ApiError, CredentialsError
from ingest.sources.json_api import JsonApi, Sleep
from kb.config.sources import SharePointSettings

_ASSERTION_S = 300
_LONGEST_WAIT_S = 600.0
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_PRIVATE_KEY = re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?-----END \1-----", re.DOTALL)
"""In a file that holds the certificate as well."""
_UNUSABLE = (
    "the app's certificate cannot be used: give a .pem file with the certificate and its private key (RSA, without "
    "a password), by certificate_file or SHAREPOINT_CERTIFICATE"
)
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


class AppToken(RenewedToken):
    """`clock`: seconds since 1970."""

    def __init__(self, settings: SharePointSettings, *, sleep: Sleep, clock: Callable[[], float]) -> None:
        super().__init__(self._new, clock=clock)
        self._settings = settings
        self._sleep = sleep

    async def _new(self) -> AccessToken:
        path = f"/{self._settings.tenant}/oauth2/v2.0/token"
        login_url, graph = str(self._settings.login_url).rstrip("/"), self._settings.graph_url
        port = f":{graph.port}" if graph.port not in (None, 443) else ""
        form = {
            "client_id": self._settings.client_id,
            "scope": f"{graph.scheme}://{graph.host}{port}/.default",
            "grant_type": "client_credentials",
            **self._proof(f"{login_url}{path}"),
        }
        try:
            async with JsonApi(
                login_url,
                vendor="sharepoint",
                timeout_s=self._settings.timeout_s,
                sleep=self._sleep,
                longest_wait_s=_LONGEST_WAIT_S,
            ) as api:
                payload = await api.post(path, form=form)
        except ApiError as error:
            refused = error.status in (400, 401, 403)
            raise CredentialsError(_advice(error), status=401 if refused else error.status) from error
        token = AccessToken.granted(payload, now=self._clock())
        if token is None:
            raise CredentialsError(
                f"{self._settings.login_url} does not answer as Entra ID does: correct `login_url`"
            )
        return token

    def _proof(self, audience: str) -> dict[str, str]:
        chosen = self._settings
        if chosen.certificate is not None or chosen.certificate_file is not None:
            pem = read_secret(
                chosen.certificate,
                chosen.certificate_file,
                name="the app's certificate",
                setting="`certificate_file`",
            )
            return {
                "client_assertion_type": _ASSERTION,
                "client_assertion": self._signed(unescaped(pem), audience),
            }
        if chosen.client_secret is None:
            raise CredentialsError(
                "the app has neither a secret nor a certificate: set SHAREPOINT_CLIENT_SECRET, or certificate_file",
                status=401,
            )
        return {"client_secret": chosen.client_secret.get_secret_value()}

    def _signed(self, pem: str, audience: str) -> str:
        now = int(self._clock())
        claims = {
            "aud": audience, "iss": self._settings.client_id, "sub": self._settings.client_id,
            "jti": str(uuid.uuid4()), "iat": now, "nbf": now, "exp": now + _ASSERTION_S,
        }  # fmt: skip
        try:
            mark = load_pem_x509_certificate(pem.encode()).fingerprint(SHA256())
        except ValueError:  # its text may show a part of the key
            raise CredentialsError(_UNUSABLE, status=401) from None
        named = {"x5t#S256": urlsafe_b64encode(mark).rstrip(b"=").decode()}
        key = _PRIVATE_KEY.search(pem)
        return signed_jwt(
            claims, key.group() if key else "", algorithm="PS256", headers=named, unusable=_UNUSABLE
        )


def _advice(error: ApiError) -> str:
    payload = error.payload if isinstance(error.payload, dict) else {}
    numbers = _CODE.findall(str(payload.get("error_description", "")))
    known = next((_ADVICE[number] for number in numbers if number in _ADVICE), None)
    if known is not None:
        return known
    if error.status is None:
        return f"Microsoft's sign-in does not answer ({error}): look whether it can be reached from here"
    code = f"AADSTS{numbers[0]}" if numbers else payload.get("error") or error.status
    return f"Microsoft does not let the app in ({code}): look at `tenant`, `client_id` and its secret or certificate"
