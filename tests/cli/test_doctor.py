"""What `footnote doctor` says of Slack, asked of the playground: what is broken, and how to mend it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.cli.checks.check import Check
from bot.cli.checks.doctor import declining_checks, model_checks, reranking_checks, review_checks
from bot.cli.checks.slack import slack_checks
from bot.cli.checks.slack_manifest import manifest_checks
from bot.playground import sample_workspace
from bot.slack.scopes import REQUIRED
from kb.config.model_settings import RerankSettings
from kb.config.settings import Settings
from kb.errors import ModelUnavailableError, SettingsError
from tests.fakes.messages_server import MessagesServer
from tests.fakes.playground import Playground
from tests.fakes.ports import free_port


@pytest.fixture
async def slack() -> AsyncIterator[Playground]:
    async with Playground(sample_workspace()) as playground:
        yield playground


def a_setup(slack: Playground, **changes: Any) -> Settings:
    workspace = slack.workspace
    tokens = {
        "bot_token": workspace.bot_token,
        "app_token": workspace.app_token,
        "api_url": slack.api_url,
    }
    return Settings.model_validate({"slack": tokens | changes})


async def checked(settings: Settings) -> dict[str, Check]:
    return {check.name: check for check in await slack_checks(settings)}


async def test_tokens_that_work_are_fine(slack: Playground):
    found = await checked(a_setup(slack))
    assert {check.state for check in found.values()} == {"ok"}
    assert "all scopes granted" in found["slack bot token"].told


async def test_a_wrong_bot_token_is_broken_and_never_shown(slack: Playground):
    found = await checked(a_setup(slack, bot_token="xoxb-wrong-secret"))
    check = found["slack bot token"]
    assert (check.state, check.told) == ("broken", "Slack says invalid_auth")
    assert "bot token" in check.mend
    assert "wrong-secret" not in repr(found)


async def test_a_missing_scope_is_named(slack: Playground):
    scopes = tuple(one for one in slack.workspace.scopes if one != "users:read")
    async with Playground(replace(slack.workspace, scopes=scopes)) as narrower:
        check = (await checked(a_setup(narrower)))["slack bot token"]
    assert (check.state, check.told) == ("broken", "scopes missing: users:read")


async def test_a_wrong_app_token_says_which_token_to_make(slack: Playground):
    check = (await checked(a_setup(slack, app_token="xapp-wrong")))["slack app token"]
    assert check.state == "broken"
    assert "connections:write" in check.mend


async def test_a_bot_that_can_hear_nothing_is_broken(slack: Playground):
    check = (await checked(a_setup(slack, app_token=None)))["slack events"]
    assert check.state == "broken"
    assert "SLACK_APP_TOKEN" in check.mend


async def test_without_a_bot_token_the_playground_still_works(slack: Playground):
    (check,) = (await checked(a_setup(slack, bot_token=None))).values()
    assert (check.state, "playground" in check.told) == ("warning", True)


async def test_a_slack_out_of_reach_is_not_called_a_wrong_token(slack: Playground):
    found = await checked(a_setup(slack, api_url="http://127.0.0.1:9/api/"))
    assert "cannot be reached" in found["slack bot token"].told
    assert "network" in found["slack bot token"].mend


async def test_a_group_of_admins_is_looked_up(slack: Playground):
    check = (await checked(a_setup(slack, admins=("U0ALICE", "@KB-Admins", "S0ADMINS"))))["slack admins"]
    assert (check.state, check.told) == ("ok", "members of @kb-admins (2), S0ADMINS (2)")
    check = (await checked(a_setup(slack, admins=("@gone",))))["slack admins"]
    assert (check.state, check.told) == ("warning", "no such user group, or empty: @gone")
    assert "slack admins" not in await checked(a_setup(slack, admins=("U0ALICE",)))


async def test_without_the_scope_a_group_of_admins_is_broken(slack: Playground):
    scopes = tuple(one for one in slack.workspace.scopes if one != "usergroups:read")
    async with Playground(replace(slack.workspace, scopes=scopes)) as narrower:
        found = await checked(a_setup(narrower, admins=("S0ADMINS",)))
    assert (found["slack admins"].state, found["slack admins"].told) == ("broken", "Slack says missing_scope")
    assert "usergroups:read" in found["slack admins"].mend
    assert found["slack bot token"].told == "scopes missing: usergroups:read"


@pytest.mark.parametrize(
    ("channel", "state"),
    [("general", "ok"), ("#general", "ok"), ("C0GENERAL", "ok"), ("random", "warning"), ("gone", "warning")],
)
async def test_a_weekly_digest_needs_a_channel_that_we_are_in(slack: Playground, channel: str, state: str):
    check = (await checked(a_setup(slack, gaps_digest=channel)))["slack gaps digest"]
    assert (check.state, "invite Footnote" in check.mend) == (state, state == "warning")


async def test_the_model_that_a_local_server_offers_is_named():
    async with MessagesServer(key="local", offers=["qwen3:8b"]) as server:
        settings = Settings.model_validate({"model": {"ollama_base_url": server.url}})
        (check,) = await model_checks(settings)
    assert (check.state, check.told) == ("ok", "qwen3:8b at 127.0.0.1, the largest that it lists")


async def test_a_local_server_that_is_silent_is_told_with_what_to_set():
    settings = Settings.model_validate({"model": {"ollama_base_url": f"http://127.0.0.1:{free_port()}"}})
    with pytest.raises(ModelUnavailableError, match="FOOTNOTE_MODEL__ANSWER_MODEL"):
        await model_checks(settings)


@pytest.mark.parametrize("model", ["all-MiniLM-L6-v2", "multilingual", "/models/own-one"])
async def test_every_embedder_can_be_declined_by_and_another_cross_encoder_is_told(model: str):
    settings = Settings.model_validate({"embed": {"model": model}, "rerank": {"model": "off"}})
    (check,) = await declining_checks(settings)
    assert (check.state, check.told) == ("ok", "fitted")
    settings = Settings.model_validate({"embed": {"model": model}, "rerank": {"model": "acme/ranker"}})
    (check,) = await declining_checks(settings)
    assert (check.state, "acme/ranker" in check.told) == ("ok", True)


TRIED = {"model": "acme/ranker", "weight": 0.3, "candidates": 20, "before": 0.41, "after": 0.5, "samples": 60}


@pytest.mark.parametrize(
    ("reranking", "told"),
    [
        (
            TRIED,
            "reads 20 passages a question and counts 30%: tried on 2026-11-28 12:00 on 90 passages, of 60",
        ),
        (TRIED | {"weight": 0.0}, "acme/ranker is not run: tried on 2026-11-28"),
        (TRIED | {"weight": 0.0, "samples": 0}, "these pages have no headings to try it on"),
        (TRIED | {"model": "acme/earlier"}, "was not tried on these pages yet"),
        (None, "was not tried on these pages yet"),
    ],
)
def test_what_a_trial_of_the_cross_encoder_showed_is_told(reranking: dict[str, Any] | None, told: str):
    status = {"reranking": reranking, "passages": 90, "measured": "2026-11-28T12:00:00Z"}
    (check,) = reranking_checks(status, RerankSettings(model="acme/ranker"))
    assert (check.state, told in check.told) == ("ok", True)
    (check,) = reranking_checks(status, RerankSettings(model="acme/ranker", weight=0.5))
    assert (check.told.startswith("counts 50%, as set, whatever was measured: "), told in check.told) == (
        True,
        True,
    )


def test_of_a_cross_encoder_that_is_off_or_an_index_where_nothing_was_measured_nothing_more_is_told():
    assert reranking_checks({"reranking": TRIED, "passages": 90}, RerankSettings(model="off")) == []
    (check,) = reranking_checks(None, RerankSettings(model="acme/ranker"))
    assert "not tried on these pages yet" in check.told


async def test_whether_it_is_an_agent_is_told_and_either_is_fine(slack: Playground):
    assert "suggests questions" in (await checked(a_setup(slack)))["slack agent view"].told
    async with Playground(replace(slack.workspace, scopes=REQUIRED)) as plain:
        found = await checked(a_setup(plain))
    assert {check.state for check in found.values()} == {"ok"}
    assert "plain bot" in found["slack agent view"].told
    assert "slack-manifest-agent.yaml" in found["slack agent view"].mend
    assert "but im:write, users:read.email" in found["slack bot token"].told


def manifest_with(tmp_path: Path, name: str, change: Callable[[dict[str, Any]], object]) -> dict[str, Check]:
    manifest = yaml.safe_load((Path(__file__).parents[2] / "deploy" / name).read_text(encoding="utf-8"))
    change(manifest)
    file = tmp_path / "manifest.json"
    file.write_text(json.dumps(manifest), encoding="utf-8")
    return {check.name: check for check in manifest_checks(file, "/kb")}


@pytest.mark.parametrize("name", ["slack-manifest.yaml", "slack-manifest-agent.yaml"])
def test_both_of_our_own_manifests_are_fine(name: str):
    checks = manifest_checks(Path(__file__).parents[2] / "deploy" / name, "/kb")
    assert {check.state for check in checks} == {"ok"}


@pytest.mark.parametrize(
    ("change", "name", "state", "told"),
    [
        (lambda it: it["settings"]["event_subscriptions"]["bot_events"].remove("message.im"), "manifest events", "broken", "message.im"),
        (lambda it: it["oauth_config"]["scopes"]["bot"].remove("im:history"), "manifest scopes", "broken", "im:history"),
        (lambda it: it["features"].pop("shortcuts"), "manifest shortcut", "warning", "no shortcut"),
        (lambda it: it["features"]["shortcuts"][0].update(type="global"), "manifest shortcut", "warning", "no shortcut"),
        (lambda it: it["features"]["slash_commands"][0].update(command="/docs"), "manifest command", "broken", "/docs"),
        (lambda it: it["features"].pop("slash_commands"), "manifest command", "broken", "/kb is not there"),
        (lambda it: it["settings"].pop("event_subscriptions"), "manifest events", "broken", "app_mention"),
        (lambda it: it["settings"]["interactivity"].update(is_enabled=False), "manifest buttons", "broken", "off"),
        (lambda it: it["features"]["app_home"].update(home_tab_enabled=False), "manifest home tab", "broken", "off"),
        (lambda it: it["features"]["app_home"].update(messages_tab_read_only_enabled=True), "manifest messages tab", "broken", "read only"),
        (lambda it: it["features"].update(agent_view={}), "manifest agent view", "warning", "without assistant:write"),
        (lambda it: it["oauth_config"]["scopes"]["bot"].append("assistant:write"), "manifest agent view", "warning", "off, though"),
        (lambda it: it["features"].update(assistant_view={}), "manifest agent view", "warning", "assistant_thread_started"),
    ],
)  # fmt: skip
def test_what_an_apps_manifest_lacks_is_named(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], name: str, state: str, told: str
):
    found = manifest_with(tmp_path, "slack-manifest.yaml", change)
    assert (found[name].state, told in found[name].told, bool(found[name].mend)) == (state, True, True)
    others = {check.state for other, check in found.items() if other != name}
    assert others == {"ok"}


def test_the_former_assistant_view_is_known(tmp_path: Path):
    def former(manifest: dict[str, Any]) -> None:
        manifest["features"]["assistant_view"] = {}
        manifest["oauth_config"]["scopes"]["bot"].append("assistant:write")
        manifest["settings"]["event_subscriptions"]["bot_events"].append("assistant_thread_started")

    check = manifest_with(tmp_path, "slack-manifest.yaml", former)["manifest agent view"]
    assert (check.state, "former" in check.told, "agent_view" in check.mend) == ("ok", True, True)


@pytest.mark.parametrize("text", ["", "[]", "just words", "a: [", "name: x"])
def test_a_file_that_is_no_manifest_says_so(tmp_path: Path, text: str):
    (tmp_path / "file.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"manifest"):
        manifest_checks(tmp_path / "file.yaml", "/kb")


@pytest.mark.parametrize(("stale", "states"), [(0, []), (5, ["ok"]), (6, ["warning"])])
def test_reviews_that_are_mostly_missed_are_a_warning(stale: int, states: list[str]) -> None:
    checks = review_checks(stale, 10)
    assert [check.state for check in checks] == states
    assert all(f"{stale} of 10 pages" in check.told and "footnote stale" in check.mend for check in checks)
