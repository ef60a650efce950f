"""Which messages are for Footnote: listeners, threads and the decision to speak."""
