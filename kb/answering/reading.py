"""Prepares the passages for an answer: adds neighbours, joins parts of a section, drops repetitions.

A search finds passages of some 250 tokens. What answers often stands in the one before or after, and a list or a table
that was cut is whole only together. Nothing here ranks: passages stay in the order in which they were found.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise, takewhile

from kb.citations.prompt_injection import strip_injections
from kb.index.port import VectorIndex
from kb.models import Audience, Chunk, Hit

CHARACTERS_A_TOKEN = 4
"""Characters a token of English prose has in the tokenizers of current models; only a budget hangs on it."""
SECTION_REACH = 120
"""Passages: a table of some 400 rows. A longer section is counted as far as that."""
_WORD = re.compile(r"\w+")
ROWS_REACH = 3
"""Passages of a table's rows that hold as much text as another passage (`ingest.chunking.cutting.TABLE_TOKENS`)."""
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingLimits:
    """`passages`: how many found ones are read. `tokens`: how much text at most, neighbours included.

    `around`: how many of the best passages bring their neighbours; `reach`: how far from each, in passages;
    `own_section`: only neighbours within the passage's own section.
    """

    passages: int
    tokens: int
    around: int = 10
    reach: int = 1
    own_section: bool = False


async def read_passages(
    hits: Sequence[Hit], index: VectorIndex, audience: Audience, limits: ReadingLimits
) -> tuple[Hit, ...]:
    """Reads the best hits with their neighbours, best first; adjacent passages of a section become one.

    A passage keeps the id, the link and the scores of the best hit in it.

    Raises:
        IndexUnavailableError: the neighbours cannot be asked for.
    """
    room = limits.tokens * CHARACTERS_A_TOKEN
    chosen: list[Hit] = []
    for hit in _distinct(hits)[: limits.passages]:
        room -= len(hit.chunk.embedded_text)
        if room < 0 and chosen:
            break
        chosen.append(hit)
    found = await index.neighbours(_spots(chosen[: limits.around], limits.reach), audience=audience)
    beside = _fitting(chosen, _by_place(found), limits, room)
    return tuple(strip_injections_in(_joined(chosen, beside)))


async def read_section(chunk: Chunk, index: VectorIndex, audience: Audience) -> str:
    """Returns the text of the section that a passage is in, up to `SECTION_REACH` passages before and behind it.

    Raises:
        IndexUnavailableError: it cannot be asked for.
    """
    spots = {chunk.page.id: _near(chunk.position, SECTION_REACH)}
    chunks = _by_place([chunk, *await index.neighbours(spots, audience=audience)])
    run = _run(chunk.page.id, chunk.position, chunks)
    return strip_injections(reduce(join_texts, (chunks[place].text for place in run)))


def _distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Drops literal repetitions: a page that was copied, or that two sources hold."""
    kept: dict[str, Hit] = {}
    for hit in hits:
        kept.setdefault(" ".join(_WORD.findall(hit.chunk.text.casefold())), hit)
    return list(kept.values())


def _spots(hits: Sequence[Hit], reach: int) -> dict[str, set[int]]:
    spots: dict[str, set[int]] = {}
    for hit in hits:
        near = _near(hit.chunk.position, _reach(hit.chunk, reach))
        spots.setdefault(hit.chunk.page.id, set()).update(near)
    return spots


def _reach(chunk: Chunk, reach: int) -> int:
    """Returns how far neighbours reach: further from rows of a table, of which a passage holds few."""
    return reach * ROWS_REACH if chunk.text.rsplit("\n", 1)[-1].startswith("|") else reach


def _near(position: int, reach: int) -> range:
    return range(max(0, position - reach), position + reach + 1)


def _by_place(chunks: Sequence[Chunk]) -> dict[tuple[str, int], Chunk]:
    return {(chunk.page.id, chunk.position): chunk for chunk in chunks}


def _fitting(
    chosen: Sequence[Hit], near: Mapping[tuple[str, int], Chunk], limits: ReadingLimits, room: int
) -> dict[tuple[str, int], Chunk]:
    """Returns the neighbours that fit, those of the best passages first, and following ones before preceding ones."""
    taken = {(hit.chunk.page.id, hit.chunk.position) for hit in chosen}
    beside: dict[tuple[str, int], Chunk] = {}
    for hit in chosen[: limits.around]:
        for distance in range(1, _reach(hit.chunk, limits.reach) + 1):
            for position in (hit.chunk.position + distance, hit.chunk.position - distance):
                place = (hit.chunk.page.id, position)
                if place in taken or place not in near:
                    continue
                if limits.own_section and near[place].section != hit.chunk.section:
                    continue
                size = len(near[place].text)
                if size <= room:
                    beside[place] = near[place]
                    taken.add(place)
                    room -= size
    return beside


def _joined(chosen: Sequence[Hit], beside: Mapping[tuple[str, int], Chunk]) -> list[Hit]:
    """Joins each run of adjacent passages of a section, in the place of its best one."""
    best = {(hit.chunk.page.id, hit.chunk.position): hit for hit in reversed(chosen)}
    chunks = {place: hit.chunk for place, hit in best.items()} | dict(beside)
    read: list[Hit] = []
    done: set[tuple[str, int]] = set()
    for hit in chosen:
        page, position = hit.chunk.page.id, hit.chunk.position
        for run in _runs_around(page, position, chunks):
            if done.isdisjoint(run):
                done.update(run)
                read.append(
                    _as_hit([chunks[place] for place in run], [best.get(place) for place in run], hit)
                )
    return read


def _runs_around(
    page: str, position: int, chunks: Mapping[tuple[str, int], Chunk]
) -> list[list[tuple[str, int]]]:
    """Returns the run that holds the passage, then the runs of other sections that touch it."""
    own = _run(page, position, chunks)
    after, before = (page, own[-1][1] + 1), (page, own[0][1] - 1)
    return [own, *(_run(*place, chunks) for place in (before, after) if place in chunks)]


def _run(page: str, position: int, chunks: Mapping[tuple[str, int], Chunk]) -> list[tuple[str, int]]:
    section = chunks[page, position].section

    def held(position: int) -> bool:
        return (page, position) in chunks and chunks[page, position].section == section

    first = last = position
    while held(first - 1):
        first -= 1
    while held(last + 1):
        last += 1
    return [(page, position) for position in range(first, last + 1)]


def _as_hit(run: Sequence[Chunk], found: Sequence[Hit | None], near: Hit) -> Hit:
    """Makes a hit of a run. `near` lends its scores to a run that was not found itself."""
    hits = sorted((hit for hit in found if hit is not None), key=lambda hit: -hit.scores.final)
    best = hits[0] if hits else Hit(chunk=run[0], scores=near.scores)
    text = run[0].text
    for chunk in run[1:]:
        text = join_texts(text, chunk.text)
    return replace(best, chunk=replace(best.chunk, text=text))


def join_texts(first: str, second: str) -> str:
    """Joins two adjacent passages, without the head that the second repeats."""
    lines, following = first.split("\n"), second.split("\n")
    code = _repeated_fence(lines, following)
    if code:
        return "\n".join((*lines[:-1], *following[code:]))
    repeated = _repeated_head(lines, following)
    if repeated:
        return "\n".join((first, *following[repeated:]))
    last = lines[-1].strip()
    goes_on = following[0][:1].islower() and last and last[-1] not in ".!?:|`"
    return f"{first} {second}" if goes_on else f"{first}\n\n{second}"


def _repeated_head(lines: Sequence[str], following: Sequence[str]) -> int:
    """Counts the lines that a passage repeats so that it can be read alone: a table's head and its lead-in, a list's
    lead-in, the item around others.
    """
    for start in reversed(range(len(lines))):
        if lines[start] != following[0]:
            continue
        pairs = zip(lines[start:], following[:-1], strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        between, then = lines[start + shared :], following[shared]
        if following[shared - 1].lstrip().startswith("|"):
            return shared if lines[-1].lstrip().startswith("|") else 0
        goes_on = _ITEM.match(then) or (_ITEM.match(following[0]) and _indent(then) > _indent(following[0]))
        if goes_on and between and _within_list(following[0], between):
            return shared
    return 0


def _repeated_fence(lines: Sequence[str], following: Sequence[str]) -> int:
    """Counts the lines, lead-in and fence, after which a passage goes on with the code that ends the one before.

    Without a lead-in it may be other code.
    """
    fence = next((number for number, line in enumerate(following) if _FENCE.match(line)), 0)
    if not fence or not _FENCE.fullmatch(lines[-1]):
        return 0
    head = following[: fence + 1]
    for start in reversed(range(len(lines) - len(head))):
        if lines[start : start + len(head)] == head:
            body = lines[start + len(head) : -1]
            return 0 if any(map(_FENCE.match, body)) else len(head)
    return 0


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _within_list(head: str, lines: Sequence[str]) -> bool:
    """Whether all lines belong to the list below `head`, which leads it in or is an item around it."""
    nested = _ITEM.match(head) is not None

    def belongs(before: str, line: str) -> bool:
        if not line.strip() or _indent(line) > _indent(head):
            return True
        # An item's text may continue in the next line without an indent.
        return not nested if _ITEM.match(line) else bool(before.strip())

    return all(belongs(before, line) for before, line in pairwise(["", *lines]))


def strip_injections_in(hits: Sequence[Hit]) -> list[Hit]:
    """Strips prompt injections: a page is data, and its orders to an assistant are not followed."""
    cleaned = [replace(hit, chunk=replace(hit.chunk, text=strip_injections(hit.chunk.text))) for hit in hits]
    return [hit for hit in cleaned if hit.chunk.text.strip()]
