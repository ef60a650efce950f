"""A process that parses one file after the other: `python -m ingest.parsers.worker MEMORY_BYTES`.

It reads requests from its standard input and writes replies to its standard output
until the input ends, which it does when whoever started it dies. It opens no file
that a document names, writes none, and knows neither settings nor secrets.
"""

from __future__ import annotations

from ingest.errors import PageError
from ingest.frames import begin, frame, read_frame
from ingest.page import Section
from ingest.parsers.formats import parse_file
from ingest.parsers.wire import SECTIONS, Broken, Parsed, Refused, Task, broken, framed


def main() -> None:
    requests, replies = begin()
    while (head := read_frame(requests)) is not None:
        content = read_frame(requests)
        if content is None:
            return
        reply, sections = _reply(Task.model_validate_json(head), content)
        replies.write(frame(reply.model_dump_json(exclude_none=True).encode()))
        for some in framed(sections):
            replies.write(frame(SECTIONS.dump_json(tuple(some))))
        replies.flush()


def _reply(task: Task, content: bytes) -> tuple[Parsed | Refused | Broken, tuple[Section, ...]]:
    try:
        page = parse_file(content, path=task.path, media_type=task.media_type)
        parsed = Parsed(title=page.title, front=page.front, frames=len(framed(page.sections)))
    except PageError as error:
        return Refused(reason=error.reason, withdraw=error.withdraw, left_out=error.left_out), ()
    except MemoryError:
        return Refused(
            reason="it needs too much memory to be read: split it, or save it with fewer pictures"
        ), ()
    except Exception as error:  # noqa: BLE001 (the edge of this process: whatever a parser raises is told to the pool)
        return broken(error), ()
    return parsed, page.sections


if __name__ == "__main__":
    main()
