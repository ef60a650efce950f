"""`make bench`: how fast Footnote starts and answers, against the bare model calls that it makes."""
