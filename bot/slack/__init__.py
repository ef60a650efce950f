"""Slack as we use it: its events, its Web API, and who and what there is in a workspace."""
