"""Conversations: the turns of a thread, what they are about, and which of them may be reminded of."""
