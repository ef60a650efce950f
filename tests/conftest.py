"""What tests of many rooms need: a real Valkey that they share, empty for each that asks for it, and real handbooks.

Folders of tests are made in memory where there is room: an index, a Valkey and SQLite wait for
the disk at every write, and what is tested here survives the end of a process, not of a machine.
"""

from __future__ import annotations

import gc
import os
import shutil
import ssl
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import certifi
import pytest
from redis.asyncio import Redis

from kb.store.valkey import connect_redis
from tests.fakes.redis_server import RedisServer, a_server
from tests.fakes.shared import shared

IN_MEMORY = Path("/dev/shm")
ROOM = 3 << 30
"""Bytes. A whole run has been seen to keep 1 GB."""

if IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free >= ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))

# What is imported and collected stays to the end: the collector does not look through it (`pytest_collection_finish`).
gc.disable()

PUBLIC_AUTHORITIES = {
    certifi.where(),
    ssl.get_default_verify_paths().openssl_cafile,
    os.environ.get("SSL_CERT_FILE", ""),
}
_load = ssl.SSLContext.load_verify_locations


def _load_private(self: ssl.SSLContext, cafile: Any = None, capath: Any = None, cadata: Any = None) -> None:
    if cafile not in PUBLIC_AUTHORITIES:
        _load(self, cafile, capath, cadata)


# No test meets a server of the public, and every HTTP client would read 140 certificates of authorities (30 ms).
ssl.SSLContext.load_verify_locations = _load_private
ssl.SSLContext.load_default_certs = lambda self, purpose=None: None

# Every `footnote` that a test starts would compile 600 modules anew, which takes longer than what it is asked.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Valkey. Tests of what must hold on Redis as well put both in its place."""
    with a_server("valkey", tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture
async def redis(redis_server: RedisServer) -> AsyncIterator[Redis]:
    async with connect_redis(redis_server.socket) as client:
        await client.flushall()
        yield client


@pytest.fixture
def redis_url(redis_server: RedisServer, redis: Redis) -> str:
    """For programs in processes of their own."""
    return f"unix://{redis_server.socket}"


@pytest.fixture(scope="session")
def handbooks() -> Path:
    """The real handbooks that are not part of the project."""
    return shared("data/kb")


@pytest.fixture
def namespace() -> str:
    return f"test-{uuid.uuid4().hex[:8]}"


ONE_WORKER = (
    "tests/journeys/",
    "tests/deploy/test_traces.py",
    "tests/deploy/test_monitoring.py",
    "tests/golden/test_conversations.py",
    "tests/golden/test_decline.py",
    *(f"tests/kb/test_{name}.py" for name in ("embed", "inference", "rerank", "torch")),
)
"""Files that share a bot, torch or an index, by the beginnings of their paths: those take longer to start, to import and to
make than most of their tests.
"""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Workers are given whole files, or all files of one folder that share what is dear."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return next((kind.rpartition("/")[0] for kind in ONE_WORKER if file.startswith(kind)), file)

    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Twice as many as there are processors: a worker alone waits half of its time, for sockets and processes."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Several workers begin with the files that take longest, so that none of them ends alone."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        slow = {item.path for item in items if item.get_closest_marker("slow")}
        items.sort(key=lambda item: (not item.nodeid.startswith(ONE_WORKER), item.path not in slow))
