"""Decides which Slack messages are for Footnote: listeners, threads, and when it speaks unasked."""
