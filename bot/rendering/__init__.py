"""From an answer to Slack blocks and mrkdwn. Pure."""
