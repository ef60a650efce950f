"""What doctor and a command's terminal are told of a Qdrant server: its
key, its version, TLS; and what it is told of collections.
"""

from __future__ import annotations

import ipaddress
import ssl
import warnings
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pydantic import SecretStr, ValidationError

from bot.cli.checks.qdrant import key_checks, qdrant_checks, version_checks
from bot.cli.composition.storage import open_index
from kb.config.index_settings import IndexSettings
from kb.config.settings import Settings
from kb.errors import IndexUnavailableError, SettingsError
from kb.index.port import IndexManifest
from kb.index.server.client import connect, server_index
from kb.store.data_folder import DataFolder
from tests.fakes.qdrant_server import QdrantServer


@pytest.mark.parametrize(
    ("url", "key", "warned"),
    [
        ("http://qdrant.example:6333", "secret-key", True),
        ("http://10.0.0.7:6333", "secret-key", True),
        ("https://qdrant.example:6333", "secret-key", False),
        ("http://localhost:6333", "secret-key", False),
        ("http://qdrant.example:6333", None, False),
        (None, "secret-key", False),
    ],
)
async def test_a_key_that_travels_unencrypted_is_told_by_doctor_alone(
    tmp_path: Path, url: str | None, key: str | None, warned: bool
) -> None:
    index = IndexSettings(qdrant_url=url, qdrant_api_key=SecretStr(key) if key else None)
    assert [check.state for check in key_checks(index)] == (["warning"] if warned else [])
    assert "secret-key" not in str(key_checks(index))
    async with AsyncExitStack() as stack:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            open_index(Settings(data=tmp_path, index=index), DataFolder(tmp_path), stack)


@pytest.mark.parametrize(
    ("server", "state"),
    [
        ("1.17.9", "broken"),
        ("1.18.3", "ok"),
        ("1.20.0", "ok"),
        ("1.21.4", "ok"),
        ("1.22.0", "warning"),
        ("2.0.0", "broken"),
        ("0.11.7", "broken"),
    ],
)
def test_a_server_of_another_version_is_told(server: str, state: str) -> None:
    (check,) = version_checks(server, "1.20.0")
    assert check.state == state
    assert server in check.told
    assert bool(check.mend) is (state != "ok")


def test_what_is_no_version_is_not_judged() -> None:
    assert version_checks("dev", "1.20.0") == []


async def test_doctor_asks_the_server_for_its_version_without_a_warning() -> None:
    server = QdrantServer(key="k")
    server.version = "1.4.0"
    await server.start()
    settings = Settings(index=IndexSettings(qdrant_url=server.url, qdrant_api_key=SecretStr("k")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (check,) = await qdrant_checks(settings)
    assert (check.state, "1.4.0" in check.told) == ("broken", True)
    await server.stop()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"qdrant_url": "https://q", "client_key": "key.pem"}, "client_cert"),
        ({"qdrant_url": "http://q", "ca_file": "ca.pem"}, "https"),
        ({"qdrant_url": "https://q", "replication_factor": 0}, "replication_factor"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(fields: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        IndexSettings(**fields)


def test_a_file_for_tls_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "ca.pem"
    with pytest.raises(SettingsError, match=r"ca\.pem"):
        connect(IndexSettings(qdrant_url="https://qdrant.example", ca_file=missing))


async def test_a_server_with_tls_is_asked_by_the_authority_that_is_named(tmp_path: Path) -> None:
    """It asks for a certificate of ours as well; without one it hangs up."""
    authority, certificate = a_certificate(tmp_path)
    server = QdrantServer()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority)
    context.load_cert_chain(certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    server.tls = context
    await server.start()
    trusted = IndexSettings(qdrant_url=server.url, ca_file=authority, client_cert=certificate, retry_s=0)
    (check,) = await qdrant_checks(Settings(index=trusted))
    assert check.state == "ok"
    alone = IndexSettings(qdrant_url=server.url, ca_file=authority, retry_s=0)
    untrusting = IndexSettings(qdrant_url=server.url, retry_s=0)
    for settings, told in ((alone, "Qdrant failed"), (untrusting, r"index\.ca_file")):
        index = server_index(settings)
        with pytest.raises(IndexUnavailableError, match=told):
            await index.manifest()
        await index.close()
        assert await qdrant_checks(Settings(index=settings)) == [], "the check of the index tells it"
    await server.stop()


async def test_a_collection_is_laid_out_as_the_settings_say() -> None:
    server = QdrantServer()
    await server.start()
    settings = IndexSettings(
        qdrant_url=server.url, shard_number=3, replication_factor=2, write_consistency_factor=1
    )
    index = server_index(settings)
    await index.begin_rebuild(IndexManifest(embedder="tiny", dimension=4, chunker="v1"))
    asked = server.created["footnote-g1"]
    assert (asked["shard_number"], asked["replication_factor"], asked["write_consistency_factor"]) == (
        3,
        2,
        1,
    )
    await index.close()
    await server.stop()


def a_certificate(folder: Path) -> tuple[Path, Path]:
    """Files with an authority and with a certificate of 127.0.0.1 that it signed, its key included."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "footnote-test")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    authority, certificate = folder / "ca.pem", folder / "client.pem"
    pem = signed.public_bytes(serialization.Encoding.PEM)
    authority.write_bytes(pem)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    certificate.write_bytes(pem + private)
    return authority, certificate
