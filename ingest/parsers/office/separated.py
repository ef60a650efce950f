"""Tables as text (.csv, .tsv): every value as it is written, so that 00501 stays 00501."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter

from ingest.parsers.office.sheets import Sheet

_DELIMITERS = ("\t", ";", "|", ",")
"""The likelier one first: commas stand within numbers and words as well."""
_NAMED = re.compile(r"sep=(.)\s*\n", re.IGNORECASE)
"""How a file of Excel's names its delimiter, in a first line that Excel does not show."""
_LOOKED_AT = 100
"""Rows from which the delimiter is found out."""


def read_separated(text: str) -> Sheet:
    """`text` has line ends of one character. Its delimiter is the one
    that cuts most rows into the same number of values.
    """
    named = _NAMED.match(text)
    if named:
        text = text[named.end() :]
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=named[1] if named else _delimiter(text))
    return Sheet(rows={number: dict(enumerate(row)) for number, row in enumerate(rows) if any(row)})


def _delimiter(text: str) -> str:
    return max(_DELIMITERS, key=lambda one: _evenness(text, one))


def _evenness(text: str, delimiter: str) -> float:
    """The share of rows that have the most frequent number of values above one."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    sizes = Counter(len(row) for _, row in zip(range(_LOOKED_AT), rows, strict=False) if row)
    return max((times for size, times in sizes.items() if size > 1), default=0) / max(1, sizes.total())
