"""Work that goes on after the acknowledgement."""

import asyncio
import logging

import pytest

from bot.slack.background import Background


async def test_stopping_waits_for_work_that_ends_in_time_and_cuts_off_the_rest(
    caplog: pytest.LogCaptureFixture,
) -> None:
    background, done, release = Background(), [], asyncio.Event()

    async def quick() -> None:
        await release.wait()
        done.append("quick")

    async def endless() -> None:
        await asyncio.Event().wait()

    background.start(quick(), name="quick")
    background.start(endless(), name="endless")
    release.set()
    await background.drain(grace_s=0.05)
    assert done == ["quick"]
    (record,) = [record for record in caplog.records if record.message == "background.cut_off"]
    assert record.works == ["endless"]  # type: ignore[attr-defined]
    await background.drain(grace_s=0.05)


async def test_work_that_breaks_is_logged_with_its_trace(caplog: pytest.LogCaptureFixture) -> None:
    async def broken() -> None:
        raise ValueError("broken")

    background = Background()
    with caplog.at_level(logging.ERROR):
        background.start(broken(), name="feedback")
        await background.drain(grace_s=1)
    (record,) = caplog.records
    assert (record.message, record.work) == ("background.broke", "feedback")  # type: ignore[attr-defined]
    assert record.exc_info is not None
