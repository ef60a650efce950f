"""What Footnote says by itself: digests by the clock, corrections after a sync."""
