"""What a channel has set: kept, believed for a while, and never a reason not to answer."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.listening.channel_settings import CACHED_S, ChannelSettings, ChannelSettingsStore, chosen
from kb.config.slack_settings import SlackSettings
from kb.errors import StoreUnavailableError
from kb.store.valkey import connect_redis

SET = ChannelSettings(
    follow_ups="mention", unasked=True, sources=("handbook",), language="nl", corrections="off"
)


class Seconds:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store(redis: Redis, namespace: str) -> ChannelSettingsStore:
    return ChannelSettingsStore(redis, namespace=namespace)


async def test_a_channel_that_set_nothing_has_what_the_bot_has(redis: Redis, namespace: str) -> None:
    bot = SlackSettings(follow_ups="mention", corrections="off")
    store = ChannelSettingsStore(redis, namespace=namespace, defaults=ChannelSettings.of_bot(bot))
    assert await store.of("C1") == ChannelSettings(follow_ups="mention", corrections="off")
    assert await store.all() == {}


async def test_every_field_comes_back_for_that_channel_alone(store: ChannelSettingsStore) -> None:
    await store.save("C1", SET, by="U1")
    assert await store.of("C1") == SET
    assert await store.of("C2") == ChannelSettings()
    assert await store.all() == {"C1": SET}


async def test_another_bot_goes_by_it_after_half_a_minute(redis: Redis, namespace: str) -> None:
    seconds = Seconds()
    other = ChannelSettingsStore(redis, namespace=namespace, monotonic=seconds)
    assert await other.of("C1") == ChannelSettings()
    await ChannelSettingsStore(redis, namespace=namespace).save("C1", SET, by="U1")
    seconds.now = CACHED_S - 1
    assert await other.of("C1") == ChannelSettings()
    seconds.now = CACHED_S + 1
    assert await other.of("C1") == SET


async def test_bots_of_another_namespace_see_nothing_of_it(redis: Redis, store: ChannelSettingsStore) -> None:
    await store.save("C1", SET, by="U1")
    assert await ChannelSettingsStore(redis, namespace="another").of("C1") == ChannelSettings()


@pytest.mark.parametrize("stored", ["", "null", "{", '{"follow_ups": "sometimes"}', '{"sources": 3}'])
async def test_what_cannot_be_read_counts_as_nothing_set(redis: Redis, namespace: str, stored: str) -> None:
    await redis.hset(f"{{{namespace}}}:channels", "C1", stored)
    assert await ChannelSettingsStore(redis, namespace=namespace).of("C1") == ChannelSettings()


async def test_a_field_of_a_later_version_is_left_alone(redis: Redis, namespace: str) -> None:
    await redis.hset(f"{{{namespace}}}:channels", "C1", '{"follow_ups": "mention", "colour": "red"}')
    settings = await ChannelSettingsStore(redis, namespace=namespace).of("C1")
    assert settings == ChannelSettings(follow_ups="mention")


async def test_in_an_outage_the_last_known_holds_else_the_defaults(
    redis: Redis, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = Seconds()
    store = ChannelSettingsStore(redis, namespace=namespace, monotonic=seconds)
    await store.save("C1", SET, by="U1")
    seconds.now = CACHED_S + 1

    async def away(*_: object) -> None:
        raise ConnectionError("away")

    monkeypatch.setattr(redis, "hget", away)
    assert await store.of("C1") == SET
    assert await store.of("C2") == ChannelSettings()


async def test_whoever_saves_is_told_of_an_outage(tmp_path: Path) -> None:
    async with connect_redis(str(tmp_path / "nobody.sock")) as nobody:
        store = ChannelSettingsStore(nobody, namespace="x")
        with pytest.raises(StoreUnavailableError):
            await store.save("C1", SET, by="U1")
        with pytest.raises(StoreUnavailableError):
            await store.all()
        assert await store.of("C1") == ChannelSettings()


def test_sources_that_are_gone_are_no_choice() -> None:
    settings = ChannelSettings(sources=("handbook", "wiki"))
    assert chosen(settings, ["shop", "wiki"]) == ("wiki",)
    assert chosen(settings, ["shop"]) == ()
