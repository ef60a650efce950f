"""`footnote migrate`, `backup` and `restore`."""
