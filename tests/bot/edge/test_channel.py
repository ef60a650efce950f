"""What a channel has set: how it is set, and that it is answered from those sources and in that language."""

from __future__ import annotations

from typing import Any

import pytest

from bot.listening.channel_settings import ChannelSettings
from bot.messages.catalog import LANGUAGES, Messages
from bot.playground.block_kit import check_view
from bot.views.channel_dialog import ChannelDialogMetadata, channel_view
from kb.errors import StoreUnavailableError
from tests.fakes.office import Office


async def set_in(office: Office, channel: str, **settings: object) -> None:
    await office.channel_settings.save(
        office.slack._room(channel).id, ChannelSettings.model_validate(settings), by="U0CHIDI"
    )


async def test_a_channel_is_answered_from_the_sources_that_it_chose_and_others_from_all(
    office: Office,
) -> None:
    await set_in(office, "#general", sources=["shop", "gone"])
    for channel in ("#general", "#garden-shop"):
        ts = await office.ask("alice", channel, "@footnote How many days of holiday do I get?")
        await office.answers(channel, ts)
    assert [set(question.audience.sources) for question, _ in office.knowledge.asked] == [{"shop"}, set()]


async def test_a_channel_whose_sources_are_all_gone_is_answered_from_all(office: Office) -> None:
    await set_in(office, "#general", sources=["gone"])
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", ts)
    ((question, _),) = office.knowledge.asked
    assert question.audience.sources == frozenset()


async def test_a_channel_is_answered_in_the_language_that_it_chose(office: Office) -> None:
    await set_in(office, "#general", language="nl")
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", ts)
    ((question, _),) = office.knowledge.asked
    assert question.reply_in == "nl"


async def test_an_apology_too_is_in_the_channels_language(office: Office) -> None:
    await set_in(office, "#general", language="nl")
    office.knowledge.error = ValueError("broken")
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    (apology,) = await office.answers("#general", ts)
    assert "er ging iets mis" in apology["text"]


async def opened(office: Office, user: str, channel: str) -> dict[str, Any]:
    await office.slack.command(user, channel, "/kb", "channel")
    view = await office.slack.wait_for(lambda: office.slack.modal(user))
    assert view is not None
    return view


async def whispered(office: Office, user: str) -> str:
    await office.slack.wait_for(lambda: office.slack.ephemerals(user))
    return str(office.slack.ephemerals(user)[-1]["text"])


CHOICES: dict[str, dict[str, Any]] = {
    "follow_ups": {"follow_ups": "mention"},
    "unasked": {"unasked": "yes"},
    "sources": {"sources": ["shop"]},
    "language": {"language": "de"},
    "corrections": {"corrections": "off"},
}
CHOSEN = ChannelSettings(
    follow_ups="mention", unasked=True, sources=("shop",), language="de", corrections="off"
)


async def test_an_admin_sets_a_channel_and_status_shows_it_there(either_office: Office) -> None:
    office = either_office
    view = await opened(office, "dana", "#general")
    assert await office.slack.submit_view("dana", view["id"], CHOICES) == {}
    told = await whispered(office, "dana")
    assert told.splitlines() == [
        "Saved for <#C0GENERAL>:",
        "• Messages in a thread that don't mention me: I answer only when I'm mentioned",
        "• Questions in the channel that don't mention me: I answer where I'm very sure",
        "• Sources that I answer from: shop",
        "• Language that I speak: Deutsch",
        "• When a page that I quoted changes, expires or is replaced: I say nothing",
    ]
    assert await office.channel_settings.all() == {"C0GENERAL": CHOSEN}
    await office.slack.command("dana", "#general", "/kb", "status")
    await office.slack.wait_for(lambda: len(office.slack.ephemerals("dana")) >= 2)
    status = office.slack.ephemerals("dana")[-1]["text"]
    assert status.endswith("\n".join(["Set for <#C0GENERAL>:", *told.splitlines()[1:]]))


async def test_the_dialog_shows_what_is_set_and_sent_unchanged_changes_nothing(office: Office) -> None:
    await office.channel_settings.save("C0GENERAL", CHOSEN, by="U0DANA")
    view = await opened(office, "dana", "#general")
    await office.slack.submit_view("dana", view["id"], {})
    assert (await whispered(office, "dana")).startswith("Saved for <#C0GENERAL>")
    assert await office.channel_settings.of("C0GENERAL") == CHOSEN


async def test_sources_that_are_gone_for_now_stay_chosen(office: Office) -> None:
    await set_in(office, "#general", sources=["gone", "shop"])
    view = await opened(office, "dana", "#general")
    await office.slack.submit_view("dana", view["id"], {"sources": {"sources": ["handbook"]}})
    await whispered(office, "dana")
    assert (await office.channel_settings.of("C0GENERAL")).sources == ("handbook", "gone")


@pytest.mark.parametrize(
    ("user", "channel"), [("bram", "#garden-shop"), ("emma", "#people-leads"), ("chidi", "#general")]
)
async def test_who_made_the_channel_may_and_who_the_settings_name_may_too(
    office: Office, user: str, channel: str
) -> None:
    view = await opened(office, user, channel)
    assert len(view["title"]["text"]) <= 24
    assert [block["block_id"] for block in view["blocks"][1:]] == list(CHOICES)


@pytest.mark.parametrize(
    ("user", "channel", "told"),
    [
        (
            "alice",
            "#garden-shop",
            "Sorry, only admins and whoever made this channel can change how I behave in it.",
        ),
        (
            "dana",
            "#random",
            "I'm not in this channel. Invite me, then use `/kb channel` again.",
        ),
        (
            "dana",
            "#board",
            "I'm not in this channel. Invite me, then use `/kb channel` again.",
        ),
    ],
)
async def test_where_it_cannot_be_set_a_sentence_says_why(
    office: Office, user: str, channel: str, told: str
) -> None:
    await office.slack.command(user, channel, "/kb", "channel")
    assert await whispered(office, user) == told
    assert office.slack.modal(user) is None


async def test_in_a_direct_message_it_says_where_to_use_it(office: Office) -> None:
    dm = office.slack.dm("dana")
    await office.slack.command("dana", dm, "/kb", "channel")
    assert (await whispered(office, "dana")).startswith(
        "These are the settings of a channel. Use `/kb channel`"
    )
    await office.slack.command("dana", dm, "/kb", "status")
    await office.slack.wait_for(lambda: len(office.slack.ephemerals("dana")) >= 2)
    assert "Set for" not in office.slack.ephemerals("dana")[-1]["text"]


async def test_who_may_no_longer_when_it_is_sent_changes_nothing(office: Office) -> None:
    view = await opened(office, "bram", "#garden-shop")
    office.slack._state.rooms["C0GARDEN"].creator = "U0ALICE"
    await office.slack.submit_view("bram", view["id"], CHOICES)
    assert (await whispered(office, "bram")).startswith("Sorry, alleen beheerders en wie dit kanaal")
    assert await office.channel_settings.all() == {}


async def test_settings_that_cannot_be_saved_are_said_to_be_as_before(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = await opened(office, "dana", "#general")

    async def away(*_: object, **__: object) -> None:
        raise StoreUnavailableError("away")

    monkeypatch.setattr(office.channel_settings, "save", away)
    await office.slack.submit_view("dana", view["id"], CHOICES)
    assert (await whispered(office, "dana")) == (
        "Sorry, the settings could not be saved just now; nothing has changed."
    )


@pytest.mark.parametrize("words", LANGUAGES.values())
@pytest.mark.parametrize("settings", [ChannelSettings(), CHOSEN])
def test_the_dialog_fits_slacks_limits_in_every_language(words: Messages, settings: ChannelSettings) -> None:
    names = [f"{'a very long name of a source ' * 4}{at}" for at in range(120)]
    view = channel_view(ChannelDialogMetadata(channel="C1"), settings, names, words)
    check_view(view, kinds=("modal",))
    texts = [option["text"]["text"] for block in view["blocks"][1:] for option in block["element"]["options"]]
    assert max(map(len, texts)) <= 75
    assert all("…" not in text for text in texts if "source" not in text)
