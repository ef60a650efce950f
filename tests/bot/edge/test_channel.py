"""What a channel has set, at work: from which sources it is answered, and in which language."""

from __future__ import annotations

from bot.channel_settings import ChannelSettings
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
