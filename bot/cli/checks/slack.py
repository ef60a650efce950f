"""What `footnote doctor` asks of Slack: the tokens, what they may do, and whether events can come."""

from __future__ import annotations

from collections.abc import Awaitable, Collection
from typing import TypeVar

from slack_sdk.errors import SlackApiError

from bot.cli.checks.check import Check
from bot.slack.admins import user_groups
from bot.slack.channels import joined_channel
from bot.slack.clients import SlackClient
from bot.slack.errors import UNREACHABLE, SlackNoResponseError, error_code
from bot.slack.memberships import group_principals
from bot.slack.scopes import may_fill_pane, missing_options, missing_scopes
from kb.config.settings import Settings

SLACK_TIMEOUT_S = 10

Reply = TypeVar("Reply")


async def slack_checks(settings: Settings) -> list[Check]:
    """Checks the tokens, their scopes, and whether there is a way to receive events."""
    slack = settings.slack
    if slack.bot_token is None:
        mend = 'set SLACK_BOT_TOKEN (xoxb-...); README, "Connect a real Slack", says where it is'
        return [Check.warning("slack", "no bot token: only the playground works", mend)]
    token = slack.bot_token.get_secret_value()
    checks = await _bot_token(token, slack.api_url)
    if groups := user_groups(slack.admins):
        checks.append(await _admin_groups(groups, token, slack.api_url))
    if slack.gaps_digest:
        checks.append(await _digest_channel(slack.gaps_digest, token, slack.api_url))
    if slack.app_token is not None:
        checks.append(await _app_token(slack.app_token.get_secret_value(), slack.api_url))
    elif slack.signing_secret is not None:
        checks.append(Check.ok("slack events", f"signed HTTP events on port {slack.port}"))
    else:
        mend = "set SLACK_APP_TOKEN (xapp-..., Socket Mode) or SLACK_SIGNING_SECRET (HTTP events)"
        checks.append(Check.broken("slack events", "no way to receive events", mend))
    return checks


async def _bot_token(token: str, api_url: str) -> list[Check]:
    name = "slack bot token"
    client = SlackClient(token=token, base_url=api_url, timeout=SLACK_TIMEOUT_S)
    mend = "install the app to the workspace again and copy the new bot token"
    reply = await _asked(name, client.auth_test(), api_url, mend=mend)
    if isinstance(reply, Check):
        return [reply]
    granted = (reply.headers or {}).get("x-oauth-scopes", "")
    agent = agent_check(granted)
    if missing := missing_scopes(granted):
        mend = (
            "add them under OAuth & Permissions (or paste deploy/slack-manifest.yaml) and reinstall the app"
        )
        broken = Check.broken(name, f"scopes missing: {', '.join(missing)}", mend)
        return [broken, agent]
    who = f"{reply['user']} in {reply['team']}"
    if optional := missing_options(granted):
        mend = "paste deploy/slack-manifest.yaml and reinstall the app: owners of pages are found and told by them"
        finding = f"{who}, all scopes granted but {', '.join(optional)}"
        return [Check.ok(name, finding, mend), agent]
    return [Check.ok(name, f"{who}, all scopes granted"), agent]


def agent_check(granted: str) -> Check:
    """Whether Footnote is an agent with a pane of its own, as far as the scopes tell. Either is fine."""
    if may_fill_pane(granted):
        finding = "the messages tab suggests questions, and conversations there have titles"
        return Check.ok("slack agent view", finding)
    mend = "for suggested questions and titles install the app with deploy/slack-manifest-agent.yaml"
    return Check.ok("slack agent view", "not asked for: a plain bot", mend)


async def _admin_groups(groups: Collection[str], token: str, api_url: str) -> Check:
    """Checks that the user groups whose members are admins exist and are not empty."""
    name = "slack admins"
    client = SlackClient(token=token, base_url=api_url, timeout=SLACK_TIMEOUT_S)
    mend = "add the scope usergroups:read and reinstall the app: until then no group makes an admin"
    reply = await _asked(name, client.usergroups_list(include_users=True), api_url, mend=mend)
    if isinstance(reply, Check):
        return reply
    members = {
        principal: len(group.get("users") or ())
        for group in reply.get("usergroups") or []
        if not group.get("date_delete")
        for principal in group_principals(group)
    }
    if empty := sorted(group for group in groups if not members.get(group)):
        mend = "correct slack.admins, or give the group members in Slack"
        return Check.warning(name, f"no such user group, or empty: {', '.join(empty)}", mend)
    counted = ", ".join(f"{group} ({members[group]})" for group in sorted(groups))
    return Check.ok(name, f"members of {counted}")


async def _digest_channel(called: str, token: str, api_url: str) -> Check:
    """Whether the weekly gaps can be posted in the channel that is set for them."""
    name = "slack gaps digest"
    client = SlackClient(token=token, base_url=api_url, timeout=SLACK_TIMEOUT_S)
    found = await _asked(name, joined_channel(client, called), api_url, mend="correct slack.gaps_digest")
    if isinstance(found, Check):
        return found
    if found is None:
        mend = "invite Footnote to the channel, or correct slack.gaps_digest"
        return Check.warning(name, f"not a member of {called}", mend)
    return Check.ok(name, f"told weekly in {called}")


async def _app_token(token: str, api_url: str) -> Check:
    name = "slack app token"
    client = SlackClient(base_url=api_url, timeout=SLACK_TIMEOUT_S)
    mend = "turn Socket Mode on and make an app-level token with the scope connections:write"
    reply = await _asked(name, client.apps_connections_open(app_token=token), api_url, mend=mend)
    return reply if isinstance(reply, Check) else Check.ok(name, "Socket Mode opens")


async def _asked(name: str, call: Awaitable[Reply], api_url: str, *, mend: str) -> Reply | Check:
    """Returns Slack's answer, or a broken check; `mend` is the advice when Slack refuses the token."""
    try:
        return await call
    except SlackApiError as error:
        return Check.broken(name, f"Slack says {error_code(error)}", mend)
    except SlackNoResponseError as error:
        away = error.code in (UNREACHABLE, "cut", "timeout")
        finding = (
            f"{api_url} {'cannot be reached' if away else 'does not answer as Slack does'} ({error.code})"
        )
        return Check.broken(name, finding, "check the network and proxy of this machine")
