"""What Footnote replies, and what that is made of: sentences, their citations, warnings, and how it came about.

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
    """A source behind the answer. `n` is the mark that the answer's sentences carry: [1], [2].

    `score`: how likely it supports what cites it, 0..1; None where nothing measured that.
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

    `blocks` are Markdown. `best` stands in one of them and is what was asked for ("" where the whole is). `shown` and
    `total` count the rows or items of a block that was too long ("3 of 7 rows"); both are 0 where nothing was left out.
    `part` is the question that it answers where several were asked.
    """

    citation: Citation
    blocks: tuple[str, ...]
    best: str = ""
    shown: int = 0
    total: int = 0
    part: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerWarning:
    """Why a cited page deserves doubt. `date` is the one that `reason`
    speaks of: the review that was due, the last edit.

    `text` is plain English for programs and terminals; a renderer words its own in the reader's language.
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
    """What the check of an answer's citations found, in sentences; lead-ins that state nothing are none.

    `cited`: came with a citation. `supported`: were kept with one. `removed`: were not supported. `dropped_citations`:
    marks that pointed at no passage.
    """

    sentences: int
    cited: int
    supported: int
    removed: int
    dropped_citations: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """How an answer came about, for "Why this answer?", logs at debug, and evaluation."""

    rewrite: Rewrite
    hits: tuple[Hit, ...] = ()
    context: tuple[str, ...] = ()
    """Words of the thread that were searched along with the question."""
    context_share: float = 0.0
    """How much they counted, 0..1: the better the question found by itself, the less."""
    anchors: tuple[str, ...] = ()
    anchor_reason: str = ""
    decision: str = ""
    removed_sentences: tuple[str, ...] = ()
    removed_reasons: tuple[str, ...] = ()
    """Why each of them was, in their order."""
    checked: Checked | None = None
    """None where nothing was drafted."""
    searches: tuple[str, ...] = ()
    """What the model searched for by itself."""
    judge: JudgeStatus = "off"
    reranking: Reranking | None = None
    """How the cross-encoder did when it was tried on these pages; None
    where none was, or a setting says how much it counts.
    """
    read_pages: tuple[str, ...] = ()
    """Ids of the pages that a model has read: what it wrote, kept or removed, may say what they say."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What Footnote replies. `sentences` make up the text; `blocks` of them are joined by `text`."""

    question: str
    outcome: Outcome
    mode: Mode
    language: str
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    quotes: tuple[Quote, ...] = ()
    """What the pages say, where no model writes; one short one of the closest passage where the answer is not there."""
    left_open: str = ""
    """What the pages leave open of the question, in the model's words; "" where nothing is."""
    unfound: tuple[str, ...] = ()
    """The parts of a question in several parts for which nothing was found."""
    warnings: tuple[AnswerWarning, ...] = ()
    nearest: tuple[NearestPage, ...] = ()
    notes: tuple[Note, ...] = ()
    """What was degraded while answering. A renderer says it in the reader's language."""
    small_talk: SmallTalk | None = None
    """Set when `outcome` is "chat"."""
    interpretations: tuple[str, ...] = ()
    """What an "unclear" question may mean, two or three; () where nothing can be offered."""
    confidence: float = 0.0
    trace: Trace
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    pointed: bool = False
    """The question is somebody else's: whoever asked pointed at it ("do you know?")."""

    @property
    def text(self) -> str:
        """Markdown without citation marks. A sentence that is a block of
        its own (list item, table) has its own line.
        """
        return join_sentences([sentence.text for sentence in self.sentences])

    @property
    def marked_text(self) -> str:
        """The text with the marks of its citations, for places that cannot link them: "25 days a year. [1]"."""
        return marked_markdown(self.sentences, "[{}]".format)

    @property
    def closest_page(self) -> NearestPage | None:
        """Of those that come near without answering: the one that is quoted, else the first."""
        if not self.quotes:
            return self.nearest[0] if self.nearest else None
        page = self.quotes[0].citation.chunk.page
        return NearestPage(title=page.title, url=page.url, owner=page.owner, page_id=page.id)

    @property
    def rewritten(self) -> str | None:
        return self.trace.rewrite.query if self.trace.rewrite.needs_rewrite else None

    @property
    def interpreted(self) -> str | None:
        """The rewrite, where there is one that may be shown to a reader; of a question that was pointed at, itself."""
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
