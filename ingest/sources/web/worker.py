"""A process that reads what a website answered, one page after the other, and what goes between it and
`ingest.sources.web.reader`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from yarl import URL

from ingest.frames import begin, frame, read_frame
from ingest.parsers.wire import Broken, broken
from ingest.sources.web.client import WebResponse
from ingest.sources.web.document import WebDocument, read_document

LINKS_A_FRAME = 1_000
"""Links that are read in a millisecond."""


class _Frame(BaseModel):
    model_config = ConfigDict(frozen=True)


class Answer(_Frame):
    """What a site answered, but for its content, which is the next frame."""

    url: str
    media_type: str
    charset: str | None
    robots: str


class Reading(_Frame):
    """A document without its content, which is the next frame unless it is what was answered (`as_answered`), and
    without its links, which are in so many `frames` after that. No document: it is no kind of text that we read.
    """

    kind: Literal["reading"] = "reading"
    document: WebDocument | None
    as_answered: bool = False
    frames: int = 0


READING: TypeAdapter[Reading | Broken] = TypeAdapter(Annotated[Reading | Broken, Field(discriminator="kind")])
LINKS: TypeAdapter[tuple[str, ...]] = TypeAdapter(tuple[str, ...])


def main() -> None:
    requests, replies = begin()
    while (head := read_frame(requests)) is not None:
        content = read_frame(requests)
        if content is None:
            return
        for payload in _reply(Answer.model_validate_json(head), content):
            replies.write(frame(payload))
        replies.flush()


def _reply(answer: Answer, content: bytes) -> list[bytes]:
    response = WebResponse(
        url=URL(answer.url, encoded=True),
        status=200,
        content=content,
        media_type=answer.media_type,
        charset=answer.charset,
        robots=answer.robots,
    )
    try:
        document = read_document(response)
        if document is None:
            return [Reading(document=None).model_dump_json().encode()]
        return _frames(document, as_answered=document.content is content)
    except Exception as error:  # noqa: BLE001 (the edge of this process: whatever a page breaks is told)
        return [broken(error).model_dump_json().encode()]


def _frames(document: WebDocument, *, as_answered: bool) -> list[bytes]:
    links, starts = document.links, range(0, len(document.links), LINKS_A_FRAME)
    head = replace(document, content=b"", links=())
    reading = Reading(document=head, as_answered=as_answered, frames=len(starts))
    return [
        reading.model_dump_json().encode(),
        *([] if as_answered else [document.content]),
        *(LINKS.dump_json(links[start : start + LINKS_A_FRAME]) for start in starts),
    ]


if __name__ == "__main__":
    main()
