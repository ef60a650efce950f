"""Settings that every source has, and the files that count as documents."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

PAGES = ("**/*.md", "**/*.markdown", "**/*.mdx", "**/*.md.erb")
_DOCUMENT_ENDINGS = (
    "html", "htm", "xhtml", "pdf", "docx", "docm", "doc", "odt", "rtf", "pptx", "pptm", "ppt", "odp", "xlsx", "xlsm", "xls",
    "ods", "epub", "csv", "tsv", "txt", "rst", "org", "ipynb", "eml", "msg",
)  # fmt: skip
DOCUMENTS = (*PAGES, *(f"**/*.{name}" for ending in _DOCUMENT_ENDINGS for name in (ending, ending.upper())))
"""Everything that people write documents in. What cannot be read is named after a sync, rather than passed over."""

_SPANS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def as_span(given: object) -> object:
    """Reads "20s", "30m", "6h" and "1d", as people write them; anything else is left to pydantic."""
    match = re.fullmatch(r"(\d{1,5})\s*([smhd])", given.strip()) if isinstance(given, str) else None
    return timedelta(**{_SPANS[match[2]]: int(match[1])}) if match else given


Span = Annotated[timedelta, BeforeValidator(as_span), Field(ge=timedelta(minutes=1))]


class CommonSettings(BaseModel):
    """What every source has. `audience`: channels that may read all of it; empty: everyone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reader: ClassVar[str]
    """The source's class, as "module:Class" below the package of sources; it takes these settings and a folder."""
    variables: ClassVar[Mapping[str, str]] = {}
    """Names of the environment that the vendor's users know -> the key that they fill where it is not set."""

    kind: str
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
    audience: tuple[str, ...] = ()
    owner: str = ""
    """Whom to ask about pages whose own owner is nobody in Slack: an
    e-mail address, a handle (@dana), a name or an id (U0123).
    """
    max_age_days: int | None = None
    sync_every: Span | None = None
    """"30m", "6h", "1d": while the bot runs, the source is synced about this often. None: only when somebody asks."""


def nearest(name: str, known: list[str]) -> str:
    """Returns what to say about an unknown name, with the nearest known one."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    return f"did you mean {close[0]!r}?" if close else f"known here: {', '.join(sorted(known)) or 'none'}"
