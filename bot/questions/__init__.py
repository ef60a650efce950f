"""Answers one question: from the queue to its reply, with what is shown and recorded on the way."""
