"""From a mention in (the playground's) Slack to its answer in the thread: event, claim, queue, pipeline, posting."""

from __future__ import annotations

import time
from collections.abc import Sequence

from pydantic import SecretStr

from bot.cli.composition.runtime import Runtime
from bot.cli.serving.serve import running
from bot.playground import SlackLimits, sample_workspace
from bot.slack.events import Message, answer_metadata
from tests.fakes.playground import Playground

PATIENCE_S = 60.0


async def mentions_ms(runtime: Runtime, questions: Sequence[str]) -> list[float]:
    """Milliseconds from saying each question to the final answer in its thread, one after the other."""
    async with Playground(sample_workspace(), limits=SlackLimits(rate_limited=False)) as slack:
        workspace = slack.workspace
        credentials = {
            "bot_token": SecretStr(workspace.bot_token),
            "app_token": SecretStr(workspace.app_token),
            "api_url": slack.api_url,
        }
        runtime = runtime.with_slack(runtime.settings.slack.model_copy(update=credentials))
        async with running(runtime, runtime.pipeline) as (edge, _):
            await edge.connect()
            return [await _mention_ms(slack, question) for question in questions]


async def _mention_ms(slack: Playground, question: str) -> float:
    started = time.perf_counter()
    ts = await slack.say("alice", "#general", f"@footnote {question}")
    await slack.wait_for(lambda: _answered(slack, ts), timeout=PATIENCE_S)
    return (time.perf_counter() - started) * 1000


def _answered(slack: Playground, ts: str) -> bool:
    (channel,) = [one.id for one in slack.workspace.channels if one.name == "general"]
    said = [Message.model_validate(one) for one in slack.messages(channel, ts)]
    marks = [answer_metadata(one.metadata) for one in said if one.bot_id]
    return any(mark is not None and mark.state == "answered" for mark in marks)
