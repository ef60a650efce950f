"""How the app gets into Microsoft Graph, and what it does where Graph
refuses, limits the rate or sends it elsewhere.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pydantic import ValidationError

from ingest.errors import SourceUnavailableError
from ingest.sources.port import PageRef
from tests.fakes.graph import GraphServer
from tests.fakes.graph_drive import HOST, modern_page
from tests.fakes.listing import failure, listed, reason
from tests.fakes.sharepoint_office import LEAVE, SITE, Office


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with GraphServer() as graph:
        office = Office(graph, tmp_path)
        yield office
        await office.close()


def a_certificate() -> tuple[x509.Certificate, str]:
    """With its .pem file, the key first, as openssl writes it."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "footnote")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .sign(key, SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return made, (private + made.public_bytes(Encoding.PEM)).decode()


@pytest.mark.parametrize(
    ("number", "word", "status", "told"),
    [
        ("7000222", "invalid_client", 401, "secret has expired"),
        ("7000215", "invalid_client", 401, "secret's value, not its id"),
        ("700016", "unauthorized_client", 400, "correct `client_id`"),
        ("90002", "invalid_request", 400, "correct `tenant`"),
        ("700027", "invalid_client", 401, "certificate"),
        ("53003", "invalid_grant", 400, "policy of the tenant"),
        ("9999999", "invalid_request", 400, "AADSTS9999999"),
    ],
)
async def test_what_entra_refuses_makes_the_source_unavailable_with_what_to_do(
    office: Office, number: str, word: str, status: int, told: str
) -> None:
    office.documents.add("Leave.md", LEAVE)
    office.graph.sign_in = (number, word, status)

    with pytest.raises(SourceUnavailableError, match="source 'office'") as caught:
        await listed(office.source())
    assert told in str(caught.value)
    assert office.graph.secret not in str(caught.value)


async def test_a_secret_that_expires_between_two_requests_for_a_token_leaves_pages_where_they_are(
    office: Office,
) -> None:
    leave = office.documents.add("Leave.md", LEAVE)
    source = office.source()
    ref = (await listed(source))[office.path(leave)]
    office.graph.tokens.clear()
    office.graph.sign_in = ("7000222", "invalid_client", 401)

    error = await failure(source, ref)
    assert not error.withdraw
    assert "secret has expired" in error.reason
    with pytest.raises(SourceUnavailableError, match="secret has expired"):
        await listed(source)


async def test_a_token_is_asked_for_once_and_again_when_it_nears_its_end_or_is_refused(
    office: Office,
) -> None:
    leave = office.documents.add("Leave.md", LEAVE)
    source = office.source()
    ref = (await listed(source))[office.path(leave)]
    await source.fetch(ref)
    assert len(office.graph.tokens) == 1
    office.now += 3400
    await source.fetch(ref)
    assert len(office.graph.tokens) == 2
    office.graph.tokens[:] = ["none of these any more"] * 2
    await source.fetch(ref)
    assert len(office.graph.tokens) == 3


@pytest.mark.parametrize("written", ["file", "environment"])
async def test_a_certificate_signs_in_without_a_secret(office: Office, tmp_path: Path, written: str) -> None:
    office.documents.add("Leave.md", LEAVE)
    office.graph.certificate, pem = a_certificate()
    (tmp_path / "app.pem").write_text(pem)
    shown = (
        {"certificate_file": tmp_path / "app.pem"}
        if written == "file"
        else {"certificate": pem.replace("\n", "\\n")}
    )

    assert len(await listed(office.source(client_secret=None, **shown))) == 1
    office.graph.certificate, _ = a_certificate()
    with pytest.raises(SourceUnavailableError, match="does not accept the app's certificate"):
        await listed(office.source(client_secret=None, **shown))


@pytest.mark.parametrize("pem", ["", "no certificate", "half"])
async def test_a_certificate_that_cannot_be_used_is_told_without_a_part_of_it(
    office: Office, pem: str
) -> None:
    _, whole = a_certificate()
    pem = whole[:200] if pem == "half" else pem

    with pytest.raises(SourceUnavailableError) as caught:
        await listed(office.source(client_secret=None, certificate=pem))
    assert ".pem file with the certificate and its private key" in str(caught.value)
    assert whole[60:100] not in str(caught.value)


async def test_no_credentials_at_all_are_told_and_nothing_is_asked(office: Office, tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailableError, match="set SHAREPOINT_CLIENT_SECRET"):
        await listed(office.source(client_secret=None))
    with pytest.raises(SourceUnavailableError, match="correct `certificate_file`"):
        await listed(office.source(client_secret=None, certificate_file=tmp_path / "none.pem"))
    assert office.graph.asked == []


async def test_no_secret_is_in_the_settings_text_or_in_the_log(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    leave = office.documents.add("Leave.md", LEAVE)
    source = office.source()
    await source.fetch((await listed(source))[office.path(leave)])

    ours = " ".join(str(vars(one)) for one in caplog.records if one.name != "aiohttp.access")
    for text in (repr(office.settings()), ours):
        for secret in (office.graph.secret, office.graph.tokens[0], "tempauth"):
            assert secret not in text


async def test_the_token_goes_with_no_download_and_a_download_to_no_other_host_without_https(
    office: Office,
) -> None:
    """The server of downloads refuses whoever shows a token, as SharePoint's does."""
    leave = office.documents.add("Leave.md", LEAVE)
    source = office.source()
    path = office.path(leave)
    assert (await source.fetch(PageRef(path=path, revision=None))).content == LEAVE.encode()
    for address in ("http://127.0.0.1:9/x", "file:///etc/passwd", "nonsense"):
        office.documents.edit(leave, more={"@microsoft.graph.downloadUrl": address})
        error = await failure(source, PageRef(path=path, revision=None))
        assert not error.withdraw
        assert "https" in error.reason or "address" in error.reason


async def test_a_link_to_more_that_leads_to_another_host_is_not_followed(office: Office) -> None:
    for number in range(3):
        office.documents.add(f"{number}.md", LEAVE)
    source = office.source(pages=False)
    office.graph.links_to = "http://localhost:9"

    with pytest.raises(SourceUnavailableError, match=r"another host \(localhost\)"):
        await listed(source)


@pytest.mark.parametrize(
    ("status", "code"), [(429, "activityLimitReached"), (503, "serviceNotAvailable"), (504, "timeout")]
)
async def test_throttling_is_waited_out_for_as_long_as_it_says(
    office: Office, status: int, code: str
) -> None:
    leave = office.documents.add("Leave.md", LEAVE)
    for where in ("/token", "/sites/", "/root/delta", "/permissions", f"/items/{leave}", "/download/"):
        office.graph.fail(where, status, code, Retry_After="17")
    source = office.source()
    raw = await source.fetch((await listed(source))[office.path(leave)])

    assert raw.content == LEAVE.encode()
    assert office.pauses == [17.0] * 6


async def test_throttling_without_an_end_makes_the_drive_unlisted_and_not_each_page_in_turn(
    office: Office,
) -> None:
    for number in range(30):
        office.documents.add(f"{number}.md", LEAVE)
    for _ in range(60):
        office.graph.fail("/permissions", 429, "activityLimitReached", Retry_After="2000")
    source = office.source()
    refs = await listed(source)

    assert list(refs) == [f"{SITE}/{office.documents.id}/"]
    assert "limits the rate" in await reason(source, refs[f"{SITE}/{office.documents.id}/"])
    assert sum("/permissions" in path for path in office.graph.asked) <= 4
    assert office.pauses == []


async def test_one_site_that_is_not_seen_does_not_keep_the_others_from_being_read(office: Office) -> None:
    leave = office.documents.add("Leave.md", LEAVE)
    source = office.source(sites=(f"https://{SITE}", f"https://{HOST}/sites/secret"))
    refs = await listed(source)

    assert sorted(refs) == sorted([office.path(leave), f"{HOST}/sites/secret/"])
    assert "Sites.Read.All" in await reason(source, refs[f"{HOST}/sites/secret/"])


@pytest.mark.parametrize(
    ("where", "status", "code", "told"),
    [
        ("/items/", 423, "resourceLocked", "locked, or checked out"),
        ("/download/", 403, "accessDenied", "protected or blocked"),
        ("/items/", 403, "accessRestricted", "accessRestricted"),
        ("/items/", 400, "invalidRequest", "invalidRequest"),
    ],
)
async def test_a_refusal_of_one_file_is_its_own_failure_and_its_earlier_text_stays(
    office: Office, where: str, status: int, code: str, told: str
) -> None:
    leave = office.documents.add("Leave.md", LEAVE)
    source = office.source()
    ref = (await listed(source))[office.path(leave)]
    office.graph.fail(where, status, code)

    error = await failure(source, ref)
    assert (error.withdraw, error.left_out) == (False, False)
    assert told in error.reason


async def test_what_is_too_large_infected_protected_or_checked_out_is_told_and_not_downloaded(
    office: Office,
) -> None:
    cases = {
        "larger than 60 MB": {"size": 60_000_001},
        "malware": {"malware": {"description": "EICAR"}},
        "checked out": {"publication": {"level": "checkout", "versionId": "1.1"}},
        "no address": {"@microsoft.graph.downloadUrl": None},
    }
    for told, more in cases.items():
        item = office.documents.add(f"{told}.docx", b"PK", more=more)
        error = await failure(office.source(), PageRef(path=office.path(item), revision=None))
        assert told in error.reason
        assert not error.withdraw
    assert not any("/download/" in path for path in office.graph.asked)


async def test_a_page_without_its_layout_or_whose_site_refuses_it_keeps_its_earlier_text(
    office: Office,
) -> None:
    page = office.pages.add("Home.aspx", b"", page=modern_page("Home", LEAVE) | {"canvasLayout": None})
    path = office.path(page, office.pages)

    assert "did not give the text" in await reason(office.source(), PageRef(path=path, revision=None))
    office.graph.fail("/pages/", 403, "accessDenied")
    error = await failure(office.source(), PageRef(path=path, revision=None))
    assert not error.withdraw


def test_settings_name_something_to_read_and_send_credentials_encrypted(office: Office) -> None:
    for more, told in (
        ({"sites": ()}, "name a site"),
        ({"sites": (f"https://{SITE}", f"https://{SITE}/")}, "named twice"),
        ({"sites": ("hr",)}, "string_pattern_mismatch"),
        ({"graph_url": "http://graph.example.com/v1.0"}, "use https://"),
        ({"login_url": "http://login.example.com"}, "use https://"),
    ):
        with pytest.raises(ValidationError, match=told):
            office.settings(**more)
