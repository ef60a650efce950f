"""Slack exports: which threads become pages, for whom, and with whose names."""

from __future__ import annotations

import html
import json
import re
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import PageError, SourceUnavailableError
from ingest.sources.slack.mrkdwn import to_markdown
from ingest.sources.slack.source import SlackExportSource
from kb.source_settings import SlackExportSettings
from tests.fakes.listing import listed
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
