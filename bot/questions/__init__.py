"""One question from the queue to its reply, and whatever is shown or recorded on the way."""
