"""Reads from Slack: its events, its Web API, and the people, channels and groups of a workspace."""
