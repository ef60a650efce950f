"""Explains in words why a question could not be answered, for whoever runs Footnote."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

IN_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "account_inactive": "the bot's account or the workspace is deactivated",
        "app_uninstalled": "the app is no longer installed",
        "cannot_reply_to_message": "the message takes no replies",
        "channel_not_found": "the channel is gone, or hidden from the bot",
        "invalid_auth": "Slack does not know the bot token",
        "is_archived": "the channel is archived",
        "message_not_found": "the message is gone",
        "missing_scope": "the app lacks a permission (scope)",
        "not_authed": "no bot token was sent",
        "not_in_channel": "the bot is not in the channel",
        "restricted_action": "the workspace does not let the bot post there",
        "restricted_action_non_threadable_channel": "the channel takes no threads",
        "restricted_action_read_only_channel": "the channel is read-only",
        "restricted_action_thread_only_channel": "the channel takes threads only",
        "team_access_not_granted": "the workspace has not granted the app access",
        "thread_not_found": "the thread is gone",
        "token_expired": "the bot token has expired",
        "token_revoked": "the bot token was revoked",
        "user_not_found": "the person is gone",
        "QuestionAbandonedError": "the bot died each time it began",
        "unreadable": "another version of Footnote wrote it",
        "store": "Redis was away for more than a day",
    }
)


def reason_in_words(reason: str) -> str:
    """Words a reason: Slack's error code, or the class of an error of ours."""
    if words := IN_WORDS.get(reason):
        return words
    if reason.startswith("http_") or reason in {
        "cut",
        "timeout",
        "no_json",
        "odd",
        "unreachable",
        "internal_error",
    }:
        return "Slack was away for more than a day"
    if reason[:1].isupper():
        return f"a fault of ours ({reason}), which is in the log"
    return f"Slack refuses it ({reason})"
