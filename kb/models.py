"""The nouns of Footnote: what a page, a passage, a hit, a question and a turn are. `kb.answer` has the answer.

Everything here is frozen and keyword-only. Scores keep their provenance: `Scores` has one field a stage and none
is ever overwritten by a later one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from kb.spelled_out import spelled_out

EVERYONE = "*"
"""The principal of a page that anybody in the workspace may read."""
NOBODY = "-"
"""A principal that no page has: a filter must name one, since an engine may read an empty filter as none."""

Outcome = Literal["answered", "closest", "declined", "unclear", "unavailable", "chat"]
"""closest: no direct answer; the nearest passage is quoted. declined: not found, or a model says that no page tells."""
RewriteMethod = Literal["none", "heuristic", "model"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Audience:
    """Whom an answer reaches, and so which pages it may use.

    `channels` holds channel ids (`C0123`) and, where known, names with a hash (`#people-leads`); `groups` the user
    groups (`S0123`, `@finance`) of somebody who is answered alone. A page without a limit is for `everyone`, which
    people from outside the company are not; a page with one is told where it and the audience share a principal.
    `sources`: what a place wants to be told from, by name; empty: every source.
    """

    channels: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    everyone: bool = True
    sources: frozenset[str] = frozenset()

    @property
    def principals(self) -> list[str]:
        """The payload values that this audience may read, for the engine's filter. Sorted, never empty."""
        open_to_all = [EVERYONE] if self.everyone else []
        return [*open_to_all, *sorted(self.channels | self.groups)] or [NOBODY]

    def may_read(self, page_audience: Sequence[str]) -> bool:
        return not set(self.principals).isdisjoint(page_audience)


@dataclass(frozen=True, kw_only=True, slots=True)
class PageDates:
    """When a page was written, reviewed and due. All dates are calendar dates of the page's owner."""

    edited: date | None = None
    reviewed: date | None = None
    review_due: date | None = None
    expires: date | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Successor:
    """The page in the index that took a page's place. `version`: it is merely a later version of the same page."""

    id: str
    title: str
    url: str
    version: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """The fields that all chunks of a page share. `id` is stable over edits; `revision` hashes the content."""

    id: str
    source: str
    path: str
    title: str
    url: str
    place: str = ""
    """The folders that tell it from pages of the same title: "offices › Ghent". See `kb.pages.places`."""
    language: str = "en"
    revision: str = ""
    owner: str | None = None
    audience: tuple[str, ...] = (EVERYONE,)
    dates: PageDates = PageDates()
    superseded_by: str | None = None
    """The page that replaces this one, as its author wrote it: a path, a URL or a title."""
    replaces: tuple[str, ...] = ()
    """The pages that this one says it replaces: paths, URLs or titles."""
    retired: str | None = None
    """The author's own word for a page that is no longer kept up: "deprecated", "archived", "verouderd"."""
    version: str | None = None
    """The version or edition that the page says it is: "2", "2.1", "2026"."""
    successor: Successor | None = None
    """The page that replaces this one, as found in the index; not part of the page itself."""

    @property
    def heading(self) -> str:
        """The title, with the place that tells it from another page's: "Parking (offices › Ghent)"."""
        return f"{self.title} ({self.place})" if self.place else self.title

    @property
    def successor_title(self) -> str | None:
        """The title of the page that replaces this one, where it is a page that this reader may see.

        What the author wrote otherwise is not repeated in words of ours: a title or a path may be of a page that they
        are not to know of, and an address may lead anywhere.
        """
        return None if self.successor is None else self.successor.title


ACCEPTED_ANSWER = "Accepted answer"
"""The heading under which a thread's page has the answer that was accepted there; above it stands what was asked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """A passage: what is embedded, found, reranked and cited.

    `text` is the passage as it stands on the page (Markdown). `section` is the heading path without the page
    title, e.g. ("Annual leave", "Carry-over"). `url` leads to the section where the source has anchors.
    """

    id: str
    page: Page
    position: int
    text: str
    section: tuple[str, ...] = ()
    url: str

    @property
    def section_label(self) -> str:
        return " › ".join(self.section)

    @property
    def embedded_text(self) -> str:
        """The text for the embedder and BM25: title, place and heading path come first and tell the topic.

        Rows of tables have the names of their columns.
        """
        return "\n".join([" › ".join((self.page.heading, *self.section)), spelled_out(self.text)])


@dataclass(frozen=True, kw_only=True, slots=True)
class Scores:
    """One passage's scores, a field a stage. `None`: that stage did not run for it.

    `dense` is a standard score (`kb.retrieval.standard_scores`), `lexical` raw BM25 (>= 0), both the weighted mean over
    the queries; `fused` is their blend, `anchor` the gain for a passage of a page cited before, `rerank` the
    cross-encoder's 0..1, and `final` orders.
    """

    dense: float | None = None
    lexical: float | None = None
    fused: float = 0.0
    anchor: float = 0.0
    rerank: float | None = None
    final: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    chunk: Chunk
    scores: Scores


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrieved:
    """A passage that a turn used, without its text: enough to anchor the next question."""

    page_id: str
    chunk_id: str
    title: str
    cited: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One question of a thread and what Footnote answered; or, with `said_by`, what somebody else wrote there.

    What people write to each other is read for a question and kept nowhere.
    """

    question: str
    answer: str
    rewritten: str | None = None
    outcome: Outcome = "answered"
    topics: tuple[str, ...] = ()
    retrieved: tuple[Retrieved, ...] = ()
    asked_at: datetime | None = None
    question_ts: str | None = None
    said_by: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadKey:
    """The key of a conversation: a Slack thread, or a named thread of the command line."""

    team: str
    channel: str
    thread: str

    def __str__(self) -> str:
        return f"{self.team}:{self.channel}:{self.thread}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """The user's own words and the audience of the place where they were said."""

    id: str
    text: str
    audience: Audience = Audience()
    reply_in: str = ""
    """The language of the reply, ISO 639-1, where the place wants one; empty: the question's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rewrite:
    """A standalone query for a question; `query` equals the question where no rewrite was needed.

    `is_follow_up`: the question continues the answer right before (not merely: the thread has history).
    `clarify`: the question cannot be understood with what the thread holds; ask instead of guessing.
    `lost`: why a model's rewrite was not used, as a short code ("late"); "" where none was lost.
    `parts`: the questions that it asks where it asks several, each as a question that stands alone.
    `required`: terms that a rule resolved surely ("Day 4"); passages that hold them go before those that do not.
    `wants_more`: the person asks for what was not said yet ("tell me more", "any others?").
    `readable`: `query` is a sentence that a person would write, so it may be shown.
    `translated`: the query in the language that most pages are in; "" where it is in it, or no model wrote it.
    """

    query: str
    needs_rewrite: bool = False
    is_follow_up: bool = False
    topics: tuple[str, ...] = ()
    reasoning: str = ""
    confidence: float = 1.0
    method: RewriteMethod = "none"
    shift: bool = False
    clarify: bool = False
    lost: str = ""
    parts: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    wants_more: bool = False
    readable: bool = True
    translated: str = ""
