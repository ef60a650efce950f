"""What an index on a server does alone: outages, several bots, names of collections."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from qdrant_client import AsyncQdrantClient

from kb.errors import IndexUnavailableError
from kb.index.server.index import ServerIndex
from tests.contract.indexes import (
    EVERYBODY,
    MANIFEST,
    a_page,
    a_query,
    found,
    measured,
    put,
)

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


class TestServerIndex:
    @pytest.mark.parametrize("grpc", [False, True])
    async def test_a_server_that_does_not_answer_is_an_outage(self, grpc: bool) -> None:
        client = AsyncQdrantClient(
            url="http://127.0.0.1:1", grpc_port=1, prefer_grpc=grpc, timeout=2, check_compatibility=False
        )
        index = ServerIndex(client, "kb", manifest=MANIFEST, retry_s=0)
        for call in (
            index.search([a_query("leave")], audience=EVERYBODY, limit=5),
            put(index, a_page("leave"), "leave"),
            index.delete_pages(["leave"]),
            index.revisions(),
            index.counts(),
            index.languages(),
            index.neighbours({"leave": [0]}, audience=EVERYBODY),
            index.manifest(),
            index.calibration(),
            index.calibrate(measured()),
            index.sample(5),
            index.search([a_query("leave")], audience=EVERYBODY, limit=5, made_with="tiny"),
            index.begin_rebuild(MANIFEST),
        ):
            with pytest.raises(IndexUnavailableError) as outage:
                await call
            assert outage.value.__cause__ is not None
        await index.close()

    async def test_two_bots_share_a_server_and_both_see_a_swap(
        self, served: Callable[..., ServerIndex]
    ) -> None:
        one, two = served(MANIFEST), served()
        await put(one, a_page("old"), "leave")
        assert await found(two, "leave") == {"old#0"}
        rebuild = await one.begin_rebuild(MANIFEST)
        await put(rebuild, a_page("new"), "leave")
        await rebuild.swap()
        assert await found(two, "leave") == {"new#0"}

    async def test_one_collection_is_kept_for_a_way_back_and_others_of_the_server_are_not_touched(
        self, served: Callable[..., ServerIndex]
    ) -> None:
        index = served(MANIFEST)
        neighbour = served(MANIFEST, name="kb-g1-archive")
        await put(neighbour, a_page("theirs"), "leave")
        for at in range(4):
            rebuild = await index.begin_rebuild(MANIFEST)
            await put(rebuild, a_page(f"page-{at}"), "leave")
            await rebuild.swap()
        earlier = await index.open_previous()
        assert earlier is not None
        assert set(await earlier.revisions()) == {"page-2"}
        await earlier.swap()
        assert await index.open_previous() is None
        assert await found(neighbour, "leave") == {"theirs#0"}
