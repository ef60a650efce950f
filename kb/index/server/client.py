"""The client of a Qdrant server, made from the settings; nothing is asked of the server here."""

from __future__ import annotations

import ssl
import warnings

from qdrant_client import AsyncQdrantClient

from kb.config.index_settings import IndexSettings
from kb.errors import SettingsError
from kb.index.server.index import ServerIndex
from kb.index.server.layout import Layout


def server_index(settings: IndexSettings) -> ServerIndex:
    """
    Raises:
        SettingsError: a file for TLS cannot be read.
    """
    layout = Layout(
        shard_number=settings.shard_number,
        replication_factor=settings.replication_factor,
        write_consistency_factor=settings.write_consistency_factor,
    )
    return ServerIndex(connect(settings), settings.collection, retry_s=settings.retry_s, layout=layout)


def connect(settings: IndexSettings) -> AsyncQdrantClient:
    """
    Raises:
        SettingsError: a file for TLS cannot be read.
    """
    key, verify = settings.qdrant_api_key, _tls(settings)
    with warnings.catch_warnings():
        # A key without TLS: said once, by `footnote doctor` and the start, and not before every command.
        warnings.filterwarnings("ignore", message="Api key is used with an insecure connection")
        return AsyncQdrantClient(
            url=settings.qdrant_url,
            api_key=key.get_secret_value() if key else None,
            timeout=round(settings.timeout_s),
            check_compatibility=False,  # it would ask the server here, blocking, and warn on the terminal
            verify=verify,
        )


def _tls(settings: IndexSettings) -> ssl.SSLContext | bool:
    """Returns the TLS context of the settings; True for the system's own."""
    if settings.ca_file is None and settings.client_cert is None:
        return True
    try:
        context = ssl.create_default_context(cafile=settings.ca_file)
        if settings.client_cert is not None:
            context.load_cert_chain(settings.client_cert, settings.client_key)
    except OSError as error:  # ssl's own errors as well
        files = ", ".join(
            str(file) for file in (settings.ca_file, settings.client_cert, settings.client_key) if file
        )
        raise SettingsError(f"a file for the index's TLS cannot be read ({files}): {error}") from error
    return context
