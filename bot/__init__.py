"""The Slack edge: events in, cited answers out. Only `bot.cli` knows the other packages' wiring."""
