"""Reads tables as text (.csv, .tsv): every value as written, so that 00501 stays 00501."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter

from ingest.parsers.office.sheets import Sheet

_DELIMITERS = ("\t", ";", "|", ",")
"""The most likely one first: numbers and words hold commas too."""
_NAMED = re.compile(r"sep=(.)\s*\n", re.IGNORECASE)
"""A first line in which a file of Excel's names its delimiter, and which Excel does not show."""
_LOOKED_AT = 100
"""Rows from which the delimiter is guessed."""


def read_separated(text: str) -> Sheet:
    """Reads a table. Its delimiter is the one that splits most rows into the same number of values.

    `text`: has line ends of one character.
    """
    named = _NAMED.match(text)
    if named:
        text = text[named.end() :]
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=named[1] if named else _delimiter(text))
    return Sheet(rows={number: dict(enumerate(row)) for number, row in enumerate(rows) if any(row)})


def _delimiter(text: str) -> str:
    return max(_DELIMITERS, key=lambda delimiter: _evenness(text, delimiter))


def _evenness(text: str, delimiter: str) -> float:
    """Returns the share of rows with the most frequent number of values above one."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    sizes = Counter(len(row) for _, row in zip(range(_LOOKED_AT), rows, strict=False) if row)
    return max((times for size, times in sizes.items() if size > 1), default=0) / max(1, sizes.total())
