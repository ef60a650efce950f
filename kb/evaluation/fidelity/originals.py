"""A file's own words, read without the parsers: by pandoc, pdftotext, LibreOffice, lxml, or Python's csv and email."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from html import escape
from typing import Any

from lxml import etree

from kb.evaluation.fidelity import archives, tools
from kb.evaluation.fidelity.generators import markdown_as_html
from kb.evaluation.fidelity.markup import read_html
from kb.evaluation.fidelity.reading import Reading, reading_of
from kb.evaluation.fidelity.storage import storage_as_html
from kb.evaluation.fidelity.texts import decoded, split_front_matter, without_furniture
from kb.evaluation.fidelity.tools import UncheckedError

OUTPUT = 2_000
"""Characters of a notebook's printed output that are told: docs/formats.md."""

_LISTED_SHEETS = re.compile(
    r"<p><center>\s*<h1>Overview</h1>.*?</center></p>|(?<=<h1>)Sheet \d+: |<comment>.*?</comment>",
    re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _File:
    content: bytes
    path: str


_Read = Callable[[_File], Reading]


def original(content: bytes, *, path: str, kind: str) -> Reading:
    """Reads what the file says.

    Args:
        kind: the ending that tells the format: "docx". "storage": Confluence's.

    Raises:
        UncheckedError: nothing here reads it a second time, or not this file.
    """
    reader = _READERS.get(kind)
    if reader is None:
        raise UncheckedError(f"nothing else reads .{kind}")
    try:
        return reader(_File(content=content, path=path))
    except (ValueError, LookupError, TypeError, csv.Error, etree.XMLSyntaxError) as error:
        raise UncheckedError("it is broken, or in a form that the second reading does not know") from error


def _markdown(file: _File) -> Reading:
    page, apart = markdown_as_html(decoded(file.content), path=file.path)
    return read_html(page, apart=apart)


def _by_pandoc(reader: str) -> _Read:
    def read(file: _File) -> Reading:
        return read_html(_page(tools.pandoc(file.content, reader=reader, suffix=f".{reader}")))

    return read


def _word(file: _File) -> Reading:
    page = tools.pandoc(file.content, reader="docx", suffix=".docx")
    boxes = archives.text_boxes(file.content)
    return read_html(_page(page + boxes.encode()), apart=archives.hidden_words(file.content))


def _old_document(file: _File) -> Reading:
    return read_html(tools.office(file.content, suffix=_suffix(file), target="html"))


def _workbook(file: _File) -> Reading:
    """Reads cells as they are shown, without what LibreOffice adds: a list of the sheets, their numbers, comments."""
    page = tools.office(file.content, suffix=_suffix(file), target="html").decode("utf-8", "replace")
    return read_html(_LISTED_SHEETS.sub("", page))


def _suffix(file: _File) -> str:
    return "." + file.path.rpartition(".")[2].lower()


def _html(file: _File) -> Reading:
    if file.content.lstrip(b"\xef\xbb\xbf \r\n\t").startswith((b"---", b"+++")):
        return read_html(_page(split_front_matter(decoded(file.content))[1].encode()))
    if not re.search(rb"charset|<\?xml|\A(\xff\xfe|\xfe\xff)", file.content[:2000], re.IGNORECASE):
        return read_html(decoded(file.content))
    return read_html(file.content)


def _pdf(file: _File) -> Reading:
    text, furniture = without_furniture(tools.pdf_text(file.content).split("\f"))
    return reading_of(text, apart=furniture)


def _plain(file: _File) -> Reading:
    return reading_of(split_front_matter(decoded(file.content).replace("\r\n", "\n"))[1])


def _separated(file: _File) -> Reading:
    text = decoded(file.content)
    try:
        dialect: Any = csv.Sniffer().sniff(text[:10_000], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel_tab if file.path.endswith(".tsv") else csv.excel
    return read_html(_table(list(csv.reader(io.StringIO(text), dialect))))


def _table(rows: list[list[str]]) -> str:
    """Makes a table. The first row that is as full as most names the columns; lines above it are a title."""
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    usual = Counter(filled).most_common(1)[0][0] if rows else 0
    head = next((number for number, cells in enumerate(filled) if cells >= usual), 0)
    titles = "".join(f"<p>{escape(' '.join(row))}</p>" for row in rows[:head])
    lines = (
        "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
        for tag, row in zip(("th", *("td" for _ in rows)), rows[head:], strict=False)
    )
    return f"{titles}<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _mail(file: _File) -> Reading:
    message = message_from_bytes(
        decoded(file.content).encode() if b"\0" in file.content else file.content, policy=policy.default
    )
    assert isinstance(message, EmailMessage)
    body = message.get_body(("plain", "html"))
    names = " ".join(part.get_filename() or "" for part in message.walk())
    headers = " ".join(str(value) for value in message.values())
    sent = message["date"].datetime if message["date"] else None
    apart = f"{headers} {names} from attachments {sent and sent.strftime('%B')}"
    if body is None:
        return reading_of("", apart=apart)
    text = body.get_content()
    if body.get_content_subtype() == "html":
        return read_html(text, apart=apart)
    return reading_of(text, apart=apart)


def _notebook(file: _File) -> Reading:
    parts = []
    for cell in json.loads(file.content)["cells"]:
        source = "".join(cell["source"])
        match cell["cell_type"]:
            case "markdown":
                parts.append(markdown_as_html(source, path=file.path)[0])
            case "code":
                parts.append(f"<pre>{escape(source)}</pre>")
                parts += [f"<pre>{escape(text[:OUTPUT])}</pre>" for text in map(_printed, cell["outputs"])]
            case _:
                parts.append(f"<p>{escape(source)}</p>")
    return read_html(_page("".join(parts).encode()))


def _printed(output: dict[str, Any]) -> str:
    return "".join(output.get("text") or output.get("data", {}).get("text/plain") or "")


def _storage(file: _File) -> Reading:
    text, apart = storage_as_html(decoded(file.content))
    return read_html(text, apart=apart)


def _page(body: bytes) -> str:
    return f"<body>{body.decode('utf-8', 'replace')}</body>"


def _slides(file: _File) -> Reading:
    return read_html(archives.slides_as_html(file.content))


def _drawing(file: _File) -> Reading:
    return read_html(archives.open_document_as_html(file.content))


def _old_slides(file: _File) -> Reading:
    return read_html(archives.slides_as_html(tools.office(file.content, suffix=".ppt", target="pptx")))


_READERS: dict[str, _Read] = {
    **dict.fromkeys(("md", "markdown", "mdx", "erb"), _markdown),
    **dict.fromkeys(("html", "htm", "xhtml"), _html),
    **dict.fromkeys(("docx", "docm"), _word),
    **{kind: _by_pandoc(kind) for kind in ("odt", "epub", "rst", "org")},
    **dict.fromkeys(("doc", "rtf"), _old_document),
    **dict.fromkeys(("xlsx", "xlsm", "xls", "ods"), _workbook),
    **dict.fromkeys(("pptx", "pptm"), _slides),
    **dict.fromkeys(("txt", "text"), _plain),
    **dict.fromkeys(("csv", "tsv"), _separated),
    "ppt": _old_slides,
    "odp": _drawing,
    "pdf": _pdf,
    "eml": _mail,
    "ipynb": _notebook,
    "storage": _storage,
}
