"""The settings of the index: where a Qdrant server is, how it is reached, how collections on it are laid out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator

from kb.config.sections import Section

Copies = Annotated[int, Field(ge=1, le=128)]


class IndexSettings(Section):
    qdrant_url: str | None = None
    """None: Qdrant Edge in the data folder."""
    qdrant_api_key: SecretStr | None = None
    """The server's key, with the right to write."""
    ca_file: Path | None = None
    """PEM file with the authority that signed the server's certificate. None: those that the system trusts."""
    client_cert: Path | None = None
    """PEM file with the certificate that a server with mutual TLS asks
    for; with its key, unless `client_key` has it.
    """
    client_key: Path | None = None
    """PEM file with the key of `client_cert`."""
    collection: str = "footnote"
    """The alias of the live generation on the server; its generations are named after it."""
    timeout_s: Annotated[float, Field(gt=0, le=120)] = 5.0
    """Seconds for one answer of the Qdrant server."""
    retry_s: Annotated[float, Field(ge=0, le=3600)] = 60.0
    """Seconds for which what is written to a Qdrant server is tried again while it
    restarts, is overloaded or moves a shard. A question waits for a second at most."""
    shard_number: Copies | None = None
    """Shards of a collection. This and the next two count when a collection is
    made: at a full reindex, a migration or a restore. None: as the server is set."""
    replication_factor: Copies | None = None
    """Machines of a cluster that hold each shard."""
    write_consistency_factor: Copies | None = None
    """How many replicas must confirm a write."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.client_key is not None and self.client_cert is None:
            raise ValueError("client_key: of no use without client_cert")
        encrypted = self.qdrant_url is None or urlsplit(self.qdrant_url).scheme == "https"
        if not encrypted and (self.ca_file is not None or self.client_cert is not None):
            raise ValueError("ca_file, client_cert: they need an https:// address as QDRANT_URL")
        return self

    @property
    def shows_key(self) -> bool:
        """Whether the key travels unencrypted to another machine. On this
        machine's own loopback it is seen by nobody.
        """
        url = urlsplit(self.qdrant_url or "")
        alone = url.hostname in (None, "localhost", "127.0.0.1", "::1")
        return self.qdrant_api_key is not None and url.scheme != "https" and not alone
