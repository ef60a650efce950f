"""Facts about pages: their places, labels, versions and freshness."""
