"""From sources to the index: fetch, parse, chunk, embed, and back out when a page is gone."""
