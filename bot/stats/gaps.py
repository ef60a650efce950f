"""Finds gaps in the pages: questions that were declined, only given the closest passage, voted down or reported as
missing, grouped by similarity.

Nothing is kept for it: gaps are read from the questions' records, so what is forgotten is in no gap. A gap whose
questions were all asked privately is only counted; its nearest page is named once so many people asked that it tells of
none of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bot.questions.answer_record import AskedQuestion
from bot.stats.analytics import Analytics
from bot.stats.gap import Gap, OpenGaps, age, gap_of, is_gap, rank, searched
from kb.conflicts.similarity import EmbeddingSimilarity
from kb.index.port import VectorIndex
from kb.models import Audience, Question
from kb.pipeline import Pipeline

ALIKE = 0.5
"""Mean similarity to a gap's questions from which one belongs to it. Of 45
questions in 19 groups it finds 3 of 4 pairs of wordings; of 900 pairs that
are none it takes 4 for one, such as the hotel price in London and in Berlin."""
SAME = 0.85
"""Similarity from which an answered question closes a gap: London is not Berlin (0.77)."""
LATEST = 3000
"""Questions that are looked at."""
HIDDEN_BELOW = 3
"""A gap that was only asked privately by fewer people names no page: it could tell who asked."""


StillPublic = Callable[[str], Awaitable[bool]]
"""Whether everybody in the workspace may read a channel now: it can have been made private since."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gaps:
    records: Analytics
    similarity: EmbeddingSimilarity
    pages: VectorIndex

    async def open(
        self,
        *,
        audience: Audience | None = None,
        still_public: StillPublic | None = None,
        terminal: bool = True,
    ) -> OpenGaps:
        """Returns the gaps, as somebody may read them. None as `audience`: an operator, who may read the whole index.

        Raises:
            UnavailableError: the records, the embedder or the index do not answer.
        """
        still_open, _ = await self._parted()
        public = await _public(still_open, still_public, terminal=terminal)
        grouped = [gap_of(group, public) for group in await self._grouped(still_open)]
        readable = await self._readable(grouped, audience)
        shown = [gap for gap in grouped if gap.wordings or gap.askers >= HIDDEN_BELOW]
        hidden = [gap for gap in grouped if gap not in shown]
        return OpenGaps(
            gaps=tuple(sorted((_with_pages(gap, readable) for gap in shown), key=rank)),
            hidden=sum(gap.times for gap in hidden),
            hidden_people=len({question.record.asked_in.user for gap in hidden for question in gap.asked}),
        )

    async def closed(self) -> list[Gap]:
        """Returns gaps that are closed, the last closed first: the same question was answered later, or asking
        again found an answer."""
        _, closed = await self._parted()
        public = await _public(closed, None, terminal=True)
        gaps = [gap_of(group, public) for group in await self._grouped(closed)]
        return sorted(
            gaps, key=lambda gap: (gap.closed_at or gap.last, gap.asked[0].question_id), reverse=True
        )

    async def look_again(self, answerer: Pipeline, *, most: int = 50) -> int:
        """Asks the open ones anew, as anybody might, and closes those that are answered by now. Returns their number.

        Those of private places are left out, since what may be told there differs, and so are those that had an answer,
        which was no good.
        """
        still_open, _ = await self._parted()
        by_text: dict[str, list[str]] = {}
        for question in reversed(still_open):
            record = question.record
            if record.asked_in.place != "private" and record.outcome != "answered":
                by_text.setdefault(searched(question), []).append(question.question_id)
        found: list[str] = []
        for text, ids in list(by_text.items())[:most]:
            answer = await answerer.answer(Question(id=ids[0], text=text))
            if answer.outcome == "answered":
                found += ids
        await self.records.close(found)
        return len(found)

    async def _parted(self) -> tuple[list[AskedQuestion], list[AskedQuestion]]:
        """Returns the questions that are gaps, oldest first, and those that were; records which ones are now closed."""
        asked = sorted(await self.records.asked(LATEST), key=age)
        gaps = [question for question in asked if is_gap(question)]
        noted = [gap for gap in gaps if gap.closed_at is not None]
        rest = [gap for gap in gaps if gap.closed_at is None]
        answered = [
            question for question in asked if question.record.outcome == "answered" and not is_gap(question)
        ]
        again = await self._answered_since(rest, answered)
        ids = [gap.question_id for gap in again]
        await self.records.close(ids)
        return [gap for gap in rest if gap.question_id not in ids], [*noted, *again]

    async def _answered_since(
        self, gaps: Sequence[AskedQuestion], answered: Sequence[AskedQuestion]
    ) -> list[AskedQuestion]:
        if not gaps or not answered:
            return []
        row_of, similar = await self._compared([*gaps, *answered])
        same = similar >= SAME
        rows = [row_of[searched(question)] for question in answered]
        return [
            gap
            for gap in gaps
            if any(
                _closes(answered[int(row)], gap) for row in np.flatnonzero(same[row_of[searched(gap)], rows])
            )
        ]

    async def _grouped(self, asked: Sequence[AskedQuestion]) -> list[list[AskedQuestion]]:
        """Groups questions, oldest first, so that groups stay the same: each joins the one that it is most like."""
        row_of, alike = await self._compared(asked)
        groups: list[list[AskedQuestion]] = []
        sums = np.zeros((len(asked), len(row_of)), dtype=np.float32)
        sizes = np.zeros(len(asked))
        for question in asked:
            row = row_of[searched(question)]
            means = sums[: len(groups), row] / sizes[: len(groups)]
            best = int(means.argmax()) if groups else 0
            if not groups or means[best] < ALIKE:
                best = len(groups)
                groups.append([])
            groups[best].append(question)
            sums[best] += alike[row]
            sizes[best] += 1
        return [_central_first(group, alike, row_of) for group in groups]

    async def _compared(self, asked: Sequence[AskedQuestion]) -> tuple[dict[str, int], NDArray[np.float32]]:
        """Returns the row of each text, and how similar the texts are among each other."""
        texts = list(dict.fromkeys(map(searched, asked)))
        return {text: row for row, text in enumerate(texts)}, await self.similarity.among(texts)

    async def _readable(self, gaps: Sequence[Gap], audience: Audience | None) -> frozenset[str] | None:
        if audience is None:
            return None
        pages = {gap.nearest.page_id for gap in gaps if gap.nearest is not None}
        return await self.pages.readable(sorted(pages), audience=audience) if pages else frozenset()


def _closes(answered: AskedQuestion, gap: AskedQuestion) -> bool:
    """Returns whether a later answer closes a gap: those who asked may read it, and it was not given before."""
    if age(answered) <= age(gap) or not _reaches(answered, gap):
        return False
    return (
        gap.record.outcome != "answered"
        or "good" in answered.votes.values()
        or answered.record.cited != gap.record.cited
    )


def _reaches(answered: AskedQuestion, gap: AskedQuestion) -> bool:
    """Returns whether those who asked may read an answer: it is public, or was given in their own channel."""
    return answered.record.asked_in.place == "public" or (
        answered.record.asked_in.channel == gap.record.asked_in.channel
        and answered.record.asked_in.place == gap.record.asked_in.place
    )


async def _public(
    asked: Iterable[AskedQuestion], still_public: StillPublic | None, *, terminal: bool
) -> frozenset[str]:
    """Returns the ids of the questions whose words may be shown."""
    places = {
        question.question_id: question.record.asked_in
        for question in asked
        if question.record.asked_in.place == "public"
        or (terminal and question.record.asked_in.place == "terminal")
    }
    if still_public is None:
        return frozenset(places)
    channels = {where.channel for where in places.values() if where.place == "public"}
    open_now = {channel for channel in channels if await still_public(channel)}
    return frozenset(
        question_id
        for question_id, where in places.items()
        if where.place == "terminal" or where.channel in open_now
    )


def _with_pages(gap: Gap, readable: frozenset[str] | None) -> Gap:
    if readable is None or gap.nearest is None or gap.nearest.page_id in readable:
        return gap
    return replace(gap, nearest=None)


def _central_first(
    group: Sequence[AskedQuestion], alike: NDArray[np.float32], row_of: dict[str, int]
) -> list[AskedQuestion]:
    """Sorts the group: the question that is most like the others stands for them."""
    rows = [row_of[searched(question)] for question in group]
    return sorted(
        group, key=lambda question: -round(float(alike[row_of[searched(question)], rows].mean()), 4)
    )
