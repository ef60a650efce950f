"""Settings of sources that are read by Microsoft Graph: SharePoint and OneDrive."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, HttpUrl, SecretStr, model_validator

from kb.config.sources.common import DOCUMENTS, CommonSettings, Span

_SITE = (
    r"^(https://[\w.-]+(/[^\s?#]*)?|[\w.-]+,[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
    r",[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$"
)


class SharePointSettings(CommonSettings):
    """Sites of SharePoint Online (their document libraries and pages) and
    OneDrives, as an app of Entra ID sees them.
    """

    reader = "sharepoint.source:SharePointSource"
    variables: ClassVar[Mapping[str, str]] = {
        "SHAREPOINT_CLIENT_SECRET": "client_secret",
        "SHAREPOINT_CERTIFICATE": "certificate",
    }

    kind: Literal["sharepoint"]
    tenant: Annotated[str, Field(pattern=r"^[\w.-]+$")]
    """The directory's id, or its domain (acme.onmicrosoft.com)."""
    client_id: str
    client_secret: SecretStr | None = None
    certificate: SecretStr | None = None
    certificate_file: Path | None = None
    """A .pem file with the app's certificate and its private key, or by
    `certificate` what stands in it. It goes before the secret.
    """
    sites: tuple[Annotated[str, Field(pattern=_SITE)], ...] = ()
    """Addresses (https://acme.sharepoint.com/sites/hr) or ids (host,guid,guid). A page's path begins with it."""
    libraries: tuple[str, ...] = ()
    """Names of document libraries. Empty: all of each site."""
    pages: bool = True
    """Also the sites' modern pages."""
    onedrives: tuple[Annotated[str, Field(pattern=r"^[^\s/]+$")], ...] = ()
    """Whose OneDrives: user principal names (dana@acme.com) or ids of users."""
    readers: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Group, site group (by name, address or id), "organization" or "anyone" -> the channels
    of its members, or "everyone". A page that is shared with none of these is not indexed.
    """
    permissions_every: Span | None = None
    """"6h": a page that did not change is asked for its readers when they are so old. None: at each sync."""
    include: tuple[str, ...] = DOCUMENTS
    exclude: tuple[str, ...] = ()
    graph_url: HttpUrl = HttpUrl("https://graph.microsoft.com/v1.0")
    login_url: HttpUrl = HttpUrl("https://login.microsoftonline.com")
    """National clouds have their own of both."""
    timeout_s: Annotated[float, Field(gt=0, le=300)] = 60.0

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        if not self.sites and not self.onedrives:
            raise ValueError("name a site in `sites`, or somebody in `onedrives`")
        keys = [key.casefold() for key in (*map(site_key, self.sites), *self.onedrives)]
        if len(set(keys)) < len(keys):
            raise ValueError("a site or a OneDrive is named twice")
        for url in (self.graph_url, self.login_url):
            if url.scheme == "http" and url.host not in ("localhost", "127.0.0.1", "[::1]"):
                raise ValueError("credentials must not be sent over http://: use https://")
        return self


def site_key(site: str) -> str:
    """Returns what the paths of a site's pages begin with: "acme.sharepoint.com/sites/hr"."""
    return site.removeprefix("https://").rstrip("/")
