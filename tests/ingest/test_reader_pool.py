"""Files are read in processes that may hang, crash or eat memory, without harm to the sync."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import psutil
import pytest

from ingest.chunking.chunks import chunk_page
from ingest.errors import PageError
from ingest.page import ParsedPage
from ingest.parsers.pool import ReaderPool
from ingest.processes import DiedError
from kb.config.model_settings import EmbedSettings
from kb.inference.counting import CountedModel
from kb.inference.embedder import Embedder
from kb.models import Page
from tests.fakes.waiting import until

STUCK = "tests.fakes.stuck_worker"


@pytest.fixture
async def pool() -> AsyncIterator[ReaderPool]:
    pool = ReaderPool(workers=1, worker=STUCK)
    yield pool
    await pool.close()


def processes() -> set[int]:
    return {
        child.pid
        for child in psutil.Process().children()
        if any("parsers" in part or STUCK in part for part in child.cmdline())
    }


def text(page: ParsedPage) -> str:
    return "\n".join(block.text for section in page.sections for block in section.blocks)


async def reason(pool: ReaderPool, path: str) -> str:
    with pytest.raises(PageError) as failed:
        await pool.read(b"# Leave\n\nText.", path=path)
    return failed.value.reason


async def test_a_page_comes_back_as_the_parser_made_it(pool: ReaderPool) -> None:
    page = await pool.read(
        b"---\nowner: People\nreview_by: 2027-05-03\n---\n# Leave\n\n## Days\n\n- 25\n", path="leave.md"
    )

    assert (page.title, page.front.owner, str(page.front.dates.review_due)) == (
        "Leave",
        "People",
        "2027-05-03",
    )
    assert (page.sections[0].path, page.sections[0].anchor, text(page)) == (("Days",), "days", "- 25")


async def test_the_same_process_reads_the_next_file(pool: ReaderPool) -> None:
    await pool.read(b"one", path="one.md")
    first = processes()
    await pool.read(b"two", path="two.md")

    assert processes() == first
    assert len(first) == 1


async def test_a_file_that_hangs_its_parser_is_given_up_and_the_process_is_gone() -> None:
    pool = ReaderPool(workers=1, seconds=2, worker=STUCK)

    assert await reason(pool, "hang.md") == "reading it took longer than 2 s: it was given up"
    assert processes() == set()


async def test_a_file_that_crashes_its_parser_is_reported_and_the_next_one_is_read(pool: ReaderPool) -> None:
    assert await reason(pool, "crash.md") == "it makes the program that reads it crash: save it again"
    assert text(await pool.read(b"fine", path="fine.md")) == "fine"


async def test_a_file_that_needs_more_memory_than_allowed_is_reported(pool: ReaderPool) -> None:
    assert "too much memory" in await reason(pool, "hungry.md")


async def test_a_bug_in_a_parser_is_logged_without_the_text_of_the_page(
    pool: ReaderPool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        assert await reason(pool, "bug.md") == "it broke the parser; the log says where"

    record = next(entry for entry in caplog.records if entry.getMessage() == "page.parser_failed")
    assert vars(record)["error"] == "ZeroDivisionError"
    assert any("stuck_worker.py" in where for where in vars(record)["where"])
    assert "secret" not in str(vars(record))


async def test_a_process_gets_no_token_loads_no_torch_prints_nothing_between_replies_and_writes_no_file(
    pool: ReaderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-secret")

    names = text(await pool.read(b"", path="environment.md"))
    assert "PATH" in names
    assert "SLACK" not in names

    assert text(await pool.read(b"", path="torch.md")) == "no torch"
    assert text(await pool.read(b"quiet", path="chatty.md")) == "quiet"
    with pytest.raises(PageError):
        await pool.read(b"text", path="writes.md")


async def test_a_read_that_is_cancelled_leaves_no_process_with_an_answer_for_the_next_question(
    pool: ReaderPool,
) -> None:
    reading = asyncio.create_task(pool.read(b"x", path="hang.md"))
    await until(processes)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading

    assert text(await pool.read(b"mine", path="mine.md")) == "mine"


async def test_no_more_files_are_read_at_once_than_there_are_workers() -> None:
    pool = ReaderPool(workers=2, worker=STUCK)

    pages = await asyncio.gather(*(pool.read(f"text {n}".encode(), path=f"{n}.md") for n in range(8)))

    assert [text(page) for page in pages] == [f"text {n}" for n in range(8)]
    assert len(processes()) == 2
    await pool.close()
    assert processes() == set()


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    embedder = Embedder(EmbedSettings(model="all-MiniLM-L6-v2"))
    embedder.load()
    yield embedder
    embedder.close()


def a_page(title: str = "Leave") -> Page:
    return Page(id="kb:leave.md", source="kb", path="leave.md", title=title, url="https://kb.example/leave")


async def test_a_page_is_cut_in_a_process_as_it_would_be_here(pool: ReaderPool, embedder: Embedder) -> None:
    lines = "".join(f"## Heading {n}\n\n{'Nobody looks at the backup. ' * 60}\n\n- one\n" for n in range(250))
    parsed = await pool.read(lines.encode(), path="leave.md")

    apart = await pool.cut(a_page(), parsed, counter=embedder, max_tokens=128)

    assert len(apart) > 500
    assert apart == chunk_page(a_page(), parsed, count_tokens=embedder.count_tokens, max_tokens=128)


async def test_a_page_that_takes_too_long_to_cut_is_given_up_and_the_next_is_cut(embedder: Embedder) -> None:
    pool = ReaderPool(cut_seconds=0.001)
    parsed = ParsedPage(title="Leave", sections=())
    with pytest.raises(PageError, match="split it into several pages"):
        await pool.cut(a_page(), parsed, counter=embedder, max_tokens=128)
    await pool.close()


async def test_the_event_loop_goes_on_while_a_page_without_spaces_is_read_and_cut(
    pool: ReaderPool, embedder: Embedder
) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.005)

    beside = asyncio.create_task(others())
    parsed = await pool.read(b"a-" * 100_000, path="leave.md")
    turns = 0
    chunks = await pool.cut(a_page(), parsed, counter=embedder, max_tokens=128)
    beside.cancel()
    assert len(chunks) > 1000
    assert turns > 10


@dataclass
class Models:
    """A `TokenCounter` of models with files of their own, or of none."""

    counted_models: tuple[CountedModel, ...] | None = ()

    def count_tokens(self, text: str) -> int:
        return len(text.split())


async def test_the_processes_start_before_there_is_a_page_and_once(
    pool: ReaderPool, embedder: Embedder
) -> None:
    await pool.warm(Models(counted_models=None))
    assert len(processes()) == 1, "nothing can be cut apart"

    await asyncio.gather(pool.warm(embedder), pool.warm(embedder))
    started = processes()
    assert len(started) == 2

    await pool.warm(embedder)
    await asyncio.gather(*(pool.read(b"text", path="p.md") for _ in range(2)))
    assert processes() == started


async def test_a_small_page_does_not_wait_for_the_process_that_cuts(embedder: Embedder) -> None:
    pool = ReaderPool(worker=STUCK)
    parsed = await pool.read(b"Ask the people team.", path="leave.md")
    warming = asyncio.create_task(pool.warm(embedder))
    await until(lambda: len(processes()) == 2)
    cutting = asyncio.create_task(pool.cut(a_page(), parsed, counter=embedder, max_tokens=128))
    await asyncio.wait({warming, cutting}, return_when=asyncio.FIRST_COMPLETED)

    assert not warming.done()
    assert await cutting == chunk_page(a_page(), parsed, count_tokens=embedder.count_tokens, max_tokens=128)
    await warming
    await pool.close()


async def test_that_it_does_not_start_is_told_by_the_page_that_needs_it(
    pool: ReaderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.processes.sys.executable", "/bin/false")
    broken = ReaderPool()
    await broken.warm(Models())

    assert processes() == set()
    with pytest.raises((DiedError, PageError)):
        await broken.cut(
            Page(id="p", source="s", path="p.md", title="P", url="p"),
            await pool.read(b"text", path="p.md"),
            counter=Models(),
            max_tokens=64,
        )
