"""The HTTP API as operators and programs meet it: the installed command
in its own process, keys by command, curl from the docs.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from bot.cli.commands import app as commands
from tests.cli.conftest import Run
from tests.fakes.serving import FOOTNOTE, START_S, environment, sample_data
from tests.fakes.warm_command import WarmProcess, launch

ROOT = Path(__file__).resolve().parents[2]
DOCS = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/api.md")}
_BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
CALLS = [
    pytest.param(call, id=f"{name}-{number}")
    for name, text in DOCS.items()
    for block in _BLOCK.findall(text)
    for number, call in enumerate(re.findall(r"^curl .*(?:\n[ \t].*)*", block, re.MULTILINE))
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on PATH"),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    data: Path
    address: str
    process: WarmProcess


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`footnote playground` on the sample handbook, with the API on a free port."""
    home = tmp_path_factory.mktemp("api")
    data, log = sample_data(tmp_path_factory.getbasetemp(), "sample-api"), home / "log"
    process = launch(
        *("playground", "--sample", "--port", "0", "--no-browser", "--data", data),
        folder=home,
        variables=environment(COLUMNS="300", FOOTNOTE_API__PORT="0"),
        out=log,
    )
    try:
        yield Served(data=data, address=_address(process, log), process=process)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0, log.read_text(encoding="utf-8")


def _address(process: WarmProcess, log: Path) -> str:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        said = log.read_text(encoding="utf-8")
        if found := re.search(r"HTTP API: (http://127\.0\.0\.1:\d+),", said):
            return found[1]
        assert process.poll() is None, said
        time.sleep(0.05)
    raise AssertionError(f"no address after {START_S} s:\n{log.read_text(encoding='utf-8')}")


def _run(call: str, served: Served, key: str) -> str:
    here = call.replace("http://127.0.0.1:8080", served.address)
    assert here != call
    done = subprocess.run(
        ["bash", "-euc", here],
        env=environment(KEY=key, NO_PROXY="*"),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def test_there_are_examples_to_run():
    assert [name for name, text in DOCS.items() if "curl " in text] == list(DOCS)
    assert len(CALLS) >= 6


@pytest.fixture(scope="module")
def key(served: Served, footnote: Run) -> str:
    made = footnote("keys", "add", "intranet", data=served.data)
    assert made.code == 0, made.err
    assert "shown once" in made.err
    return made.out.strip()


@pytest.mark.parametrize("call", CALLS)
def test_an_example_gives_what_it_is_there_for(served: Served, key: str, call: str):
    said = _run(call, served, key)
    if "/api/v1/ask" in call:
        assert said.rstrip().splitlines()[-2] == "event: answer"
        assert "25 days" in said
    elif "/api/v1/search" in call:
        told = json.loads(said)
        assert told["results"][0]["path"] == "people/leave-policy.md"
        assert (told["answer"] is not None) == ("include_answer" in call)
        if "chat_history" in call:
            assert "holiday" in told["query"]
            assert "31 March" in told["answer"]["text"]
    elif "/metrics" in call:
        assert "footnote_questions_total" in said
    else:
        assert json.loads(said) == {"status": "ok"}


def test_keys_are_made_listed_and_revoked_while_the_bot_runs(served: Served, footnote: Run):
    def ask(key: str) -> int:
        body = '{"query": "What does band 3 earn?", "include_answer": true}'
        call = (
            "curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/api/v1/search "
            f"-H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' -d '{body}'"
        )
        return int(_run(call, served, key))

    made = footnote(
        *("keys", "add", "leads", "--audience", "#People-Leads", "--expires", "30", "--json"),
        data=served.data,
    ).json
    assert (made["audience"], made["per_minute"]) == (["#people-leads"], 60)
    assert made["expires_at"] > made["created_at"]
    assert ask(made["key"]) == 200
    listed = footnote("keys", "list", data=served.data)
    assert "leads" in listed.out
    assert made["prefix"] in listed.out
    assert made["key"] not in listed.out + footnote("keys", "list", "--json", data=served.data).out
    taken = footnote("keys", "add", "leads", data=served.data)
    assert (taken.code, "already" in taken.err) == (1, True)
    wrong = footnote("keys", "add", "more", "--audience", "people leads", data=served.data)
    assert (wrong.code, "Traceback" in wrong.err) == (1, False)
    assert footnote("keys", "revoke", "leads", data=served.data).code == 0
    assert ask(made["key"]) == 401
    again = footnote("keys", "revoke", "leads", "--json", data=served.data)
    assert (again.code, again.json) == (1, {"name": "leads", "revoked": False})


def test_an_agent_asks_the_running_bot(served: Served, key: str, tmp_path: Path):
    variables = environment(FOOTNOTE_API__KEY=key, FOOTNOTE_API__URL=served.address)
    server = StdioServerParameters(command=str(FOOTNOTE), args=["mcp"], cwd=tmp_path, env=variables)

    async def ask(transport: Any) -> Any:
        async with Client(transport) as client:
            told = await client.call_tool("ask", {"query": "How many days of holiday do I get?"})
        return told.structured_content

    async def over_http() -> Any:
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
            return await ask(streamable_http_client(f"{served.address}/mcp", http_client=http))

    for answer in (asyncio.run(ask(stdio_client(server))), asyncio.run(over_http())):
        assert answer["outcome"] == "answered"
        assert "people/leave-policy.md" in [one["path"] for one in answer["citations"]]


def test_an_agent_without_a_key_is_told_how_to_get_one(footnote: Run):
    refused = footnote("mcp")
    assert refused.code == 1
    assert "footnote keys add" in refused.err
    assert refused.out == ""


def test_keys_are_made_where_no_bot_runs(footnote: Run, tmp_path: Path):
    data = tmp_path / "data"
    assert footnote("keys", "list", data=data).out.startswith("There is no key")
    assert footnote("keys", "add", "intranet", data=data).out.startswith("fnk_intranet_")
    assert [one["name"] for one in footnote("keys", "list", "--json", data=data).json] == ["intranet"]


def test_the_commands_of_the_manual_are_understood():
    import shlex

    import typer.main

    lines = re.findall(r"footnote (keys [^\n#)]+)", DOCS["docs/api.md"].replace("'#people-leads'", "@people"))
    assert len(lines) >= 5
    group = typer.main.get_command(commands).get_command(None, "keys")  # type: ignore[attr-defined]
    for line in lines:
        _, name, *arguments = shlex.split(line)
        group.get_command(None, name).make_context(name, [one for one in arguments if one != "NAME"])
