"""`footnote backup` and `restore`: what comes back is what was there, or nothing has changed."""

from __future__ import annotations

import asyncio
import io
import json
import os
import stat
import tarfile
import tomllib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr
from redis.asyncio import Redis

from bot.cli.backups.archive import BackupError, BackupReader, BackupWriter
from bot.cli.backups.requests import BackupProgress, BackupRequest
from bot.cli.backups.settings import secret_names, without_secrets
from bot.cli.backups.store import drop_staged, holds_keys, keys_of, put_to_use, stage
from bot.cli.copying.backup import backup
from bot.cli.copying.restore import restore
from bot.cli.session.control import control_socket
from bot.cli.session.remote import OwnerError, RemoteSession
from bot.cli.session.session import open_session
from kb.calibration import Calibration
from kb.config.index_settings import IndexSettings
from kb.config.settings import Settings
from kb.config.storage_settings import StoreSettings
from kb.errors import DataFolderInUseError, FootnoteError, IndexUnavailableError, SettingsError
from kb.index.copies import differences
from kb.index.embedded.index import EdgeIndex
from kb.index.port import VectorIndex
from kb.index.server.client import server_index
from kb.store.data_folder import DataFolder
from kb.store.forgotten import RedisForgotten
from kb.store.restored import STAGING, begin, decide
from kb.store.valkey import EmbeddedValkey, connect_redis
from tests.contract.indexes import MANIFEST, STRICT, a_page, put
from tests.fakes.qdrant_server import QdrantServer
from tests.fakes.serving import START_S, environment
from tests.fakes.warm_command import launch

PRIVATE = ("C01",)
FILES = {"sources.json": "[]", "playground-history.json": "{}", "uploads/leave.md": "# Leave"}


@asynccontextmanager
async def store_in(data: Path) -> AsyncIterator[Redis]:
    valkey = EmbeddedValkey(data / "valkey")
    await valkey.start()
    async with connect_redis(valkey.url) as redis:
        yield redis
    await valkey.stop()


async def filled(data: Path, *pages: str, text: str = "price") -> None:
    """An index with a generation before the live one, a store that has forgotten a page, and files."""
    index = EdgeIndex(data / "index")
    first = await index.begin_rebuild(MANIFEST)
    await put(first, a_page("old"), "leave")
    await put(first, a_page("gone"), "salary")
    await first.swap()
    second = await index.begin_rebuild(MANIFEST)
    for page in pages:
        await put(second, a_page(page, audience=PRIVATE), *[f"{text} {one}" for one in range(70)])
    await second.calibrate(Calibration(passages=7))
    await second.swap()
    await index.close()
    async with store_in(data) as redis:
        await redis.set("footnote:turns:t1", f"turns of {text}")
        await RedisForgotten(redis, namespace="footnote").add(["gone"])
    (data / "uploads").mkdir()
    for name, content in FILES.items():
        (data / name).write_text(content, encoding="utf-8")
    book = [{"name": "uploads", "path": str(data / "uploads")}, {"name": "wiki", "path": "/srv/wiki"}]
    (data / "sources.json").write_text(json.dumps(book), encoding="utf-8")
    (data / "sources").mkdir()
    (data / "sources" / "visited").write_text("everything", encoding="utf-8")


async def held(index: VectorIndex) -> dict[str, str]:
    found = dict(await index.revisions())
    previous = await index.open_previous()
    if previous is not None:
        found |= {f"before: {page}": revision for page, revision in (await previous.revisions()).items()}
        await previous.discard()
    return found


async def state_of(data: Path) -> dict[str, object]:
    index = EdgeIndex(data / "index")
    found: dict[str, object] = dict(await held(index))
    await index.close()
    async with store_in(data) as redis:
        found["turns"] = await redis.get("footnote:turns:t1")
        found["forgotten"] = await RedisForgotten(redis, namespace="footnote").ids()
    return found | {name: (data / name).exists() for name in (*FILES, "sources")}


async def backed_up(folder: Path) -> Path:
    """A backup of pages "a" and "b", which are in `folder / "data"`."""
    await filled(folder / "data", "a", "b")
    file = folder / "kb.footnote"
    assert await backup(Settings(data=folder / "data"), file, config=None, replace=False, as_json=True) == 0
    return file


@pytest.fixture
async def saved(tmp_path: Path) -> Path:
    return await backed_up(tmp_path)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests that only read it."""
    return asyncio.run(backed_up(tmp_path_factory.mktemp("backup")))


async def put_back(data: Path, file: Path, *, replace: bool = False, **fields: object) -> None:
    assert await restore(Settings(data=data, **fields), file, replace=replace, as_json=True) == 0


async def test_an_empty_machine_gets_back_what_there_was(saved: Path, tmp_path: Path) -> None:
    data = tmp_path / "new"
    await put_back(data, saved)
    old = await state_of(tmp_path / "data")
    del old["before: gone"]  # which is forgotten
    assert await state_of(data) == old | {"sources": False}  # so that the next sync lists everything
    assert old["turns"] == b"turns of price"
    before, after = EdgeIndex(tmp_path / "data" / "index"), EdgeIndex(data / "index")
    assert differences(await before.stored(["a", "b"]), await after.stored(["a", "b"])) == []
    assert await after.calibration() == Calibration(passages=7)
    await before.close()
    await after.close()
    assert not [path for path in data.iterdir() if path.name.startswith("restor")]
    assert (data / "uploads" / "leave.md").read_text(encoding="utf-8") == "# Leave"
    book = json.loads((data / "sources.json").read_text(encoding="utf-8"))
    assert [one["path"] for one in book] == [str(data / "uploads"), "/srv/wiki"]


async def test_a_page_that_is_forgotten_stays_out_of_both_generations(saved: Path, tmp_path: Path) -> None:
    """One when the backup was made (the generation before holds it still), one since."""
    data = tmp_path / "data"
    async with store_in(data) as redis:
        await RedisForgotten(redis, namespace="footnote").add(["b"])
    await put_back(data, saved, replace=True)
    state = await state_of(data)
    pages = {"a", "b", "before: old", "before: gone"}
    assert pages.intersection(state) == {"a", "before: old"}
    assert state["forgotten"] == {"gone", "b"}


async def test_the_file_is_its_owners_alone(file: Path) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.glob(".*")] == []


async def test_a_backup_that_fails_leaves_what_there_was(saved: Path, tmp_path: Path) -> None:
    before = saved.read_bytes()
    (tmp_path / "data" / "index" / "CURRENT").write_text("nonsense", encoding="utf-8")
    settings = Settings(data=tmp_path / "data")
    with pytest.raises(SettingsError, match="--replace"):
        await backup(settings, saved, config=None, replace=False, as_json=True)
    with pytest.raises(FootnoteError, match="damaged"):
        await backup(settings, saved, config=None, replace=True, as_json=True)
    assert saved.read_bytes() == before
    assert list(saved.parent.glob(".*")) == []


async def test_a_backup_tells_how_far_it_is(saved: Path, tmp_path: Path) -> None:
    request = BackupRequest(file=tmp_path / "other.footnote")
    async with open_session(Settings(data=tmp_path / "data"), "backup") as session:
        steps = [step async for step in session.backup(request)]
    assert [(step.generation, step.done, step.total) for step in steps[:-1]] == [
        ("previous", 2, 2),
        ("live", 140, 140),
    ]
    assert steps[-1].reply is not None
    assert steps[-1].reply.passages == 140


class Failing(RemoteSession):
    """A session whose backup fails after this many steps."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    async def backup(self, request: BackupRequest) -> AsyncGenerator[BackupProgress]:
        for done in range(self._steps):
            yield BackupProgress(generation="live", done=done, total=9)
        raise IndexUnavailableError("the index changed while it was read")


@pytest.mark.parametrize("steps", [0, 2])
async def test_a_bot_says_why_a_backup_failed_on_its_way(steps: int, tmp_path: Path) -> None:
    socket, seen = tmp_path / "socket", list[BackupProgress]()
    async with control_socket(Failing(steps), socket):
        with pytest.raises(OwnerError, match="changed while it was read"):
            await collect(RemoteSession(socket).backup(BackupRequest(file=tmp_path / "kb")), seen)
    assert [step.done for step in seen] == list(range(steps))


async def collect(steps: AsyncIterator[BackupProgress], seen: list[BackupProgress]) -> None:
    async for step in steps:
        seen.append(step)  # noqa: PERF401 - what was seen before it failed counts


async def test_what_is_there_is_not_overwritten_unasked(file: Path, tmp_path: Path) -> None:
    data = tmp_path / "other"
    await filled(data, "c", text="shipping")
    before = await state_of(data)
    with pytest.raises(SettingsError, match="--replace"):
        await put_back(data, file)
    assert await state_of(data) == before
    await put_back(data, file, replace=True)
    assert {"a", "b"} < (await state_of(data)).keys()
    assert "c" not in await state_of(data)


async def test_a_folder_in_use_is_left_alone(saved: Path, tmp_path: Path) -> None:
    with DataFolder(tmp_path / "data").own("serve"), pytest.raises(DataFolderInUseError, match="serve"):
        await put_back(tmp_path / "data", saved, replace=True)


@pytest.mark.series
async def test_a_restore_that_is_killed_has_changed_nothing(file: Path, tmp_path: Path) -> None:
    """While it fills the index on a server: index, store and files are the old ones; run again, it ends."""
    server = QdrantServer(strict=STRICT)
    await server.start()
    data = tmp_path / "other"
    await filled(data, "c", text="shipping")
    index = server_index(IndexSettings(qdrant_url=server.url))
    first = await index.begin_rebuild(MANIFEST)
    await put(first, a_page("served"), "shipping")
    await first.swap()
    before = await state_of(data)
    process = await asyncio.to_thread(
        launch,
        *("restore", file, "--replace", "--data", data),
        folder=tmp_path,
        variables=environment(QDRANT_URL=server.url),
        out=tmp_path / "log",
    )
    reached = asyncio.Event()

    async def block() -> None:
        reached.set()
        await asyncio.to_thread(process.wait)

    server.between = block
    async with asyncio.timeout(START_S):
        await reached.wait()
    assert (data / STAGING).exists()
    process.kill()
    await asyncio.to_thread(process.wait)
    assert await held(index) == {"served": "r1"}
    assert await state_of(data) == before

    await put_back(data, file, replace=True, index=IndexSettings(qdrant_url=server.url))
    assert await held(index) == {"a": "r1", "b": "r1", "before: old": "r1"}
    async with store_in(data) as redis:
        assert await redis.get("footnote:turns:t1") == b"turns of price"
    await index.close()
    await server.stop()


@pytest.mark.parametrize("cut_off_after", range(5))
def test_what_was_decided_is_carried_through_by_the_next_owner(
    tmp_path: Path, cut_off_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    for name in ("index", "sources"):
        (folder / name).mkdir(parents=True)
        (folder / name / "old").touch()
    made = begin(folder)
    for name in ("index", "valkey"):
        (made / name).mkdir()
        (made / name / "new").touch()
    calls = 0
    rename = Path.rename

    def dying(path: Path, target: Path) -> Path:
        nonlocal calls
        calls += 1
        if calls > cut_off_after:
            raise KeyboardInterrupt
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", dying)
        try:
            decide(folder, gone=["sources"])
        except KeyboardInterrupt:
            assert cut_off_after < 3
    with DataFolder(folder).own("status"):
        found = {f"{path.parent.name}/{path.name}" for path in folder.glob("*/*")}
    if cut_off_after == 0:
        assert found == {"index/old", "sources/old"}
    else:
        assert found == {"index/new", "valkey/new"}


async def test_a_redis_is_put_back_at_once_and_forgets_what_it_forgot(
    file: Path, tmp_path: Path, redis: Redis, redis_url: str
) -> None:
    await redis.mset({"footnote:turns:t2": "later", "other:turns:t1": "not ours"})
    await RedisForgotten(redis, namespace="footnote").add(["b"])
    await put_back(tmp_path / "new", file, replace=True, store=StoreSettings(redis_url=SecretStr(redis_url)))
    assert await redis.mget("footnote:turns:t1", "footnote:turns:t2", "other:turns:t1") == [
        b"turns of price",
        None,
        b"not ours",
    ]
    assert await RedisForgotten(redis, namespace="footnote").ids() == {"gone", "b"}
    assert not (tmp_path / "new" / "valkey").exists()
    assert [key async for key in redis.scan_iter(match="footnote-restoring*")] == []


async def test_every_kind_of_key_comes_back_with_its_end_and_the_moment_stays_out(
    redis: Redis, namespace: str
) -> None:
    braced = f"{{{namespace}}}"
    await redis.set(f"{namespace}:turns:a", b"\xff\x00words", px=60_000)
    await redis.hset(f"{braced}:api:keys", mapping={"intranet": "digest", "": "empty"})
    await redis.rpush(f"{braced}:gaps", "one", "two", "one")
    await redis.sadd(f"{namespace}:forgotten", "page/ä")
    await redis.zadd(f"{braced}:analytics:times", {"a": 1.5, "b": float("inf"), "c": 0.1})
    await redis.zadd(f"{braced}:queue:dead", {"D1": 1})
    for name in ("claim:C1", "question:D1"):
        await redis.set(f"{braced}:queue:{name}", "kept")
    for name in ("queue:question:Q1", "queue:ready", "queue:bell", "unread"):
        await redis.set(f"{braced}:{name}", "of the moment")
    await redis.set(f"{namespace}:reindex:turn", "mine")
    await redis.set(f"{namespace}x:turns", "another's")
    kept = {key: await redis.dump(key) for key in await redis.keys() if b"reindex" not in key}
    ends = await redis.pexpiretime(f"{namespace}:turns:a")

    parts = [part async for part in keys_of(redis, namespace)]
    parts = json.loads(json.dumps(parts))  # as they are in a file
    await redis.delete(*[key for key in await redis.keys() if f"{namespace}x".encode() not in key])
    await redis.set(f"{braced}:settings", "newer")
    for part in parts:
        await stage(redis, part)
    await put_to_use(redis, namespace, forgotten=[])
    moment = (b"Q1", b"ready", b"bell", b"unread")
    assert {key: await redis.dump(key) for key in await redis.keys()} == {
        key: value for key, value in kept.items() if not key.endswith(moment)
    }
    assert await redis.pexpiretime(f"{namespace}:turns:a") == ends
    assert await holds_keys(redis, namespace)
    assert not await holds_keys(redis, f"{namespace}*")


async def test_what_was_staged_by_a_run_that_died_is_dropped(redis: Redis, namespace: str) -> None:
    await redis.set(f"{namespace}:turns:a", "x")
    async for part in keys_of(redis, namespace):
        await stage(redis, part)
    await drop_staged(redis)
    assert await redis.keys() == [f"{namespace}:turns:a".encode()]


Change = Callable[[dict[str, bytes]], None]


def changed(file: Path, change: Change, *, kind: bytes = tarfile.REGTYPE) -> Path:
    with tarfile.open(file) as tar:
        parts = {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]
    change(parts)
    other = file.with_name("changed")
    with tarfile.open(other, "w") as tar:
        for name, content in parts.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            if name.endswith("link"):
                member.type, member.size, member.linkname = kind, 0, "/etc/passwd"
            tar.addfile(member, io.BytesIO(content))
    return other


def told(parts: dict[str, bytes], **fields: object) -> None:
    parts["manifest.json"] = json.dumps(json.loads(parts["manifest.json"]) | fields).encode()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda parts: parts.pop("manifest.json"), "its end is missing"),
        (lambda parts: parts.pop("store/00000.jsonl.gz"), "is missing or was added"),
        (lambda parts: parts.update({"files/more": b""}), "is missing or was added"),
        (lambda parts: parts.update({"store/00000.jsonl.gz": b"x"}), "checksum"),
        (lambda parts: told(parts, format=2), "update Footnote"),
        (lambda parts: told(parts, footnote="99.0"), "update Footnote"),
        (lambda parts: told(parts, format="new"), "format"),
        (lambda parts: parts.update({"manifest.json": b"{"}), "damaged"),
        (lambda parts: parts.update({"files/../../evil": b"x"}), "evil"),
        (lambda parts: parts.update({"/tmp/evil": b"x"}), "evil"),
        (lambda parts: parts.update({"files/uploads/../x": b"x"}), "no backup"),
        (lambda parts: parts.update({"files/..": b"x"}), "no backup"),
        (lambda parts: parts.update({"files/link": b""}), "link"),
        (lambda parts: parts.update({"index/other/00000.jsonl.gz": b""}), "other"),
    ],
)
async def test_what_is_no_whole_backup_is_refused_before_anything(
    file: Path, tmp_path: Path, change: Change, why: str
) -> None:
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
        with pytest.raises(BackupError, match=why):
            await put_back(tmp_path / "new", changed(file, change, kind=kind))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_file_that_was_cut_off_is_refused(file: Path, tmp_path: Path, share: float) -> None:
    content = file.read_bytes().rstrip(b"\0")
    cut = tmp_path / "cut"
    cut.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(BackupError):
        BackupReader(cut)


def test_a_writer_that_dies_leaves_no_backup(tmp_path: Path) -> None:
    with BackupWriter(tmp_path / "kb") as writer:
        writer.add("files/sources.json", b"[]")
        (draft,) = tmp_path.iterdir()
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == []


SECRET = "s3cr3t"


def test_settings_lose_every_secret_and_keep_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "footnote.toml"
    file.write_text(
        f"""
# {SECRET}
data = "kb"
[model]
api_key = "{SECRET}"
base_url = "https://me:{SECRET}@gateway.example/v1?a=\\"b\\""
[freshness.max_age_by_source]
"my wiki" = 30
[slack]
admins = ["U1", "S2"]
answer_within = "20m"
[store]
redis_url = "redis://:{SECRET}@redis.example"
[[sources]]
kind = "notion"
name = "notes"
token = "{SECRET}"
[[sources]]
name = "handbook"
path = "C:\\\\pages"
exclude = ["a", "b"]
""",
        encoding="utf-8",
    )
    text = without_secrets(file)
    assert text is not None
    assert SECRET not in text
    assert tomllib.loads(text) == {
        "data": "kb",
        "model": {"base_url": 'https://gateway.example/v1?a="b"'},
        "freshness": {"max_age_by_source": {"my wiki": 30}},
        "slack": {"admins": ["U1", "S2"], "answer_within": "20m"},
        "store": {},
        "sources": [
            {"kind": "notion", "name": "notes"},
            {"name": "handbook", "path": "C:\\pages", "exclude": ["a", "b"]},
        ],
    }


def test_the_secrets_of_every_section_and_source_are_known() -> None:
    assert {
        "api_key", "qdrant_api_key", "redis_url", "bot_token", "app_token", "signing_secret", "key", "token",
        "client_secret", "refresh_token", "certificate", "private_key",
    } <= secret_names()  # fmt: skip
