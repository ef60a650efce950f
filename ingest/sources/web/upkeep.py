"""Recognizes a site that shows one text under all its addresses (under maintenance, behind a question): that text must
not replace its pages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from yarl import URL

from ingest.sources.web.client import Refusal, WebClient, WebError, as_web_error
from ingest.sources.web.crawled import Found
from ingest.sources.web.reader import WebReader
from ingest.sources.web.scope import spelling
from ingest.sources.web.spellings import text_mark

_FEW = 3
"""So few pages of one text are nothing unusual ("Coming soon")."""
_SAMPLE = 3


class SameTextError(WebError):
    """Nothing of this visit can be trusted."""


def require_different_texts(
    pages: Mapping[str, Found], starts: Collection[str], changed: Collection[str]
) -> None:
    """Requires that a visit's pages differ. `starts`, `changed`: paths of the start pages, and of those whose text was
    another one at the last visit.

    Raises:
        SameTextError: most of the pages say the same, a start among them or all of a sudden.
    """
    by_text: dict[str, list[Found]] = defaultdict(list)
    for found in pages.values():
        by_text[found.text].append(found)
    for alike in by_text.values():
        paths = {found.path for found in alike}
        different = {spelling(path) for path in paths}
        sudden = not paths.isdisjoint(starts) or paths <= set(changed)
        if sudden and len(different) > max(_FEW, len(pages) / 2):
            raise _same_text(f"{len(different)} of its {len(pages)} pages show", alike[0].address)


async def look_at(
    lost: Sequence[URL], pages: Collection[Found], client: WebClient, reader: WebReader, refusal: Refusal
) -> None:
    """Asks for a few of the pages that nothing leads to any more.

    Raises:
        SameTextError: what they show is what the pages that were read show too.
        WebError: one cannot be read today, or not by everybody.
    """
    texts = []
    for url in lost[:: max(1, len(lost) // _SAMPLE)][:_SAMPLE]:
        try:
            with as_web_error("it cannot be read"):
                document = await reader.read(await client.get(url, refusal=refusal))
        except WebError as error:
            if not error.gone:
                raise
        else:
            texts.append(document.mark if document else text_mark(b""))
    if len(texts) > 1 and len(set(texts)) == 1 and texts[0] in {found.text for found in pages}:
        raise _same_text(f"{len(lost)} pages that were there at the last visit now show", str(lost[0]))


def _same_text(what: str, address: str) -> SameTextError:
    return SameTextError(
        f"{what} one and the same text: the site seems to be under maintenance, or to ask something "
        f"before it shows a page. "
        f"Nothing of it was changed; look at {address}, and sync again when it shows its pages"
    )
