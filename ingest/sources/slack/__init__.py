"""Exports of Slack workspaces."""
