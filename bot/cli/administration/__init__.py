"""Commands on the index, gaps, keys and dead letters: for who runs Footnote."""
