"""Renders answers as Slack blocks and mrkdwn. Pure."""
