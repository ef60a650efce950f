"""Google Drive against a server of ours that answers as the published
API does: what is read, under which name, by whom.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import SourceUnavailableError
from ingest.parsers.formats import parse_file
from ingest.sources.google_drive.source import GoogleDriveSource
from ingest.sources.port import PageRef
from kb.config.sources import GoogleDriveSettings
from tests.fakes.documents import a_docx, a_pdf, a_pptx, an_xlsx, paragraph
from tests.fakes.drive_state import ACCOUNT, DOCUMENT, SHEET, SHORTCUT, SLIDES, anyone, domain, group, user
from tests.fakes.drive_world import no_sleep
from tests.fakes.google_drive import Drive
from tests.fakes.listing import failure, listed, reason

EDITOR = user(ACCOUNT, "writer")
EVERYONE = {"acme.com": ["everyone"]}


@pytest.fixture
async def drive() -> AsyncIterator[Drive]:
    async with Drive() as server:
        yield server


class Reader:
    """A source over a Drive that keeps its things in a folder; a new one
    for each sync, as the bot does. `now`: its clock.
    """

    def __init__(self, drive: Drive, folder: Path) -> None:
        self._drive, self._folder = drive, folder
        self._opened: list[GoogleDriveSource] = []
        self.now = 1_790_000_000.0

    def __call__(self, **settings: Any) -> GoogleDriveSource:
        chosen = {"key": self._drive.key(), "api_url": self._drive.url, "readers": EVERYONE, **settings}
        made = GoogleDriveSettings.model_validate({"kind": "google_drive", "name": "drive", **chosen})
        source = GoogleDriveSource(made, self._folder, sleep=no_sleep, clock=lambda: self.now)
        self._opened.append(source)
        return source

    async def close(self) -> None:
        for source in self._opened:
            await source.close()


@pytest.fixture
async def open_drive(drive: Drive, tmp_path: Path) -> AsyncIterator[Reader]:
    reader = Reader(drive, tmp_path)
    yield reader
    await reader.close()


def a_handbook(drive: Drive, *grants: dict[str, Any]) -> str:
    return drive.folder("Handbook", grants=[EDITOR, *(grants or (domain("acme.com"),))])


async def told(source: GoogleDriveSource) -> list[str]:
    """What the report says of files that are not indexed."""
    refs = await listed(source)
    return [await reason(source, ref) for path, ref in refs.items() if path.startswith("closed/")]


async def test_what_google_s_editors_made_is_read_from_an_office_file_under_its_own_name(
    drive: Drive, open_drive: Reader
) -> None:
    top = a_handbook(drive)
    word = a_docx(body=paragraph("Twenty-five days of leave in a year."))
    made = {
        drive.put("Leave 2026", DOCUMENT, parent=top, content=word): ("Leave 2026", "Twenty-five days"),
        drive.put(
            "Rates", SHEET, parent=top, content=an_xlsx({"Rates": [["City", "Rate"], ["Ghent", 90]]})
        ): (
            "Rates",
            "Ghent",
        ),
        drive.put("Kick/off", SLIDES, parent=top, content=a_pptx([("Welcome", "We meet on Mondays.")])): (
            "Kick_off",
            "Mondays",
        ),
        drive.put(
            "Terms.PDF", "application/pdf", parent=top, content=a_pdf([[(12, "Pay within thirty days.")]])
        ): (
            "Terms",
            "thirty days",
        ),
        drive.put("Old", "application/msword", parent=top, content=b"{\\rtf1 x}"): None,
    }
    source = open_drive(folders=[top])
    refs = await listed(source)

    assert sorted(refs) == sorted(f"{top}/{file_id}" for file_id in made)
    for file_id, expected in made.items():
        raw = await source.fetch(refs[f"{top}/{file_id}"])
        assert (raw.parents, raw.edited) == (("Handbook",), date(2026, 3, 4))
        if expected is None:
            assert raw.file_name == "Old.doc"
            continue
        page = parse_file(raw.content, path=raw.file_name or "", media_type=raw.media_type)
        assert expected[1] in "\n".join(str(block) for one in page.sections for block in one.blocks)
        assert expected[0] in (page.title, (raw.file_name or "").rpartition(".")[0])


async def test_suggestions_and_comments_are_no_text_of_a_document(drive: Drive, open_drive: Reader) -> None:
    word = a_docx(
        body='<w:p><w:r><w:t xml:space="preserve">Leave takes </w:t></w:r>'
        '<w:ins w:id="1"><w:r><w:t>thirty</w:t></w:r></w:ins><w:del w:id="2"><w:r><w:delText>ten</w:delText></w:r></w:del>'
        '<w:r><w:t xml:space="preserve"> days.</w:t></w:r><w:r><w:commentReference w:id="0"/></w:r></w:p>'
        '<w:p><w:pPr><w:rPr><w:ins w:id="3"/></w:rPr></w:pPr><w:ins w:id="4"><w:r><w:t>Or forty.</w:t></w:r></w:ins></w:p>'
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Ghent</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:trPr><w:ins w:id='5'/></w:trPr>"
        "<w:tc><w:p><w:r><w:t>Bruges</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
        extra={
            "word/comments.xml": '<w:comments xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
            '<w:comment w:id="0"><w:p><w:r><w:t>Really?</w:t></w:r></w:p></w:comment></w:comments>'
        },
    )
    top = a_handbook(drive)
    page, plain = (
        drive.put(name, DOCUMENT, parent=top, content=content)
        for name, content in (("Leave", word), ("Plain", a_docx(body=paragraph("Words."))))
    )
    source = open_drive(folders=[top])
    refs = await listed(source)
    raw = await source.fetch(refs[f"{top}/{page}"])
    parsed = parse_file(raw.content, path=raw.file_name or "")
    text = "\n".join(block.text for section in parsed.sections for block in section.blocks)

    assert "Leave takes ten days." in text
    assert "Ghent" in text
    assert not [word for word in ("thirty", "forty", "Bruges", "Really") if word in text]
    assert "suggestions" in raw.notes[0]
    assert (await source.fetch(refs[f"{top}/{plain}"])).notes == ()


async def test_what_is_no_document_is_not_listed(drive: Drive, open_drive: Reader) -> None:
    top = a_handbook(drive)
    for name, mime in (
        ("Team.png", "image/png"),
        ("Survey", "application/vnd.google-apps.form"),
        ("Sketch", "application/vnd.google-apps.drawing"),
        ("All.zip", "application/zip"),
    ):
        drive.put(name, mime, parent=top, content=b"x")
    drive.put("Notes", "text/plain", parent=top, content=b"Some words.")

    (path,) = await listed(open_drive(folders=[top]))
    assert (await open_drive(folders=[top]).fetch(PageRef(path=path, revision=None))).file_name == "Notes.txt"


async def test_pages_of_one_title_in_one_folder_are_two_and_a_page_keeps_its_path_when_it_is_renamed_or_moved(
    drive: Drive, open_drive: Reader
) -> None:
    top = a_handbook(drive)
    inner = drive.folder("Leave", parent=top)
    one, two = (drive.put("Rules.md", parent=top, content=text) for text in (b"One.", b"Two."))
    before = await listed(open_drive(folders=[top]))
    assert sorted(before) == sorted([f"{top}/{one}", f"{top}/{two}"])

    drive.change(one, name="Leave rules.md", parent=inner)
    source = open_drive(folders=[top])
    after = await listed(source)
    assert after.keys() == before.keys()
    assert after[f"{top}/{two}"] == before[f"{top}/{two}"]
    raw = await source.fetch(after[f"{top}/{one}"])
    assert (raw.parents, raw.file_name) == (("Handbook", "Leave"), "Leave rules.md")
    assert raw.revision == after[f"{top}/{one}"].revision != before[f"{top}/{one}"].revision


async def test_a_shortcut_is_the_document_that_it_leads_to_unless_that_is_read_anyway(
    drive: Drive, open_drive: Reader
) -> None:
    top = a_handbook(drive)
    elsewhere = drive.put("Travel.md", content=b"By train.", grants=[EDITOR, domain("acme.com")])
    secret = drive.put("Board.md", content=b"Sold.", grants=[EDITOR, user("ceo@acme.com")])
    here = drive.put("Leave.md", parent=top, content=b"Days.")
    leads_out = drive.put("Travel", SHORTCUT, parent=top, target=elsewhere)
    for target in (here, secret, top):
        drive.put("Shortcut", SHORTCUT, parent=top, target=target)
    source = open_drive(folders=[top])
    refs = {path: ref for path, ref in (await listed(source)).items() if not path.startswith("closed/")}

    assert sorted(refs) == sorted([f"{top}/{here}", f"{top}/{leads_out}"])
    raw = await source.fetch(refs[f"{top}/{leads_out}"])
    assert (raw.content, raw.url) == (b"By train.", f"https://drive.google.com/file/d/{elsewhere}/view")


async def test_what_is_excluded_by_the_names_of_folders_and_files_goes_on_purpose(
    drive: Drive, open_drive: Reader
) -> None:
    top = a_handbook(drive)
    drafts = drive.folder("Drafts", parent=top)
    inside, kept = (drive.put("Page.md", parent=parent, content=b"x") for parent in (drafts, top))
    source = open_drive(folders=[top], exclude=["Drafts/", "*.txt"])

    assert list(await listed(source)) == [f"{top}/{kept}"]
    assert source.withdraws(f"{top}/{inside}")
    assert not source.withdraws(f"{top}/{kept}")
    assert (await failure(source, PageRef(path=f"{top}/{inside}", revision=None))).withdraw


# Who may read


@pytest.mark.parametrize(
    ("grants", "readers", "audience"),
    [
        ([group("hr@acme.com")], {"HR@acme.com": ["#people"]}, ("#people",)),
        ([group("hr@acme.com"), user("dana@x.com")], {"hr@acme.com": ["#people"]}, ("#people",)),
        (
            [group("hr@acme.com"), group("it@acme.com")],
            {"hr@acme.com": ["#people"], "it@acme.com": ["#it"]},
            ("#it", "#people"),
        ),
        ([user("dana@acme.com", "commenter")], {"dana@acme.com": ["C1"]}, ("C1",)),
        ([domain("acme.com")], {"acme.com": ["everyone"]}, None),
        ([domain("acme.com", found=False)], {"acme.com with the link": ["#all"]}, ("#all",)),
        ([anyone()], {"anyone with the link": ["everyone"]}, None),
        ([anyone(found=True)], {"anyone": ["everyone"]}, None),
    ],
)
async def test_a_file_is_for_the_channels_of_those_whom_it_is_shared_with(
    drive: Drive, open_drive: Reader, grants: list[Any], readers: dict[str, Any], audience: Any
) -> None:
    page = drive.put("Page.md", content=b"Words.", grants=[EDITOR, *grants])
    source = open_drive(readers=readers)
    (ref,) = (await listed(source)).values()

    assert (ref.path, (await source.fetch(ref)).audience) == (f"account/{page}", audience)


@pytest.mark.parametrize(
    ("grants", "because"),
    [
        ([group("board@acme.com")], "shared with board@acme.com, and `readers` names none of these"),
        ([anyone()], "shared with anyone with the link, and"),
        ([anyone(found=True)], "shared with anyone, and"),
        ([domain("acme.com", found=False)], "shared with acme.com with the link, and"),
        ([domain("other.com")], "shared with other.com, and"),
        ([], "shared with nobody else"),
        ([group("hr@acme.com", deleted=True)], "shared with nobody else"),
        ([group("hr@acme.com", expirationTime="2026-01-01T00:00:00Z")], "shared with nobody else"),
    ],
)
async def test_a_file_that_is_shared_with_nobody_in_the_table_is_closed_and_the_report_says_why(
    drive: Drive, open_drive: Reader, grants: list[Any], because: str
) -> None:
    page = drive.put("Secret.md", content=b"Sold.", grants=[EDITOR, *grants])
    drive.put("Open.md", content=b"Words.", grants=[EDITOR, group("all@acme.com")])
    source = open_drive(
        readers={"hr@acme.com": ["#people"], "acme.com": ["everyone"], "all@acme.com": ["everyone"]}
    )

    (said,) = await told(source)
    assert said.startswith("“Secret.md”: nothing of it is indexed, ")
    assert because in said
    assert source.withdraws(f"account/{page}")
    refused = await failure(source, PageRef(path=f"account/{page}", revision=None))
    assert refused.withdraw
    assert because in refused.reason


async def test_an_account_that_may_not_see_with_whom_a_file_is_shared_closes_it_unless_its_place_has_readers(
    drive: Drive, open_drive: Reader
) -> None:
    """A service account that is a mere viewer."""
    top = drive.folder("Handbook", grants=[user(ACCOUNT), domain("acme.com")])
    board = drive.folder("Board", parent=top, limited=True, grants=[user(ACCOUNT)])
    page = drive.put("Leave.md", parent=top, content=b"Days.")
    drive.put("Minutes.md", parent=board, content=b"Sold.")

    said = await told(open_drive(folders=[top]))
    assert len(said) == 1
    assert "“Leave.md” and 1 more: nothing of it is indexed, the account may not see" in said[0]

    source = open_drive(folders=[top], places={f"https://drive.google.com/drive/folders/{top}": ["#all"]})
    refs = await listed(source)
    assert [path for path in refs if not path.startswith("closed/")] == [f"{top}/{page}"]
    assert (await source.fetch(refs[f"{top}/{page}"])).audience == ("#all",)


async def test_in_a_shared_drive_readers_come_from_the_drive_its_folders_and_the_file(
    drive: Drive, open_drive: Reader
) -> None:
    top = drive.shared_drive("Company", group("all@acme.com"))
    inner = drive.folder("HR", parent=top, grants=[group("hr@acme.com")])
    board = drive.folder("Board", parent=top, limited=True, grants=[group("board@acme.com")])
    expected = {
        drive.put("a.md", parent=top, content=b"a"): ("#all",),
        drive.put("b.md", parent=inner, content=b"b"): ("#all", "#hr"),
        drive.put("c.md", parent=top, content=b"c", grants=[group("hr@acme.com")]): ("#all", "#hr"),
        drive.put("d.md", parent=board, content=b"d"): ("#board",),
        drive.put("e.md", parent=board, content=b"e", grants=[group("hr@acme.com")]): ("#board", "#hr"),
    }
    readers = {"all@acme.com": ["#all"], "hr@acme.com": ["#hr"], "board@acme.com": ["#board"]}
    source = open_drive(readers=readers)
    refs = await listed(source)

    assert sorted(refs) == sorted(f"{top}/{file_id}" for file_id in expected)
    for file_id, channels in expected.items():
        assert (await source.fetch(refs[f"{top}/{file_id}"])).audience == channels
        alone = await open_drive(readers=readers).fetch(PageRef(path=f"{top}/{file_id}", revision=None))
        assert (alone.audience, alone.revision) == (channels, refs[f"{top}/{file_id}"].revision)


# What cannot be read


async def test_an_export_above_ten_megabytes_is_taken_by_the_editor_s_own_link_or_told_with_what_to_do(
    drive: Drive, open_drive: Reader
) -> None:
    drive.export_limit = 1000
    top = a_handbook(drive)
    word = a_docx(body=paragraph("Long. " * 100))
    paper = drive.put("Paper", DOCUMENT, parent=top, content=word.ljust(2000, b"\0"))
    sheet = drive.put("Sheet", SHEET, parent=top, content=b"x" * 2000)
    source = open_drive(folders=[top])
    refs = await listed(source)

    assert len((await source.fetch(refs[f"{top}/{paper}"])).content) >= 2000
    refused = await failure(source, refs[f"{top}/{sheet}"])
    assert "no more than 10 MB" in refused.reason
    assert "split it" in refused.reason
    assert not refused.withdraw


async def test_a_file_that_may_not_be_downloaded_and_one_that_is_gone_say_so(
    drive: Drive, open_drive: Reader
) -> None:
    top = a_handbook(drive)
    held = drive.put("Held.md", parent=top, content=b"x", downloads=False)
    source = open_drive(folders=[top])
    refs = await listed(source)

    refused = await failure(source, refs[f"{top}/{held}"])
    assert (refused.withdraw, "does not allow downloads" in refused.reason) == (False, True)
    drive.delete(held)
    assert (await failure(source, refs[f"{top}/{held}"])).withdraw


# Accounts


async def test_the_account_may_be_a_person_by_a_refresh_token_or_one_whom_the_service_account_acts_as(
    drive: Drive, open_drive: Reader
) -> None:
    drive.put("Page.md", content=b"x", grants=[user("dana@acme.com", "owner"), domain("acme.com")])
    oauth = {"client_id": "id", "client_secret": "client-secret", "refresh_token": drive.refresh_token}
    assert len(await listed(open_drive(key=None, **oauth))) == 1

    drive.people = {"dana@acme.com"}
    assert len(await listed(open_drive(subject="dana@acme.com"))) == 1
    with pytest.raises(SourceUnavailableError, match=r"may not act as ceo@acme.com.*domain-wide delegation"):
        await listed(open_drive(subject="ceo@acme.com"))


async def test_an_access_token_that_expires_in_the_middle_is_renewed_and_credentials_that_ended_list_nothing(
    drive: Drive, open_drive: Reader, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    drive.put("Page.md", content=b"Words.", grants=[user("dana@acme.com", "owner"), domain("acme.com")])
    oauth = {"client_id": "id", "client_secret": "client-secret", "refresh_token": drive.refresh_token}
    source = open_drive(key=None, **oauth)
    (ref,) = (await listed(source)).values()
    drive.expire()
    assert (await source.fetch(ref)).content == b"Words."

    drive.refresh_token = None
    for broken in (
        open_drive(key=None, **oauth),
        open_drive(key='{"private_key": "BEGIN SECRET"}'),
        open_drive(key=None, key_file="/nowhere/key.json"),
    ):
        with pytest.raises(SourceUnavailableError) as caught:
            await listed(broken)
        assert len(str(caught.value)) > 60
    drive.key_is_valid = False
    with pytest.raises(SourceUnavailableError, match="does not accept the service account"):
        await listed(open_drive())
    for secret in ("1//refresh-token", "client-secret", "ya29", "BEGIN"):
        assert secret not in caplog.text + repr(open_drive(key=None, **oauth)._settings) + str(caught.value)


async def test_an_account_that_sees_nothing_and_a_folder_that_is_not_shared_are_no_empty_source(
    drive: Drive, open_drive: Reader
) -> None:
    with pytest.raises(SourceUnavailableError, match=f"sees no file: share folders .* with {ACCOUNT}"):
        await listed(open_drive())
    top = a_handbook(drive)
    page = drive.put("Page.md", parent=top, content=b"x")
    hidden = drive.folder("Hidden")
    source = open_drive(folders=[top, hidden])
    refs = await listed(source)

    assert set(refs) == {f"{top}/{page}", f"{hidden}/"}
    assert f"not shared with {ACCOUNT}" in await reason(source, refs[f"{hidden}/"])


@pytest.mark.parametrize(
    ("status", "why", "advice"),
    [
        (403, "accessNotConfigured", "enable it"),
        (403, "insufficientPermissions", "drive.readonly"),
        (403, "dailyLimitExceeded", "quota"),
        (400, "badRequest", "scripted"),
    ],
)
async def test_a_refusal_that_holds_for_everything_says_what_to_do(
    drive: Drive, open_drive: Reader, status: int, why: str, advice: str
) -> None:
    drive.put("Page.md", content=b"x", grants=[EDITOR])
    drive.fail("/drives", status, why)

    with pytest.raises(SourceUnavailableError, match=advice):
        await listed(open_drive())


async def test_a_limit_that_does_not_end_is_told_and_one_that_does_is_waited_for(
    drive: Drive, open_drive: Reader
) -> None:
    drive.put("Page.md", content=b"x", grants=[EDITOR, domain("acme.com")])
    drive.fail("/changes/startPageToken", 403, "rateLimitExceeded")
    drive.fail("/files", 429, "rateLimitExceeded")
    assert len(await listed(open_drive())) == 1

    for _ in range(6):
        drive.fail("/drives", 403, "userRateLimitExceeded")
    with pytest.raises(SourceUnavailableError, match="limits the rate"):
        await listed(open_drive())
