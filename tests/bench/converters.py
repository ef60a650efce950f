"""Which converter to build on: every candidate over the same documents with known Markdown.

    python -m tests.bench.converters ../shared/data/formats [--only docx,pdf] [--json OUT]

Run it with any Python that has the candidates installed; the ones that are missing are left out and named. A
pair of files is a document and its expected Markdown, laid out as docling's and markitdown's own tests do.
"""

from __future__ import annotations

import argparse
import io
import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.bench.survival import NOTHING, ExpectedDocument, Survival, expected_pairs, survival

Convert = Callable[[bytes, Path], str]
SECONDS = 60
"""A candidate that takes longer over one document has failed on it."""


def _markitdown(content: bytes, path: Path) -> str:
    from markitdown import MarkItDown, StreamInfo

    global _MARKITDOWN
    _MARKITDOWN = _MARKITDOWN or MarkItDown()
    return _MARKITDOWN.convert_stream(
        io.BytesIO(content), stream_info=StreamInfo(extension=path.suffix)
    ).markdown


_MARKITDOWN: Any = None


def _kreuzberg(content: bytes, path: Path) -> str:
    import kreuzberg

    mime = kreuzberg.detect_mime_type_from_path(str(path))
    config = kreuzberg.ExtractionConfig(output_format="markdown", disable_ocr=True, use_cache=False)
    return str(kreuzberg.extract_bytes_sync(content, mime, config).content)


def _mammoth(content: bytes, _: Path) -> str:
    import mammoth
    from markdownify import markdownify

    html = mammoth.convert_to_html(
        io.BytesIO(content), convert_image=mammoth.images.img_element(lambda _: {})
    ).value
    return str(markdownify(html, heading_style="ATX", table_infer_header=True))


def _docx2python(content: bytes, _: Path) -> str:
    from docx2python import docx2python

    with docx2python(io.BytesIO(content)) as document:
        return str(document.text)


def _python_docx(content: bytes, _: Path) -> str:
    import docx

    lines = []
    for item in docx.Document(io.BytesIO(content)).iter_inner_content():
        if hasattr(item, "rows"):
            lines += [
                "| " + " | ".join(" ".join(cell.text.split()) for cell in row.cells) + " |"
                for row in item.rows
            ]
            continue
        style = item.style.name if item.style is not None else ""
        level = style.removeprefix("Heading ") if style.startswith("Heading ") else ""
        lines.append(f"{'#' * int(level)} {item.text}" if level.isdigit() else item.text)
    return "\n\n".join(lines)


def _pypdf(content: bytes, _: Path) -> str:
    from pypdf import PdfReader

    return "\n\n".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)


def _pdfium(content: bytes, _: Path) -> str:
    import pypdfium2

    with pypdfium2.PdfDocument(content) as document:
        return "\n\n".join(page.get_textpage().get_text_bounded() for page in document)


def _pdfplumber(content: bytes, _: Path) -> str:
    import pdfplumber

    texts = []
    with pdfplumber.open(io.BytesIO(content)) as document:
        for page in document.pages:
            texts.append(page.extract_text() or "")
            for table in page.extract_tables():
                texts += [
                    "| " + " | ".join(" ".join((cell or "").split()) for cell in row) + " |" for row in table
                ]
    return "\n".join(texts)


def _pdf_oxide(content: bytes, _: Path) -> str:
    import pdf_oxide

    document = pdf_oxide.PdfDocument.from_bytes(content)
    return "\n\n".join(document.to_markdown(at) for at in range(document.page_count()))


def _liteparse(content: bytes, _: Path) -> str:
    import liteparse

    return str(liteparse.LiteParse(ocr_enabled=False, output_format="markdown").parse(content).text)


def _openpyxl(content: bytes, _: Path) -> str:
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
    lines: list[str] = []
    for sheet in book.worksheets:
        lines.append(f"## {sheet.title}")
        lines += [
            "| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |"
            for row in sheet.values
        ]
    return "\n".join(lines)


def _calamine(content: bytes, _: Path) -> str:
    import python_calamine

    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    lines: list[str] = []
    for name in book.sheet_names:
        lines.append(f"## {name}")
        lines += [
            "| " + " | ".join(str(cell) for cell in row) + " |"
            for row in book.get_sheet_by_name(name).to_python()
        ]
    return "\n".join(lines)


def _markdownify(content: bytes, _: Path) -> str:
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(content, "lxml")
    for tag in soup(["script", "style", "template", "noscript", "svg"]):
        tag.decompose()
    return str(MarkdownConverter(heading_style="ATX", table_infer_header=True).convert_soup(soup))


def _html_to_markdown(content: bytes, _: Path) -> str:
    import html_to_markdown

    result = html_to_markdown.convert(content.decode(errors="replace"))
    return str(
        getattr(result, "content", None) or (result["content"] if isinstance(result, dict) else result)
    )


def _trafilatura(content: bytes, _: Path) -> str:
    import trafilatura

    return (
        trafilatura.extract(content, output_format="markdown", include_tables=True, favor_recall=True) or ""
    )


def _footnote(content: bytes, path: Path) -> str:
    from ingest.parsers.formats import parse_file

    return parse_file(content, path=path.name).as_markdown()


EVERYTHING: dict[str, Convert] = {"footnote": _footnote, "markitdown": _markitdown, "kreuzberg": _kreuzberg}
CANDIDATES: dict[str, dict[str, Convert]] = {
    "docx": {"mammoth + markdownify": _mammoth, "python-docx": _python_docx, "docx2python": _docx2python},
    "pdf": {
        "pypdf": _pypdf,
        "pypdfium2": _pdfium,
        "pdfplumber": _pdfplumber,
        "pdf_oxide": _pdf_oxide,
        "liteparse": _liteparse,
    },
    "xlsx": {"openpyxl": _openpyxl, "python-calamine": _calamine},
    "pptx": {},
    "odt": {},
    "html": {
        "beautifulsoup4 + markdownify": _markdownify,
        "html-to-markdown": _html_to_markdown,
        "trafilatura": _trafilatura,
    },
    "csv": {},
}


def measure(convert: Convert, pairs: list[ExpectedDocument]) -> dict[str, Any]:
    """Sums over the documents, seconds of processor time. One that fails counts with all its words lost."""
    total, seconds, failed = NOTHING, 0.0, []
    for pair in pairs:
        started = time.process_time()
        try:
            text = _within(SECONDS, lambda pair=pair: convert(pair.document.read_bytes(), pair.document))
        except ModuleNotFoundError:
            raise
        except BaseException as error:  # some raise errors that are no Exception
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            failed.append(f"{pair.document.name}: {type(error).__name__}")
            text = ""
        seconds += time.process_time() - started
        total += survival(pair.markdown, text)
    return {**_figures(total), "seconds": round(seconds, 2), "documents": len(pairs), "failed": failed}


def _figures(total: Survival) -> dict[str, float | None]:
    shares = {
        "recall": total.recall,
        "noise": total.noise,
        "headings": total.headings_kept,
        "rows": total.rows_kept,
    }
    return {name: None if share is None else round(share, 3) for name, share in shares.items()}


def _within(seconds: int, work: Callable[[], str]) -> str:
    def late(*_: object) -> None:
        raise TimeoutError(f"over {seconds} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        return work()
    finally:
        signal.alarm(0)


def _kind(path: Path) -> str:
    return {"xlsm": "xlsx", "htm": "html"}.get(path.suffix.lstrip("."), path.suffix.lstrip("."))


def rows(folder: Path, only: set[str]) -> Iterator[dict[str, Any]]:
    by_kind: dict[str, list[ExpectedDocument]] = {}
    for pair in expected_pairs(folder):
        by_kind.setdefault(_kind(pair.document), []).append(pair)
    for kind, candidates in CANDIDATES.items():
        for name, convert in {**EVERYTHING, **candidates}.items():
            if kind not in by_kind or (only and kind not in only):
                continue
            try:
                yield {"format": kind, "converter": name, **measure(convert, by_kind[kind])}
            except ModuleNotFoundError as error:
                yield {"format": kind, "converter": name, "missing": error.name}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="Formats, comma-separated.")
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    found = []
    for row in rows(asked.folder, {name for name in asked.only.split(",") if name}):
        found.append(row)
        if "missing" in row:
            print(f"{row['format']:5} {row['converter']:30} not installed ({row['missing']})", flush=True)
            continue
        shown = "  ".join(
            f"{name} {row[name]}" for name in ("recall", "noise", "headings", "rows", "seconds")
        )
        print(
            f"{row['format']:5} {row['converter']:30} {row['documents']:3}  {shown}  {row['failed'] or ''}",
            flush=True,
        )
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
