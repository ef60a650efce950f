"""Chooses the parser of a file by the source's media type, else by the file's ending.

Every file either becomes a page or fails with a reason. Parsers are imported when the first file of theirs arrives:
their converters take half a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.front_matter.page_fields import may_have_front_matter, split_front_matter
from ingest.page import ParsedPage
from ingest.parsers.limits import limited
from ingest.parsers.markup.dialects import NO_DIALECT, Dialect, dialect_of
from ingest.parsers.markup.markdown import parse_markdown
from ingest.parsers.text import decoded

OFFICE = (
    "docx", "docm", "doc", "rtf", "pptx", "pptm", "ppt", "xlsx", "xlsm", "xls", "ods", "epub", "msg", "org",
)  # fmt: skip
_MEDIA_TYPES: Mapping[str, str] = {
    "text/markdown": "md",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "text/plain": "txt",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/x-rst": "rst",
    "message/rfc822": "eml",
    "application/x-ipynb+json": "ipynb",
}
_OTHER: Mapping[str, str] = {
    **dict.fromkeys(
        ("png", "jpg", "jpeg", "gif", "svg", "webp", "tif", "tiff", "bmp", "heic"), "it is a picture"
    ),
    **dict.fromkeys(("mp3", "wav", "m4a", "ogg", "flac"), "it is a recording"),
    **dict.fromkeys(("mp4", "mov", "avi", "webm", "mkv"), "it is a film"),
    **dict.fromkeys(("zip", "tar", "gz", "7z", "rar", "bz2", "xz"), "it is an archive: unpack it"),
    "xlsb": "it is a binary workbook: save it as .xlsx",
    **dict.fromkeys(("pages", "numbers", "key"), "it is in a format of Apple's: export it as PDF"),
    **dict.fromkeys(
        ("gdoc", "gsheet", "gslides"),
        "it only points to a document of Google's: export that as .docx, .xlsx or .pptx",
    ),
    **dict.fromkeys(("xml", "json", "yaml", "yml", "toml"), "it is data, not a page"),
}
"""Why files of these endings are not read."""
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
MAX_TEXT_BYTES = 5_000_000
"""A larger text is data, not prose: the largest page that we met is 0.44 MB."""
MAX_BINARY_BYTES = 60_000_000
"""Pictures make slides and PDFs large; their text is small."""
_HTML = frozenset({"html", "htm", "xhtml"})
_FENCED = _HTML | {"txt", "text", "rst", "org"}
"""Formats other than Markdown from which site generators read front matter."""
_MARKDOWN = frozenset({"md", "markdown", "mdx", "erb"})
_LOOKED_THROUGH = _FENCED | {"csv", "tsv"}
"""Formats whose source text is searched for readers: a parser may drop a comment that names them."""
_WITH_MARK = "utf-8-sig"
"""A byte order mark overrules the encoding that a page of HTML declares."""
_BINARY = frozenset(("pdf", "odt", "odp", *OFFICE)) - {"org"}


def kind_of(path: str, media_type: str | None = None) -> str:
    """Returns the ending that tells the format of a file; "md" where there is no ending at all."""
    kind = _MEDIA_TYPES.get((media_type or "").partition(";")[0].strip().lower())
    name = PurePosixPath(path).name
    return kind or (name.rpartition(".")[2].lower() if "." in name.strip(".") else "md")


def max_bytes(path: str) -> int:
    """Returns the size in bytes above which a file is not read."""
    return MAX_BINARY_BYTES if kind_of(path) in _BINARY else MAX_TEXT_BYTES


def parse_file(content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
    """Parses a file of any format.

    Raises:
        PageError: the file cannot be indexed, with a reason that a person understands.
    """
    if content.startswith(_LFS_POINTER):
        raise PageError(
            "it is only a pointer of Git LFS: the file itself was not fetched, run `git lfs pull`"
        )
    kind = kind_of(path, media_type)
    page = _read(content, path, kind, media_type)
    if kind in _MARKDOWN:  # has no properties, and its parser searches it for readers
        return page
    return limited(page, content, kind, looked_through=kind in _LOOKED_THROUGH)


def _read(content: bytes, path: str, kind: str, media_type: str | None) -> ParsedPage:
    if kind in _FENCED and may_have_front_matter(content):
        front, body = split_front_matter(decoded(content))
        if front != FrontMatter():
            encoding = _WITH_MARK if kind in _HTML else "utf-8"
            return _headed(front, _parsed(body.encode(encoding), path, kind))
    return _parsed(content, path, kind, dialect_of(path, media_type))


def _headed(front: FrontMatter, page: ParsedPage) -> ParsedPage:
    """Adds front matter to a page. It overrules the page's own language, title and dates."""
    own = page.front
    dates = replace(front.dates, edited=front.dates.edited or own.dates.edited)
    front = replace(front, language=front.language or own.language, dates=dates)
    return replace(page, title=front.title or page.title, front=front)


def _parsed(content: bytes, path: str, kind: str, dialect: Dialect = NO_DIALECT) -> ParsedPage:
    match kind:
        case "md" | "markdown" | "mdx" | "erb":
            return parse_markdown(content, path=path, dialect=dialect)
        case _ if kind in _HTML:
            from ingest.parsers.markup.webpage import parse_html

            return parse_html(content, path=path)
        case "pdf":
            from ingest.parsers.pdf.document import parse_pdf

            return parse_pdf(content, path=path)
        case "txt" | "text":
            from ingest.parsers.plain import parse_plain

            return parse_plain(content, path=path)
        case "csv" | "tsv" | "xlsx" | "xlsm" | "xls" | "ods":
            from ingest.parsers.office.spreadsheet import parse_spreadsheet

            return parse_spreadsheet(content, path=path, kind=kind)
        case "rst":
            from ingest.parsers.restructured import parse_rst

            return parse_rst(content, path=path)
        case "ipynb":
            from ingest.parsers.notebook import parse_notebook

            return parse_notebook(content, path=path)
        case "odt" | "odp":
            from ingest.parsers.office.opendocument import parse_opendocument

            return parse_opendocument(content, path=path)
        case "eml":
            from ingest.parsers.mail import parse_mail

            return parse_mail(content, path=path)
    if kind in OFFICE:
        from ingest.parsers.office.texts import parse_office

        return parse_office(content, path=path, kind=kind)
    raise PageError(f"{_OTHER.get(kind, 'files of this kind cannot be read')} (.{kind})")
