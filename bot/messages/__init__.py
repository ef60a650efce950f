"""What a person in Slack can read of Footnote itself, in one module a language."""
