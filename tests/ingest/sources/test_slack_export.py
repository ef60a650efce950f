"""Slack exports: which threads become pages, for whom, and with whose names."""

from __future__ import annotations

import html
import json
import re
import zipfile
from collections.abc import Callable
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from ingest.errors import PageError, SourceUnavailableError
from ingest.parsers.formats import parse_file
from ingest.sources.port import RawPage
from ingest.sources.slack.mrkdwn import to_markdown
from ingest.sources.slack.source import SlackExportSource
from kb.config.sources import SlackExportSettings
from tests.fakes.listing import failure, listed
from tests.fakes.shared import shared

USERS = [
    {"id": "U1", "name": "ann", "profile": {"real_name": "Ann de Vries", "display_name": "ann"}},
    {"id": "U2", "name": "bob", "real_name": "Bob Stone", "profile": {}},
    {"id": "U3", "name": "may", "profile": {"real_name": "May", "display_name": "May"}},
]


def said(ts: str, user: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "ts": ts, "user": user, "text": text, **more}


def tick(name: str = "white_check_mark") -> dict[str, Any]:
    return {"reactions": [{"name": name, "users": ["U1"], "count": 1}]}


QUESTION = said(
    "1700000000.000100",
    "U1",
    "How do I reset my *VPN* token?\nIt says `error 5`.",
    thread_ts="1700000000.000100",
)
ANSWER = said(
    "1700100000.000200",
    "U2",
    "Ask <@U1> or <https://it.example/vpn|the IT desk> &amp; wait.",
    thread_ts="1700000000.000100",
    **tick(),
)
THANKS = said("1700100001.000300", "U1", "Thanks Bob Stone!", thread_ts="1700000000.000100")
THREAD = "C1/1700000000.000100"


def export(
    root: Path,
    days: dict[str, list[dict[str, Any]]],
    *,
    as_zip: bool = True,
    pins: list[str] | None = None,
    **files: list[dict[str, Any]],
) -> Path:
    channels = [{"id": "C1", "name": "help-it", "pins": [{"id": ts, "type": "C"} for ts in pins or []]}]
    written = {
        "channels.json": channels,
        "users.json": USERS,
        **{f"{name}.json": records for name, records in files.items()},
        **{f"{name}.json": records for name, records in days.items()},
    }
    if as_zip:
        with zipfile.ZipFile(root / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, records in written.items():
                archive.writestr(name, json.dumps(records))
        return root / "export.zip"
    for name, records in written.items():
        (root / "export" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "export" / name).write_text(json.dumps(records))
    return root / "export"


@pytest.fixture(params=[True, False], ids=["zip", "folder"])
def packed(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Path]:
    return lambda days, **more: export(tmp_path, days, as_zip=request.param, **more)


def a_source(path: Path, **settings: Any) -> SlackExportSource:
    return SlackExportSource(SlackExportSettings(kind="slack_export", name="slack", path=path, **settings))


DAYS = {"help-it/2023-11-14": [QUESTION], "help-it/2023-11-16": [THANKS, ANSWER]}


async def test_a_thread_with_an_accepted_answer_is_a_page_over_all_its_days(packed: Any) -> None:
    source = a_source(packed(DAYS), workspace_url="https://acme.slack.com")
    refs = await listed(source)
    raw = await source.fetch(refs[THREAD])

    assert list(refs) == [THREAD]
    assert raw.content.decode() == (
        "# How do I reset my VPN token?\n\n"
        "**Person 1**: How do I reset my **VPN** token?\nIt says `error 5`.\n\n"
        "## Accepted answer\n\n**Person 2**: Ask Person 1 or [the IT desk](https://it.example/vpn) & wait.\n\n"
        "## Other replies\n\n**Person 1**: Thanks Person 2!\n"
    )
    assert (raw.revision, raw.edited, raw.audience) == (refs[THREAD].revision, date(2023, 11, 16), None)
    assert raw.url == "https://acme.slack.com/archives/C1/p1700000000000100"


async def test_names_are_shown_where_the_settings_say_so(packed: Any) -> None:
    source = a_source(packed(DAYS), people="names")
    text = (await source.fetch((await listed(source))[THREAD])).content.decode()

    assert "**Bob Stone**: Ask Ann de Vries or" in text


async def test_addresses_numbers_and_full_names_do_not_get_through_pseudonyms(packed: Any) -> None:
    words = (
        "Mail <mailto:ann@acme.example|ann@acme.example>, call +31 6 1234 5678, ask Ann de Vries. You may."
    )
    message = said("1700000000.000100", "U3", words, pinned_to=["C1"])
    source = a_source(packed({"help-it/2023-11-14": [message]}))
    text = (await source.fetch((await listed(source))[THREAD])).content.decode()

    assert "**Person 1**: Mail (e-mail address), call (phone number), ask Person 2. You may." in text
    assert not any(name in text for name in ("Ann", "acme", "1234"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Run `kick <@U2>` now", "Run `kick Person 2` now"),
        ("<@U2|Bob Stone> said so", "Person 2 said so"),
        ("ask bob stone or BOB STONE", "ask Person 2 or Person 2"),
        ("ask @bob, not a bob", "ask Person 2, not a bob"),
        ("owner: jose.garcia", "owner: Person 2"),
        ("as José García or Jose Garcia wrote", "as Person 2 or Person 2 wrote"),
        ("<https://git.example/jose.garcia|the branch>", "the branch"),
        ("<https://git.example/jose.garcia/x>", "(address)"),
    ],
)
async def test_a_person_is_not_named_in_code_by_handle_or_in_another_spelling(
    tmp_path: Path, text: str, shown: str
) -> None:
    jose = {
        "id": "U4",
        "name": "jose.garcia",
        "profile": {"real_name": "José García", "real_name_normalized": "Jose Garcia"},
    }
    message = said("1700000000.000100", "U1", f"Hi: {text}.", pinned_to=["C1"])
    source = a_source(export(tmp_path, {"help-it/2023-11-14": [message]}, users=[*USERS, jose]))
    content = (await source.fetch((await listed(source))["C1/1700000000.000100"])).content.decode()

    assert f"**Person 1**: Hi: {shown}." in content


async def test_unmarked_threads_are_left_out_and_pins_and_chosen_reactions_count(packed: Any) -> None:
    plain = {**ANSWER, "reactions": [{"name": "tada"}]}
    days = {"help-it/2023-11-14": [QUESTION], "help-it/2023-11-16": [plain]}
    assert await listed(a_source(packed(days))) == {}
    assert list(await listed(a_source(packed(days), accepted=("tada",)))) == [THREAD]
    assert list(await listed(a_source(packed(days, pins=["1700100000.000200"])))) == [THREAD]
    marked_root = {"help-it/2023-11-14": [{**QUESTION, **tick()}], "help-it/2023-11-16": [plain]}
    assert await listed(a_source(packed(marked_root))) == {}


async def test_private_channels_are_read_when_named_and_only_for_their_members_and_messages_never(
    packed: Any,
) -> None:
    days = {
        "board/2023-11-14": [QUESTION, ANSWER],
        "D1/2023-11-14": [QUESTION, ANSWER],
        "mpdm-ann--bob-1/2023-11-14": [QUESTION, ANSWER],
    }
    private = {
        "groups": [{"id": "G9", "name": "board"}],
        "dms": [{"id": "D1", "members": ["U1", "U2"]}],
        "mpims": [{"id": "G8", "name": "mpdm-ann--bob-1"}],
    }
    assert await listed(a_source(packed(days, **private))) == {}
    source = a_source(packed(days, **private), channels=("#board",))
    (ref,) = (await listed(source)).values()
    assert (await source.fetch(ref)).audience == ("G9",)
    with pytest.raises(SourceUnavailableError, match="no channel mpdm-ann--bob-1: correct `channels`"):
        await listed(a_source(packed(days, **private), channels=("mpdm-ann--bob-1",)))


async def test_joins_topics_and_unmarked_apps_are_not_heard(packed: Any) -> None:
    noise = [
        said(
            "1700000001.000100",
            "U2",
            "<@U2> has joined",
            subtype="channel_join",
            thread_ts="1700000000.000100",
        ),
        said("1700000002.000100", "", "Footnote says 25", bot_id="B1", thread_ts="1700000000.000100"),
    ]
    source = a_source(packed({"help-it/2023-11-14": [QUESTION, *noise], "help-it/2023-11-16": [ANSWER]}))
    text = (await source.fetch((await listed(source))[THREAD])).content.decode()

    assert "joined" not in text
    assert "Footnote" not in text


async def test_a_page_is_fetched_without_a_listing_and_one_that_lost_its_mark_is_withdrawn(
    packed: Any,
) -> None:
    ref = (await listed(a_source(packed(DAYS))))[THREAD]
    assert (await a_source(packed(DAYS)).fetch(ref)).revision == ref.revision
    unmarked = packed({"help-it/2023-11-14": [QUESTION], "help-it/2023-11-16": [{**ANSWER, "reactions": []}]})
    with pytest.raises(PageError) as caught:
        await a_source(unmarked).fetch(ref)
    assert caught.value.withdraw


async def test_what_is_no_export_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 not really")
    (tmp_path / "empty").mkdir()
    half = export(tmp_path, DAYS)
    half.write_bytes(half.read_bytes()[:-200])
    for name, message in {
        "nothing.zip": "there is no export",
        "broken.zip": "download the export again",
        "export.zip": "download the export again",
        "empty": "it is no Slack export",
    }.items():
        with pytest.raises(SourceUnavailableError, match=message):
            await listed(a_source(tmp_path / name))


def packed_again(files: dict[str, bytes], *, mac: bool = False) -> bytes:
    """A zip of these. `mac`: as a Mac writes it, with names in UTF-8 that do not say so and files of its own."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
            if mac:
                folder, _, file = name.rpartition("/")
                archive.writestr(f"__MACOSX/{folder}/._{file}", b"\0\5\x16\7")
    content = buffer.getvalue()
    if mac:  # the flag that says so, in the local and the central headers
        flag = re.compile(rb"(PK\x03\x04..|PK\x01\x02....)(.)\x08", re.DOTALL)
        content = flag.sub(lambda found: found[1] + found[2] + b"\0", content)
    return content


def an_export(channel: str = "help-it") -> dict[str, bytes]:
    files: dict[str, object] = {
        "channels.json": [{"id": "C1", "name": channel}],
        "users.json": USERS,
        f"{channel}/2023-11-14.json": [QUESTION],
        f"{channel}/2023-11-16.json": [THANKS, ANSWER],
        "canvases.json": [],
    }
    return {name: json.dumps(value).encode() for name, value in files.items()}


def within(folder: str, files: dict[str, bytes]) -> dict[str, bytes]:
    return {f"{folder}/{name}": content for name, content in files.items()}


NAMED = "Acme Slack export Jan 1 2026 - Sep 30 2026"
TAKEN_APART = within(NAMED, {normalize("NFD", name): content for name, content in an_export("büro").items()})


@pytest.mark.parametrize(
    "packing",
    [
        packed_again(an_export()),
        packed_again(within(NAMED, an_export())),
        packed_again(within(f"Downloads/{NAMED}", an_export()), mac=True),
        packed_again(TAKEN_APART),
        packed_again(TAKEN_APART, mac=True),
        packed_again(within("büro export", an_export("büro")), mac=True),
        packed_again({name.replace("/", "\\"): content for name, content in within(NAMED, an_export()).items()}),
        packed_again({"export.zip": packed_again(an_export())}),
        packed_again({f"{NAMED}/export.ZIP": packed_again(within(NAMED, an_export()), mac=True), "read me.txt": b"x"}, mac=True),
        packed_again({"a.zip": packed_again({"b.zip": packed_again(an_export())})}),
        packed_again({**within(NAMED, an_export()), f"{NAMED}/help-it/attachments/old/channels.json": b"[]"}),
    ],
    ids=["plain", "folder", "two folders, a Mac", "letters apart", "letters apart, a Mac", "a Mac", "backslashes",
         "zip in zip", "zip in folder in zip", "zip in zip in zip", "a second one deeper"],
)  # fmt: skip
@pytest.mark.parametrize("unpacked", [False, True], ids=["zip", "unpacked"])
async def test_an_export_is_read_however_it_was_packed_again(
    tmp_path: Path, packing: bytes, unpacked: bool
) -> None:
    path = tmp_path / "again.zip"
    path.write_bytes(packing)
    if unpacked:
        path = tmp_path / "again"
        with zipfile.ZipFile(BytesIO(packing)) as archive:
            archive.extractall(path)
    source = a_source(path)
    refs = await listed(source)

    assert list(refs) == [THREAD]
    assert "## Accepted answer" in (await source.fetch(refs[THREAD])).content.decode()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {**within("one", an_export()), **within("two", an_export())},
            r"holds several exports \(one/, two/\)",
        ),
        ({"a.zip": b"x", "b.zip": b"y"}, r"several zips \(a.zip, b.zip\)"),
        ({"export.zip": b"no zip at all"}, "no zip file, or a broken one: download the export again"),
        ({"channels/help-it.txt": b"hello"}, "export it as JSON"),
        ({"readme.md": b"hello"}, "has no channels.json: it is no Slack export"),
        ({**an_export(), "users.json": b"[{"}, "users.json in the export is no JSON"),
    ],
)
async def test_what_cannot_be_told_to_be_one_export_says_why(
    tmp_path: Path, files: dict[str, bytes], message: str
) -> None:
    (tmp_path / "x.zip").write_bytes(packed_again(files))
    with pytest.raises(SourceUnavailableError, match=message):
        await listed(a_source(tmp_path / "x.zip"))


@pytest.mark.parametrize("broken", ['[{"type": "mess', '{"ok": false}', "\x00\xff"])
async def test_a_broken_day_leaves_the_other_threads_and_says_what_is_missing(
    tmp_path: Path, broken: str
) -> None:
    late = said("1700200000.000100", "U1", "Also: by mail.", thread_ts=QUESTION["ts"])
    pinned = said("1700200001.000100", "U2", "Pinned.", pinned_to=["C1"])
    alone = said("1700000002.000100", "U2", "Pinned before.", pinned_to=["C1"])
    root = {**QUESTION, "reply_count": 3}
    days = {
        "help-it/2023-11-14": [root, alone],
        "help-it/2023-11-16": [THANKS, ANSWER],
        "help-it/2023-11-17": [late, pinned],
    }
    path = export(tmp_path, days, as_zip=False)
    whole = await listed(a_source(path))
    assert sorted(whole) == sorted(["C1/1700000002.000100", THREAD, "C1/1700200001.000100"])
    (path / "help-it" / "2023-11-17.json").write_text(broken)
    source = a_source(path)
    refs = await listed(source)

    assert sorted(refs) == sorted(["C1/", "C1/1700000002.000100", THREAD])
    assert refs["C1/1700000002.000100"] == whole["C1/1700000002.000100"]
    kept = await source.fetch(refs[THREAD])
    assert "## Accepted answer" in kept.content.decode()
    assert len(kept.notes) == 1
    assert kept.notes[0].startswith("1 of its replies are missing: help-it/2023-11-17.json in the export")
    for lost in (refs["C1/"], whole["C1/1700200001.000100"]):
        error = await failure(source, lost)
        assert (error.withdraw, "2023-11-17.json" in error.reason) == (False, True)


async def test_who_the_members_are_must_be_known_before_anybody_is_quoted(tmp_path: Path) -> None:
    path = export(tmp_path, DAYS, as_zip=False)
    (path / "users.json").write_text("[{")
    with pytest.raises(SourceUnavailableError, match=r"users\.json in the export is no JSON"):
        await listed(a_source(path))


async def test_an_export_of_private_channels_alone_is_an_export(tmp_path: Path) -> None:
    files = an_export()
    files["groups.json"] = files.pop("channels.json")
    (tmp_path / "x.zip").write_bytes(packed_again(within("Acme", files)))

    assert await listed(a_source(tmp_path / "x.zip")) == {}
    assert list(await listed(a_source(tmp_path / "x.zip", channels=("#help-it",)))) == [THREAD]


async def test_threads_of_a_channel_that_was_made_private_are_left_out_on_purpose(packed: Any) -> None:
    source = a_source(
        packed({"board/2023-11-14": [QUESTION, ANSWER]}, groups=[{"id": "G9", "name": "board"}])
    )

    assert await listed(source) == {}
    assert source.withdraws("G9/1700000000.000100")
    assert not source.withdraws("C1/1700000000.000100")


async def test_edits_and_deletions_hold(packed: Any) -> None:
    edited = {**ANSWER, "text": "Ask the desk.", "edited": {"user": "U2", "ts": "1700300000.000000"}}
    source = a_source(packed({"help-it/2023-11-14": [QUESTION], "help-it/2023-11-16": [THANKS, edited]}))
    raw = await source.fetch((await listed(source))[THREAD])
    assert raw.edited == date(2023, 11, 18)

    gone = {
        "type": "message",
        "ts": THANKS["ts"],
        "subtype": "tombstone",
        "text": "This message was deleted.",
    }
    gone["thread_ts"] = QUESTION["ts"]
    source = a_source(packed({"help-it/2023-11-14": [QUESTION], "help-it/2023-11-16": [ANSWER, gone]}))
    assert "Other replies" not in (await source.fetch((await listed(source))[THREAD])).content.decode()


async def test_edits_and_deletions_that_the_export_logs_as_messages_hold(packed: Any) -> None:
    change = {"type": "message", "subtype": "message_changed", "hidden": True, "ts": "1700300000.000000"}
    new = {
        "type": "message",
        "user": "U2",
        "ts": ANSWER["ts"],
        "text": "Ask the desk.",
        "edited": {"ts": "1700300000.000000"},
    }
    old = {**new, "text": "Ask nobody.", "edited": {"ts": "1700200000.000000"}}
    log = [
        {**change, "message": new, "previous_message": old},
        {**change, "message": old, "previous_message": ANSWER},
        {"type": "message", "subtype": "message_deleted", "ts": "1700300001.000000", "deleted_ts": THANKS["ts"]},
    ]  # fmt: skip
    days = {
        "help-it/2023-11-14": [QUESTION],
        "help-it/2023-11-16": [THANKS, ANSWER],
        "help-it/2023-11-18": log,
    }
    source = a_source(packed(days))
    raw = await source.fetch((await listed(source))[THREAD])

    assert raw.content.decode().endswith("## Accepted answer\n\n**Person 2**: Ask the desk.\n")
    assert raw.edited == date(2023, 11, 18)


async def answered(tmp_path: Path, **answer: Any) -> RawPage:
    """The page of a thread whose accepted answer holds this."""
    asked = said("1700000000.000100", "U1", "How do I list old logs?", thread_ts="1700000000.000100")
    given = said("1700000001.000100", "U2", answer.pop("text", ""), thread_ts=asked["ts"], **tick(), **answer)
    last = said("1700000002.000100", "U1", "Thanks, it works.", thread_ts=asked["ts"])
    source = a_source(export(tmp_path, {"help-it/2023-11-14": [asked, given, last]}))
    return await source.fetch((await listed(source))[THREAD])


def section(page: RawPage, heading: str) -> list[tuple[str, str]]:
    """Kind and text of the blocks below it."""
    sections = parse_file(page.content, path=page.path, media_type=page.media_type).sections
    return [(block.kind, block.text) for part in sections if part.path == (heading,) for block in part.blocks]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("```find /var/log -mtime +30```\nRun it on the jump host.", [("code", "**Person 2**:\n\n```\nfind /var/log -mtime +30\n```"), ("prose", "Run it on the jump host.")]),
        ("Run this:\n```a &lt; b\nc```\nthen wait", [("code", "**Person 2**: Run this:\n\n```\na < b\nc\n```"), ("prose", "then wait")]),
        ("```one``` and ```two```", [("code", "**Person 2**:\n\n```\none\n```"), ("prose", "and"), ("code", "```\ntwo\n```")]),
        ("`ls -l` lists them", [("prose", "**Person 2**: `ls -l` lists them")]),
        ("``` `x` has ~~~ in it```", [("code", "**Person 2**:\n\n```\n `x` has ~~~ in it\n```")]),
        ("• one\n• two", [("list", "**Person 2**:\n\n- one\n- two")]),
        ("1. one\n2. two", [("list", "**Person 2**:\n\n1. one\n2. two")]),
        ("&gt; said before", [("prose", "**Person 2**:\n\n> said before")]),
        ("```never closed\nand on", [("prose", "**Person 2**: \\```never closed\nand on")]),
        ("# not a heading\ntext\n---\nmore\n===\n[a]: b", [("prose", "**Person 2**: \\# not a heading\ntext\n\\---\nmore\n\\===\n\\[a]: b")]),
        ("Put {{first_name}}, {% if x %}, {: .lead}, \\&lt;word&gt; &lt;%= x %&gt; &amp;nbsp; `&amp;nbsp;`", [("prose", "**Person 2**: Put {{first_name}}, {% if x %}, {: .lead}, \\\\&lt;word> &lt;%= x %> &amp;nbsp; `&nbsp;`")]),
    ],
)  # fmt: skip
async def test_an_answer_is_code_a_list_or_words_and_what_follows_is_no_part_of_it(
    tmp_path: Path, text: str, blocks: list[tuple[str, str]]
) -> None:
    page = await answered(tmp_path, text=text)

    assert section(page, "Accepted answer") == blocks
    assert section(page, "Other replies") == [("prose", "**Person 1**: Thanks, it works.")]


def rich(*elements: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "rich_text", "elements": list(elements)}]


def part(kind: str, *leaves: dict[str, Any] | str, **more: Any) -> dict[str, Any]:
    texts = [{"type": "text", "text": leaf} if isinstance(leaf, str) else leaf for leaf in leaves]
    return {"type": f"rich_text_{kind}", "elements": texts, **more}


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ({"blocks": rich(part("section", "Use region ", {"type": "text", "text": "eu-west", "style": {"bold": True}}, "."))}, " Use region **eu-west**."),
        ({"blocks": rich(part("preformatted", "find /var <x>"), part("section", "On the jump host."))}, "\n\n```\nfind /var <x>\n```\n\n\nOn the jump host."),
        ({"blocks": rich(part("section", "Do:"), part("list", part("section", "one"), part("section", "two"), style="ordered"),
                         part("list", part("section", "deeper"), style="bullet", indent=1), part("section", "Done."))},
         " Do:\n\n1. one\n2. two\n    - deeper\n\nDone."),
        ({"blocks": rich(part("quote", "As said.\nTwice."))}, "\n\n> As said.\n> Twice."),
        ({"blocks": rich(part("section", {"type": "user", "user_id": "U1"}, " or ", {"type": "link", "url": "https://x.example/a", "text": "the desk"}))}, " Person 1 or [the desk](https://x.example/a)"),
        ({"blocks": [{"type": "header", "text": {"type": "plain_text", "text": "Reset"}}, {"type": "section", "text": {"type": "mrkdwn", "text": "Hold *FEED*"}, "fields": [{"type": "mrkdwn", "text": "for 5 s"}]},
                     {"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Press me"}}]}]},
         " Reset\n\nHold **FEED**\nfor 5 s"),
        ({"blocks": [{"type": "table", "rows": [[{"type": "raw_text", "text": "Plan"}, {"type": "raw_text", "text": "Price"}], [{"type": "raw_text", "text": "a|b"}, {**part("x", part("section", "5")), "type": "rich_text"}]]}]},
         "\n\n| Plan | Price |\n| --- | --- |\n| a\\|b | 5 |"),
        ({"text": "New answer", "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "New answer: hold *FEED*."}}]}, " New answer: hold **FEED**."),
        ({"text": "Hold *FEED*.", "blocks": rich(part("section", "Hold FEED."))}, " Hold **FEED**."),
        ({"attachments": [{"is_share": True, "text": "Guests use `Havik`.", "author_id": "U3", "author_name": "May", "fallback": "x"}]}, " Guests use `Havik`."),
        ({"text": "See:", "attachments": [{"is_msg_unfurl": True, "from_url": "https://acme.slack.com/archives/C1/p1", "text": "```ls```"}]}, " See:\n\n```\nls\n```"),
        ({"attachments": [{"is_share": True, "text": "", "message_blocks": [{"message": {"blocks": rich(part("section", "From blocks."))}}]}]}, " From blocks."),
        ({"attachments": [{"pretext": "Build", "title": "Failed", "title_link": "https://ci.example/1", "text": "at step 2", "fields": [{"title": "Owner", "value": "Ops"}]}]},
         " Build\n\n[Failed](https://ci.example/1)\n\nat step 2\n\n- Owner: Ops"),
        ({"attachments": [{"fallback": "Only this"}]}, " Only this"),
        ({"text": "<https://x.example/a>", "attachments": [{"from_url": "https://x.example/a", "title": "A page", "text": "Its first words"}]}, " https://x.example/a"),
        ({"subtype": "file_share", "text": "like so", "files": [{"mode": "snippet", "filetype": "shell", "preview": "mount //nas\n# root", "title": "mount.sh"}]}, " like so\n\n**mount.sh**:\n\n```\nmount //nas\n# root\n```"),
        ({"files": [{"mode": "snippet", "preview": "ls", "title": ""}]}, "\n\n```\nls\n```"),
        ({"files": [{"mode": "quip", "filetype": "quip", "title": "How to mount", "preview": "<h1>Mount</h1><p>Hold FEED &amp; wait</p>"}]}, " **How to mount**:\n\nMount  Hold FEED &amp; wait".replace("&amp;", "&")),
        ({"files": [{"filetype": "email", "mode": "email", "title": "Re: VPN", "plain_text": "Use eu-west."}]}, " **Re: VPN**:\n\nUse eu-west."),
        ({"text": "see", "files": [{"filetype": "png", "title": "IMG_1.png", "alt_txt": "The plug is on the left"}]}, " see\n\nThe plug is on the left"),
        ({"files": [{"filetype": "m4a", "title": "audio.m4a", "transcription": {"status": "complete", "preview": {"content": "Hold the button."}}}]}, " **audio.m4a**:\n\n```\nHold the button.\n```"),
    ],
)  # fmt: skip
async def test_an_answer_is_found_wherever_slack_keeps_it(
    tmp_path: Path, answer: dict[str, Any], shown: str
) -> None:
    page = await answered(tmp_path, **answer)

    assert f"## Accepted answer\n\n**Person 2**:{shown}\n\n## Other replies" in page.content.decode()
    assert page.notes == ()


@pytest.mark.parametrize(
    ("file", "note"),
    [
        ({"filetype": "quip", "mode": "quip", "title": "Printers"}, "the export holds no text of its file 'Printers'"),
        ({"filetype": "pdf", "mode": "hosted", "title": "Printers"}, "the export holds no text of its file 'Printers'"),
        ({"mode": "snippet", "title": "Printers", "preview": "a", "preview_is_truncated": True}, "the export holds only the beginning of its file 'Printers'"),
    ],
)  # fmt: skip
async def test_a_file_whose_text_is_not_in_the_export_is_named_and_reported(
    tmp_path: Path, file: dict[str, Any], note: str
) -> None:
    page = await answered(tmp_path, files=[file])

    assert "Printers" in page.content.decode()
    assert page.notes == (note,)


async def test_a_deleted_file_is_not_named(tmp_path: Path) -> None:
    page = await answered(tmp_path, text="see", files=[{"mode": "tombstone", "title": "Printers"}])
    assert ("Printers" in page.content.decode(), page.notes) == (False, ())


async def test_pseudonyms_hold_in_blocks_files_and_forwarded_messages(tmp_path: Path) -> None:
    page = await answered(
        tmp_path,
        blocks=rich(part("section", "Ask Bob Stone or ", {"type": "user", "user_id": "U3"})),
        attachments=[{"is_share": True, "author_name": "Ann de Vries", "author_id": "U1", "text": "says Ann de Vries"}],
        files=[{"mode": "snippet", "title": "Bob Stone.txt", "preview": "owner: bob.stone@acme.example"}],
    )  # fmt: skip
    text = page.content.decode()

    assert not any(name in text for name in ("Bob", "Ann", "May", "bob"))
    assert "says Person 1" in text


async def test_a_broken_day_is_an_error_of_the_source_and_not_a_shorter_listing(tmp_path: Path) -> None:
    path = export(tmp_path, DAYS, as_zip=False)
    (path / "help-it" / "2023-11-16.json").write_text('[{"type": "mess')
    with pytest.raises(SourceUnavailableError, match=r"2023-11-16\.json in the export is no JSON"):
        await listed(a_source(path))


async def test_names_that_lead_out_of_the_export_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "2023-11-14.json").write_text(json.dumps([QUESTION, ANSWER]))
    path = export(tmp_path, {}, as_zip=False)
    (path / "channels.json").write_text(
        json.dumps([{"id": "C7", "name": "../outside"}, {"id": "C8", "name": "link"}])
    )
    (path / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(SourceUnavailableError, match="leads out of the export"):
        await listed(a_source(path))
    (path / "link").unlink()
    assert await listed(a_source(path)) == {}


async def test_a_day_that_unpacks_to_a_bomb_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ingest.sources.slack import archive

    monkeypatch.setattr(archive, "_MAX_FILE", 10_000)
    path = export(tmp_path, {"help-it/2023-11-14": [said("1.1", "U1", "x" * 100_000)]})
    with pytest.raises(SourceUnavailableError, match="larger than"):
        await listed(a_source(path))


@pytest.mark.parametrize(
    ("mrkdwn", "markdown"),
    [
        ("*bold* _it_ ~gone~ `a *b*`", "**bold** _it_ ~~gone~~ `a *b*`"),
        ("2*3*4 and snake_case", "2*3*4 and snake_case"),
        ("```x = <http://a.b|a.b>\n```", "\n```\nx = http://a.b\n```\n"),
        ("<#C1|general> <!here> <!subteam^S1|@team> <!date^1^x|today>", "#general @here @team today"),
        ("a &lt;b&gt; &amp; c < d", "a &lt;b> & c < d"),
        ("• one\n• two", "- one\n- two"),
    ],
)
def test_mrkdwn_becomes_markdown(mrkdwn: str, markdown: str) -> None:
    assert to_markdown(mrkdwn, lambda user: f"@{user}") == markdown


def test_the_words_of_other_converters_cases_survive() -> None:
    cases = shared("data/slack/mrkdwn_peer_cases.jsonl")
    lost = []
    for line in cases.read_text().splitlines():
        case = json.loads(line)
        seen = re.sub(r"<[#!][^|>]*\|([^>]*)>", r" \1 ", case["mrkdwn"])  # an id with a label shows the label
        missing = _words(seen) - _words(to_markdown(case["mrkdwn"], lambda user: user))
        if missing:
            lost.append((case["test"], case["mrkdwn"], missing))

    assert len(lost) == 0, lost[:5]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", html.unescape(html.unescape(text))))
