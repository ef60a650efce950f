"""Tells who is who, and how to connect: auth.test, users.*, usergroups.*, apps.connections.open."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from bot.playground.arguments import Arguments
from bot.playground.refusal import Refused
from bot.playground.slack import SPECIAL, Method, Slack
from bot.playground.workspace import UserGroup, WorkspaceUser


def auth_test(slack: Slack, _args: Arguments) -> dict[str, Any]:
    workspace = slack.workspace
    return {
        "url": f"{slack.origin()}/",
        "team": workspace.name,
        "user": workspace.bot_name,
        "team_id": workspace.team_id,
        "user_id": workspace.bot_user_id,
        "bot_id": workspace.bot_id,
        "is_enterprise_install": False,
    }


def open_connection(slack: Slack, _args: Arguments) -> dict[str, Any]:
    address = slack.origin().replace("http", "ws", 1)
    return {"url": f"{address}/link/?ticket={slack.sockets.new_ticket()}&app_id={slack.workspace.app_id}"}


def user_info(slack: Slack, args: Arguments) -> dict[str, Any]:
    user = args.required("user")
    person = next((person for person in slack.workspace.everyone() if person.id == user), None)
    if person is None:
        raise Refused("user_not_found")
    return {"user": _user(slack, person, with_locale=args.flag("include_locale"))}


def user_list(slack: Slack, args: Arguments) -> dict[str, Any]:
    people = slack.workspace.everyone()
    members = [_user(slack, person, with_locale=args.flag("include_locale")) for person in people]
    return {"members": members, "cache_ts": int(slack.state.now()), "response_metadata": {"next_cursor": ""}}


def user_by_email(slack: Slack, args: Arguments) -> dict[str, Any]:
    email = args.required("email").lower()
    person = next((person for person in slack.workspace.people if person.email == email), None)
    if person is None:
        raise Refused("users_not_found")
    return {"user": _user(slack, person, with_locale=False)}


def groups(slack: Slack, args: Arguments) -> dict[str, Any]:
    with_users = args.flag("include_users")
    return {"usergroups": [_group(group, with_users=with_users) for group in slack.workspace.user_groups]}


def group_members(slack: Slack, args: Arguments) -> dict[str, Any]:
    group_id = args.required("usergroup")
    group = next((group for group in slack.workspace.user_groups if group.id == group_id), None)
    if group is None:
        raise Refused("no_such_subteam")
    return {"users": list(group.members)}


def _group(group: UserGroup, *, with_users: bool) -> dict[str, Any]:
    return {
        "id": group.id,
        "is_usergroup": True,
        "handle": group.handle,
        "name": group.handle,
        "date_delete": 0,
        "user_count": len(group.members),
        **({"users": list(group.members)} if with_users else {}),
    }


def _user(slack: Slack, person: WorkspaceUser, *, with_locale: bool) -> dict[str, Any]:
    offset = datetime.fromtimestamp(slack.state.now(), UTC).astimezone(ZoneInfo(person.tz)).utcoffset()
    profile = {
        "real_name": person.real_name,
        "real_name_normalized": person.real_name,
        "display_name": person.name,
        "display_name_normalized": person.name,
        "team": slack.workspace.team_id,
    }
    if not person.is_bot and "users:read.email" in slack.workspace.scopes:
        profile["email"] = person.email
    user: dict[str, Any] = {
        "id": person.id,
        "team_id": person.team_id or slack.workspace.team_id,
        "name": person.name,
        "deleted": False,
        "real_name": person.real_name,
        "tz": person.tz,
        "tz_label": person.tz,
        "tz_offset": int(offset.total_seconds()) if offset else 0,
        "profile": profile,
        "is_admin": person.is_admin,
        "is_owner": person.is_owner,
        "is_primary_owner": person.is_owner,
        "is_restricted": person.is_guest,
        "is_ultra_restricted": False,
        "is_stranger": bool(person.team_id),
        "is_bot": person.is_bot,
        "is_app_user": False,
        "updated": 0,
    }
    if with_locale:
        user["locale"] = person.locale
    return user


_READ = ("users:read",)
METHODS = (
    Method(name="auth.test", call=auth_test, tier=SPECIAL),
    Method(name="apps.connections.open", call=open_connection, tier=1, app_token=True),
    Method(name="users.info", call=user_info, scopes=_READ, tier=4),
    Method(name="users.list", call=user_list, scopes=_READ, tier=2),
    Method(name="users.lookupByEmail", call=user_by_email, scopes=("users:read.email",), tier=3),
    Method(name="usergroups.list", call=groups, scopes=("usergroups:read",), tier=2),
    Method(name="usergroups.users.list", call=group_members, scopes=("usergroups:read",), tier=2),
)
