"""Reindexing from Slack, and the message that follows it."""
