"""The answer and its parts: sentences, citations, quotes, warnings, and the trace of how it came about.

Frozen and keyword-only, as all nouns (see `kb.models`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from kb.calibration import Reranking
from kb.marked import is_block, marked_markdown
from kb.models import Chunk, Hit, Outcome, Page, Rewrite

Mode = Literal["model", "extractive"]
Freshness = Literal["current", "outdated", "superseded", "undated"]
WarningKind = Literal["outdated", "superseded", "conflict", "undated"]
FreshnessReason = Literal[
    "current",
    "superseded",
    "older_version",
    "retired",
    "expired",
    "review_overdue",
    "old_review",
    "old_edit",
    "undated",
    "conflict",
]
Note = Literal[
    "extractive mode",
    "model unavailable",
    "model refused",
    "reranker unavailable",
    "history unavailable",
    "thread unread",
    "files unread",
    "sentences removed",
    "shortened",
    "pages' language",
    "nothing more",
]
JudgeStatus = Literal["off", "judged", "late", "failed"]
"""late, failed: the answer was checked by the letter alone."""
SmallTalk = Literal["greeting", "thanks", "who_are_you", "goodbye"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """A source of the answer. `n` is its number in the answer's sentences: [1], [2].

    `score`: the probability (0..1) that it supports what cites it; None where nothing measured that.
    """

    n: int
    chunk: Chunk
    quote: str
    score: float | None
    freshness: Freshness

    @property
    def date(self) -> date | None:
        dates = self.chunk.page.dates
        return dates.reviewed or dates.edited


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """A sentence (or list item, or table) of an answer and the numbers of the citations that support it."""

    text: str
    citations: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Quote:
    """Whole blocks of one passage, to the letter: a paragraph, a list with its lead-in, a table, code.

    `blocks` are Markdown. `best` stands in one of them and is what was asked for; "" where all is, or nothing leads
    clearly. `shown` and `total` count the rows or items of a block that was too long ("3 of 7 rows"); both are 0 where
    nothing was left out. `part` is the question that it answers where several were asked.
    """

    citation: Citation
    blocks: tuple[str, ...]
    best: str = ""
    shown: int = 0
    total: int = 0
    part: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerWarning:
    """Why a cited page may be wrong. `date` is the one that `reason` refers to: of the missed review, of the last edit.

    `text` is plain English for programs and terminals; a renderer writes its own in the reader's language.
    `carries`: most of the answer rests on this page. `disputed`, for a conflict: the numbers of the two citations
    that disagree, the newer page's first; `page` is the older one.
    """

    kind: WarningKind
    reason: FreshnessReason
    page: Page
    date: date | None
    text: str
    carries: bool = False
    disputed: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class NearestPage:
    title: str
    url: str
    owner: str | None = None
    page_id: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """Sentences by the result of the citation check; lead-ins that state nothing do not count.

    `cited`: came with a citation. `supported`: were kept with one. `removed`: were not supported. `dropped_citations`:
    citation markers that pointed at no passage.
    """

    sentences: int
    cited: int
    supported: int
    removed: int
    dropped_citations: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """Records how an answer came about, for "Why this answer?", debug logs and evaluation."""

    rewrite: Rewrite
    hits: tuple[Hit, ...] = ()
    context: tuple[str, ...] = ()
    """Words of the thread that were searched along with the question."""
    context_share: float = 0.0
    """The share (0..1) of its weight with which that query counted: the better the question found alone, the less."""
    anchors: tuple[str, ...] = ()
    anchor_reason: str = ""
    decision: str = ""
    removed_sentences: tuple[str, ...] = ()
    removed_reasons: tuple[str, ...] = ()
    """The reason for each of them, in their order."""
    checked: Checked | None = None
    """None where nothing was drafted."""
    searches: tuple[str, ...] = ()
    """Queries that the model searched for by itself."""
    judge: JudgeStatus = "off"
    reranking: Reranking | None = None
    """The cross-encoder's trial on these pages; None without a trial, or where a setting fixes its weight."""
    read_pages: tuple[str, ...] = ()
    """Ids of the pages that a model has read: its sentences, kept or removed, may contain what they say."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """One answer. `text` joins the `sentences`."""

    question: str
    outcome: Outcome
    mode: Mode
    language: str
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    quotes: tuple[Quote, ...] = ()
    """Passages quoted where no model writes; one short quote of the closest passage where no page answers."""
    left_open: str = ""
    """The part of the question that the pages leave open, in the model's words; "" where there is none."""
    unfound: tuple[str, ...] = ()
    """The parts of a question in several parts for which nothing was found."""
    warnings: tuple[AnswerWarning, ...] = ()
    nearest: tuple[NearestPage, ...] = ()
    notes: tuple[Note, ...] = ()
    """What was degraded while answering; a renderer words it in the reader's language."""
    small_talk: SmallTalk | None = None
    """Set when `outcome` is "chat"."""
    interpretations: tuple[str, ...] = ()
    """Two or three interpretations of an "unclear" question; () where none can be offered."""
    confidence: float = 0.0
    trace: Trace
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    pointed: bool = False
    """The question is somebody else's: whoever asked only pointed at it ("do you know?")."""

    @property
    def text(self) -> str:
        """Markdown without citation numbers. A sentence that is a block (list item, table) has its own line."""
        return join_sentences([sentence.text for sentence in self.sentences])

    @property
    def marked_text(self) -> str:
        """The text with citation numbers, for displays that cannot link them: "25 days a year. [1]"."""
        return marked_markdown(self.sentences, "[{}]".format)

    @property
    def closest_page(self) -> NearestPage | None:
        """The nearest page where no page answers: the quoted one, else the first."""
        if not self.quotes:
            return self.nearest[0] if self.nearest else None
        page = self.quotes[0].citation.chunk.page
        return NearestPage(title=page.title, url=page.url, owner=page.owner, page_id=page.id)

    @property
    def rewritten(self) -> str | None:
        return self.trace.rewrite.query if self.trace.rewrite.needs_rewrite else None

    @property
    def interpreted(self) -> str | None:
        """The rewrite, where it may be shown to a reader; for a question that was pointed at, that question."""
        shown = self.rewritten if self.trace.rewrite.readable else None
        return shown or (self.question if self.pointed else None)


def join_sentences(sentences: Sequence[str]) -> str:
    """Joins sentences to running text; block-level Markdown (lists, tables, fences) starts on a line of its own."""
    joined = ""
    for sentence in sentences:
        block = is_block(sentence)
        if joined:
            joined += "\n" if block or is_block(joined.rsplit("\n", 1)[-1]) else " "
        joined += sentence
    return joined
