"""From a model's reply to sentences that know their passages: native citations, or [n] markers. Bounds are checked."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kb.llm.stream import TextBlock
from kb.models import Chunk
from kb.text.sentences import TextUnit, split_units

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_MARKER = re.compile(r"(?<![ \t])[ \t]*+(?:\[|【)(\^?\d{1,3}(?:\s*[,;–-]\s*\^?\d{1,3})*)(?:\]|】)(?![(\[:])")
_ADJACENT = re.compile(r"\](?=\[\d)")
ELLIPSIS = " … "
"""Between the parts of a quote that stand apart on the page."""


Reason = Literal[
    "number", "date", "weekday", "name", "quote", "link", "uncited", "lead-in", "contradicted", "not there"
]
"""The last two are the judge's; a lead-in goes when everything that it leads in has gone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftSentence:
    """A sentence, list item, table row or fence, and the passages that it cites.

    `cites`: the ids of their chunks, each once. `quotes` has one entry for each of them, in the same order: the
    passage's own words that carry the sentence, or "" where the whole passage is meant.
    """

    text: str
    cites: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Removed:
    text: str
    reason: Reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Marked:
    """`dropped`: citations that point at nothing."""

    sentences: tuple[DraftSentence, ...]
    dropped: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SplitPassage:
    """A passage, by its chunk's `id`, and the units in which the model saw it: a citation is of whole units."""

    id: str
    text: str
    units: tuple[TextUnit, ...]

    @classmethod
    def of(cls, chunk: Chunk) -> SplitPassage:
        return cls(id=chunk.id, text=chunk.text, units=tuple(split_units(chunk.text)))

    def quote(self, cited: Sequence[int]) -> str:
        """Returns the page's own words for these units; where units lie between them, an ellipsis does."""
        runs: list[list[int]] = []
        for index in sorted(set(cited)):
            if runs and index == runs[-1][-1] + 1:
                runs[-1].append(index)
            else:
                runs.append([index])
        return ELLIPSIS.join(self.text[self.units[run[0]].start : self.units[run[-1]].end] for run in runs)


def from_citations(blocks: Sequence[TextBlock], passages: Sequence[SplitPassage]) -> Marked:
    """Returns the sentences of a natively cited reply.

    A citation counts for every sentence that its text block has words in.
    """
    text, spans, dropped = "", [], 0
    for block in blocks:
        start, text = len(text), text + block.text
        valid = [
            citation
            for citation in block.citations
            if _in_bounds(citation.passage, citation.first, citation.end, passages)
        ]
        dropped += len(block.citations) - len(valid) + block.unusable
        spans += [
            (start, len(text), citation.passage, range(citation.first, citation.end)) for citation in valid
        ]
    sentences = []
    starts, ends = [span[0] for span in spans], [span[1] for span in spans]
    for unit in split_units(text):
        cited: dict[int, list[int]] = {}
        touching = spans[bisect_right(ends, unit.start) : bisect_left(starts, unit.end)]
        for start, end, passage, indices in touching:
            if re.search(r"\w", text[max(start, unit.start) : min(end, unit.end)]):
                cited.setdefault(passage, []).extend(indices)
        sentences.append(
            DraftSentence(
                text=one_line(unit),
                cites=tuple(passages[index].id for index in cited),
                quotes=tuple(passages[index].quote(units) for index, units in cited.items()),
            )
        )
    return Marked(sentences=tuple(sentences), dropped=dropped)


def from_markers(text: str, passages: Sequence[str]) -> Marked:
    """Returns the sentences of a reply that has [1], [1, 2], [1-3] or [1][2] behind them.

    `passages`: chunk ids; 1 is the first of them.
    """
    bare, marks = _take_markers(text)
    units = split_units(bare)
    starts, ends = [unit.start for unit in units], [unit.end for unit in units]
    cited: list[dict[str, None]] = [{} for _ in units]
    dropped = 0
    for position, number in marks:
        owner = _owner(starts, ends, bare, position)
        if 1 <= number <= len(passages) and owner is not None:
            cited[owner][passages[number - 1]] = None
        else:
            dropped += 1
    return Marked(
        sentences=tuple(
            DraftSentence(text=one_line(unit), cites=tuple(ids), quotes=("",) * len(ids))
            for unit, ids in zip(units, cited, strict=True)
        ),
        dropped=dropped,
    )


def _in_bounds(passage: int, first: int, end: int, passages: Sequence[SplitPassage]) -> bool:
    return 0 <= passage < len(passages) and 0 <= first < end <= len(passages[passage].units)


def _take_markers(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Returns the text without markers, and each marker's place in it and number."""
    text = _ADJACENT.sub("] ", text)
    code = [match.span() for match in _CODE.finditer(text)]
    bare, end, marks, next_code = "", 0, [], 0
    for match in _MARKER.finditer(text):
        while next_code < len(code) and code[next_code][1] <= match.start():
            next_code += 1
        if next_code < len(code) and code[next_code][0] < match.end():
            continue
        bare += text[end : match.start()]
        end = match.end()
        if not bare or bare.endswith("\n"):
            end += len(text[end:]) - len(text[end:].lstrip(" \t"))
        marks += [(len(bare), number) for number in _numbers(match.group(1))]
    return bare + text[end:], marks


def _numbers(listed: str) -> list[int]:
    numbers: list[int] = []
    for part in re.split(r"\s*[,;]\s*", listed.replace("^", "")):
        first, *rest = (int(figure) for figure in re.split(r"\s*[–-]\s*", part))
        last = rest[-1] if rest else first
        numbers.extend(range(first, last + 1) if first <= last <= first + 20 else (first, last))
    return numbers


def _owner(starts: Sequence[int], ends: Sequence[int], bare: str, position: int) -> int | None:
    """Returns the unit before the marker on its line, else the one that starts after it."""
    line_start = bare.rfind("\n", 0, position) + 1
    if bare[line_start:position].strip():
        before = bisect_left(starts, position)
        return before - 1 if before else None
    after = bisect_right(ends, position)
    return after if after < len(ends) and bare[position:].strip() else (len(ends) - 1 if ends else None)


def one_line(unit: TextUnit) -> str:
    """Joins soft line breaks within a sentence; within blocks they have a meaning."""
    return " ".join(unit.text.split()) if unit.kind == "sentence" else unit.text
