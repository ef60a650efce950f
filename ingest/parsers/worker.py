"""A process that parses one file after the other: `python -m ingest.parsers.worker MEMORY_BYTES`.

It reads requests from its standard input and writes replies to its standard output
until the input ends, which it does when its parent process dies. It opens no file
that a document names, writes none, and knows neither settings nor secrets.
"""

from __future__ import annotations

from ingest.errors import TOO_MUCH_MEMORY, PageError
from ingest.frames import begin, frame, read_frame
from ingest.page import Section
from ingest.parsers.formats import parse_file
from ingest.parsers.wire import SECTIONS, Broken, Parsed, Refused, Task, batches, broken


def main() -> None:
    requests, replies = begin()
    while (head := read_frame(requests)) is not None:
        content = read_frame(requests)
        if content is None:
            return
        reply, sections = _reply(Task.model_validate_json(head), content)
        replies.write(frame(reply.model_dump_json(exclude_none=True).encode()))
        for batch in sections:
            replies.write(frame(SECTIONS.dump_json(tuple(batch))))
        replies.flush()


def _reply(task: Task, content: bytes) -> tuple[Parsed | Refused | Broken, list[list[Section]]]:
    """Parses a file. Returns the reply and the sections of each frame that follows."""
    try:
        page = parse_file(content, path=task.path, media_type=task.media_type)
        sections = batches(page.sections)
        return Parsed(title=page.title, front=page.front, frames=len(sections)), sections
    except PageError as error:
        return Refused(reason=error.reason, withdraw=error.withdraw, left_out=error.left_out), []
    except MemoryError:
        return Refused(reason=TOO_MUCH_MEMORY), []
    except Exception as error:  # noqa: BLE001 (the edge of this process: the pool is told whatever a parser raises)
        return broken(error), []


if __name__ == "__main__":
    main()
