"""Reindexing from Slack: requests, and the message that shows their progress."""
