"""Conversations: the turns of a thread, their topics, and which of them may still be shown."""
