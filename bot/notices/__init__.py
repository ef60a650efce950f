"""Notices that Footnote posts by itself: digests by the clock, corrections after a sync."""
