"""What the parts of a point are called inside an engine. It imports
nothing: `kb.index.embedded.survey` starts with each look.
"""

from __future__ import annotations

DENSE = "dense"
LEXICAL = "lexical"
"""Names of the two vectors of a point."""

AUDIENCE = "audience"
PAGE_ID = "page_id"
SOURCE = "source"
LANGUAGE = "language"
REVISION = "revision"
PAGE_URL = "page_url"
POSITION = "position"
CHUNK_ID = "chunk_id"
TITLE = "title"
NAMES = "names"
REPLACED_NAMES = "replaced_names"
SERIES = "series"
"""What a page is called, what it replaces and what it is a version of; on its first chunk alone."""
KEYWORD_FIELDS = (AUDIENCE, PAGE_ID, SOURCE, LANGUAGE, NAMES, REPLACED_NAMES, SERIES)
"""Fields that filters and counts run over; each needs an index of its own."""
