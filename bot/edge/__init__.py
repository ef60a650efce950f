"""The Slack app: built from its parts, connected by Socket Mode or HTTP, drained and stopped."""
