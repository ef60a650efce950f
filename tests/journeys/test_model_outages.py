"""What people in Slack see while the model works, is busy, breaks off, refuses or is gone.

The bot as `serve` composes it: real embedder, index, queue and pipeline, in the playground. Only the model is scripted,
on the wire.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import pytest_asyncio

from bot.cli.composition.runtime import open_runtime
from bot.cli.serving.serve import running
from bot.edge.slack_app import Edge
from bot.messages.catalog import Messages
from bot.playground import SlackLimits, sample_workspace
from bot.playground.links import LinkedAnswers
from bot.queue.queue import QuestionQueue
from kb.config.configuration import load_settings
from tests.fakes.messages_server import Failure, MessagesServer, Say
from tests.fakes.playground import Playground
from tests.fakes.serving import sample_data, slack_of
from tests.fakes.waiting import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.series,
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
]

QUESTION = "@footnote How many days of paid holiday do full-time employees get?"
PAGES = "https://kb.havik.example/"
DEADLINE_S = 4.0
HALF = "Half of what the model"
"""The beginning of replies that never end: nobody may read it."""
SOON = {"retry-after-ms": "1"}
LATER = {"retry-after": "3"}
"""The first retry fits into the deadline, the second does not."""
WORDS = Messages()


@dataclass(frozen=True, kw_only=True)
class Office:
    slack: Playground
    model: MessagesServer
    queue: QuestionQueue
    edge: Edge

    async def ask(self, text: str = QUESTION) -> dict[str, Any]:
        """Asks in a new thread and returns the one message that came of it, when nothing is left to do."""
        ts = await self.slack.say("alice", "#general", text)

        def said() -> list[dict[str, Any]]:
            return [one for one in self.slack.messages("#general", ts) if one.get("bot_id")]

        async def idle() -> bool:
            depth = await self.queue.depth()
            return depth.waiting + depth.running == 0

        await self.slack.wait_for(said, timeout=60)
        await until(idle, seconds=60, pause=0.05)
        (message,) = said()
        return message


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["numbered", "native"])
async def running_office(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Office]:
    """The bot with a model at another address (numbered passages), and at one that cites as Claude does."""
    data = await asyncio.to_thread(sample_data, tmp_path_factory.getbasetemp(), f"outages-{request.param}")
    async with (
        MessagesServer() as model,
        Playground(sample_workspace(), limits=SlackLimits(rate_limited=False)) as slack,
    ):
        variables = {
            "ANTHROPIC_API_KEY": model.key,
            "ANTHROPIC_BASE_URL": model.url,
            "FOOTNOTE_MODEL__ANSWER_DEADLINE_S": str(DEADLINE_S),
            "FOOTNOTE_REWRITE__MODE": "heuristic",
            "FOOTNOTE_RERANK__MODEL": "off",
            "FOOTNOTE_ANSWER__JUDGE": "off",  # its call would be one more to count
            **slack_of(slack),
        }
        if request.param == "native":
            variables["FOOTNOTE_MODEL__NATIVE_CITATIONS"] = "true"
        settings = load_settings(environ=variables, data=data)
        async with (
            open_runtime(settings, "serve", models=True) as runtime,
            running(runtime, LinkedAnswers(runtime.pipeline, PAGES, quote)) as (edge, _),
        ):
            await edge.connect()
            queue = QuestionQueue(runtime.redis, namespace=settings.store.namespace)
            yield Office(slack=slack, model=model, queue=queue, edge=edge)


@pytest.fixture
def office(running_office: Office) -> Office:
    running_office.model.unscript()
    running_office.model.requests.clear()
    return running_office


def assert_nothing_internal(office: Office, *shown: Any) -> None:
    """No exception text, class name, trace, key, address or unfinished reply in what people can see."""
    seen = json.dumps(shown, ensure_ascii=False)
    address = urlsplit(office.model.url)
    for secret in (
        office.model.key,
        str(address.port),
        "127.0.0.1",
        "localhost",
        HALF,
        "anthropic",
        "claude",
    ):
        assert secret not in seen.lower() if secret != HALF else secret not in seen, secret
    traces = r"Traceback|\b\w*(?:Error|Exception)\b|\w+_error\b|overloaded|httpx|\b529\b|\b401\b|status_code|kb\.\w+\("
    assert re.findall(traces, seen) == []


async def why(office: Office, message: dict[str, Any]) -> Any:
    """What "Why this answer?" shows."""
    assert await office.slack.click("alice", "#general", message["ts"], "footnote_why")
    view = await office.slack.wait_for(lambda: office.slack.modal("alice"), timeout=30)
    await office.slack.close_view("alice", view["id"])
    return view["blocks"]


def notes(message: dict[str, Any]) -> list[str]:
    """The notes about how the answer came about."""
    about_mode = (WORDS.note_extractive, WORDS.note_model_unavailable, WORDS.note_model_refused)
    return [note for note in about_mode if note in message["text"]]


def links(message: dict[str, Any]) -> set[str]:
    """The pages that an answer links to."""
    text = json.dumps([block for block in message["blocks"] if block["type"] in {"section", "context"}])
    return set(re.findall(rf"<{re.escape(PAGES)}([^#|>]+)[^>]*>", text))


async def test_the_models_answer_shows_with_links_to_its_pages(office: Office) -> None:
    message = await office.ask()
    assert len(office.model.requests) == 1
    assert office.model.refusals == []
    assert "25 days" in message["text"]
    assert "people/leave-policy.md" in links(message)
    assert notes(message) == []
    assert_nothing_internal(office, message["text"], message["blocks"])


async def test_passages_travel_as_the_endpoint_understands_them(office: Office) -> None:
    await office.ask()
    content = office.model.requests[0]["messages"][-1]["content"]
    if isinstance(content, str):
        assert "[1] " in content
    else:
        assert {block["type"] for block in content} == {"search_result", "text"}


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([Failure(status=429, headers=SOON)], id="429"),
        pytest.param([Failure(status=529, headers=SOON)] * 2, id="529 twice"),
        pytest.param([Say(HALF, fault="cut")], id="a cut stream"),
        pytest.param([Say(HALF, fault="dropped")], id="a dropped connection"),
        pytest.param([Say(HALF, fault="overloaded")], id="overloaded within the stream"),
    ],
)
async def test_what_passes_by_itself_is_tried_again_and_nobody_notices(
    office: Office, steps: Sequence[Say | Failure]
) -> None:
    office.model.script(*steps)
    message = await office.ask()
    assert len(office.model.requests) == len(steps) + 1
    assert notes(message) == []
    assert links(message)
    assert_nothing_internal(office, message["text"], message["blocks"])


@pytest.mark.parametrize(
    ("steps", "note"),
    [
        pytest.param(
            [Failure(status=529, headers=LATER)] * 9,
            WORDS.note_model_unavailable,
            id="529 until the deadline",
        ),
        pytest.param(
            [Failure(status=429, headers={"retry-after": "60"})],
            WORDS.note_model_unavailable,
            id="429 for long",
        ),
        pytest.param([Failure(status=401, echo=True)], WORDS.note_model_unavailable, id="a wrong key"),
        pytest.param([Say(HALF, fault="cut")] * 9, WORDS.note_model_unavailable, id="streams that are cut"),
        pytest.param(
            [Say(HALF, fault="dropped")] * 9, WORDS.note_model_unavailable, id="dropped connections"
        ),
        pytest.param([Say(HALF, fault="stall")] * 9, WORDS.note_model_unavailable, id="a timeout"),
        pytest.param(
            [Say(HALF, fault="malformed")] * 9, WORDS.note_model_unavailable, id="a malformed chunk"
        ),
        pytest.param(
            [Say(HALF, fault="unopened")] * 9, WORDS.note_model_unavailable, id="a block never opened"
        ),
        pytest.param([Say(HALF, stop_reason="max_tokens")], WORDS.note_model_unavailable, id="no room left"),
        pytest.param([Say(HALF, stop_reason="refusal")], WORDS.note_model_refused, id="a refusal"),
    ],
)
async def test_what_does_not_pass_ends_in_one_answer_of_quotes_with_a_note(
    office: Office, steps: Sequence[Say | Failure], note: str
) -> None:
    office.model.script(*steps)
    message = await office.ask()
    assert "25 days of paid holiday" in message["text"]
    assert "people/leave-policy.md" in links(message)
    assert notes(message) == [note]
    assert_nothing_internal(office, message["text"], message["blocks"], await why(office, message))


async def test_the_model_is_used_again_once_it_is_back(office: Office) -> None:
    office.model.script(Failure(status=401))
    assert notes(await office.ask()) == [WORDS.note_model_unavailable]
    assert notes(await office.ask()) == []
