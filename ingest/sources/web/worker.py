"""A process that reads what a website answered, one page after the other (`ingest.sources.web.reader`)."""

from __future__ import annotations

from yarl import URL

from ingest.frames import begin, frame, read_frame
from ingest.parsers.wire import broken
from ingest.sources.web.client import WebResponse
from ingest.sources.web.document import WebDocument, read_document
from ingest.sources.web.wire import LINKS, LINKS_A_FRAME, Answer, Nothing, Reading


def main() -> None:
    requests, replies = begin()
    while (head := read_frame(requests)) is not None:
        content = read_frame(requests)
        if content is None:
            return
        for one in _reply(Answer.model_validate_json(head), content):
            replies.write(frame(one))
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
        return _frames(document, content) if document else [Nothing().model_dump_json().encode()]
    except Exception as error:  # noqa: BLE001 (the edge of this process: whatever a page breaks is told)
        return [broken(error).model_dump_json().encode()]


def _frames(document: WebDocument, content: bytes) -> list[bytes]:
    starts = range(0, len(document.links), LINKS_A_FRAME)
    reading = Reading(
        url=document.url,
        media_type=document.media_type,
        mark=document.mark,
        canonical=document.canonical,
        edited=document.edited,
        hidden=document.hidden,
        audience=document.audience,
        closed=document.closed,
        as_answered=document.content is content,
        frames=len(starts),
    )
    frames = [reading.model_dump_json().encode()]
    if not reading.as_answered:
        frames.append(document.content)
    return frames + [LINKS.dump_json(document.links[at : at + LINKS_A_FRAME]) for at in starts]


if __name__ == "__main__":
    main()
