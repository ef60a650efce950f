"""Large generations whose quantizing process is killed, or whose bot is, or that are written to meanwhile."""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import psutil
import pytest

from kb.index.embedded import quantizing
from kb.index.embedded.index import EdgeIndex
from kb.index.port import IndexCounts
from tests.fakes.folders import copy_folder
from tests.fakes.large_indexes import (
    LARGE,
    MANIFEST,
    PAGES,
    assert_exact,
    ends,
    found,
    generations,
    held,
    is_quantized,
    live,
    page,
    put,
    rebuilt,
)

pytestmark = pytest.mark.usefixtures("large")


async def test_a_killed_quantizer_leaves_the_rebuild_to_go_live_as_it_was(
    index: EdgeIndex, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rebuild = await index.begin_rebuild(MANIFEST)
    await put(rebuild, PAGES)
    async with held(rebuild.swap()) as (task, child):
        child.kill()
        await task
    folder = tmp_path / "index"
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == [
        "index.not_quantized"
    ]
    assert not is_quantized(folder)
    assert generations(folder) == [live(folder).name]
    await assert_exact(index, range(PAGES))
    await index.settle()  # which does not try it again
    assert not is_quantized(folder)
    await rebuilt(index)  # and this does
    assert is_quantized(folder)


async def test_a_bot_killed_meanwhile_has_its_old_generation(index: EdgeIndex, tmp_path: Path) -> None:
    await rebuilt(index, LARGE)
    rebuild = await index.begin_rebuild(MANIFEST)
    await put(rebuild, PAGES)
    async with held(rebuild.swap()):
        copy_folder(tmp_path / "index", tmp_path / "killed")
    folder = tmp_path / "killed"
    assert [name for name in generations(folder) if name.startswith("making")]
    after = EdgeIndex(folder, manifest=MANIFEST)
    assert await after.counts() == IndexCounts(pages=LARGE, chunks=LARGE)
    await assert_exact(after, range(LARGE))
    before = live(folder).name
    await rebuilt(after)
    assert is_quantized(folder)
    assert generations(folder) == sorted([before, live(folder).name])
    await after.close()


@pytest.mark.series
async def test_a_real_bot_killed_meanwhile_may_leave_its_child_to_end_in_vain(tmp_path: Path) -> None:
    bot = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _BOT, str(tmp_path / "index"), stdout=PIPE
    )
    assert bot.stdout is not None
    child = psutil.Process(int(await bot.stdout.readline()))
    bot.send_signal(signal.SIGKILL)
    await bot.wait()
    index = EdgeIndex(tmp_path / "index", manifest=MANIFEST)
    assert await index.counts() == IndexCounts(pages=1, chunks=1)
    await rebuilt(index)
    assert is_quantized(tmp_path / "index")
    child.resume()
    assert await asyncio.to_thread(ends, child)
    await assert_exact(index, range(PAGES))
    await rebuilt(index)
    assert not [name for name in generations(tmp_path / "index") if name.startswith("making")]
    await index.close()


_BOT = """
import asyncio, sys
from pathlib import Path
from kb.index.embedded.index import EdgeIndex
from tests.fakes.large_indexes import MANIFEST, PAGES, count_as_large, page, put, start_stopped

async def start(*command, **how):
    process = await start_stopped(*command, **how)
    print(process.pid, flush=True)
    return process

async def main():
    count_as_large()
    asyncio.create_subprocess_exec = start
    index = EdgeIndex(Path(sys.argv[1]), manifest=MANIFEST)
    await index.replace_pages(page(0))
    await index.settle()
    rebuild = await index.begin_rebuild(MANIFEST)
    await put(rebuild, PAGES)
    await rebuild.swap()

asyncio.run(main())
"""


async def test_a_cancelled_rebuild_takes_its_quantizer_with_it(index: EdgeIndex, tmp_path: Path) -> None:
    await rebuilt(index, LARGE)
    rebuild = await index.begin_rebuild(MANIFEST)
    await put(rebuild, PAGES)
    async with held(rebuild.swap()) as (task, child):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not child.is_running()
    await rebuild.discard()
    assert generations(tmp_path / "index") == [live(tmp_path / "index").name]
    assert await index.counts() == IndexCounts(pages=LARGE, chunks=LARGE)


async def test_what_is_written_while_the_live_one_is_quantized_is_not_lost(
    index: EdgeIndex, tmp_path: Path
) -> None:
    await put(index, PAGES)
    async with held(index.settle()):
        await index.delete_pages([*page(0)])
        assert len(await found(index, 1)) == 10
    assert not is_quantized(tmp_path / "index")
    assert await index.counts() == IndexCounts(pages=PAGES - 1, chunks=PAGES - 1)
    await index.settle()
    assert is_quantized(tmp_path / "index")
    assert await index.counts() == IndexCounts(pages=PAGES - 1, chunks=PAGES - 1)


async def test_a_disk_without_room_for_a_copy(
    index: EdgeIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rebuild = await index.begin_rebuild(MANIFEST)
    await put(rebuild, PAGES)
    monkeypatch.setattr(quantizing, "ROOM_TO_WRITE", 1 << 60)
    await rebuild.swap()
    assert not is_quantized(tmp_path / "index")
    await assert_exact(index, range(PAGES))
