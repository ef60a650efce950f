"""The port to the vector index. Two real engines implement it and pass one contract suite: `embedded`, `server`.

The engines are the only owners of payload field names. A search is one engine call: every candidate that any leg
finds comes back with its dense and its lexical score for every query, so that scores can be blended honestly (a
passage found by one leg only is not a zero in the other).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from kb.calibration import Calibration
from kb.index.word_counts import WordCounts
from kb.models import Audience, Chunk, Page

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, slots=True)
class SparseVector:
    """Term ids (unsigned 32-bit) and their weights, both of the same length."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexedChunk:
    """A chunk and its vectors, as they go into the index."""

    chunk: Chunk
    dense: Sequence[float]
    lexical: SparseVector


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryVectors:
    """One wording of the question as vectors."""

    dense: Sequence[float]
    lexical: SparseVector


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundScores:
    """The scores of all passages that the legs found, a row each, before any of them is read.

    `dense` and `lexical`: shape (passages, queries), the queries in their order. `anchored`: shape
    (passages,), True for passages of the anchor pages.
    """

    dense: NDArray[np.float64]
    lexical: NDArray[np.float64]
    anchored: NDArray[np.bool_]


Choose: TypeAlias = Callable[[FoundScores], Sequence[int]]
"""The rows of the passages that are wanted. May be called in any thread,
and again where pages were replaced meanwhile.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A passage that a leg found. `dense` and `lexical` have one score for each query of the search, in its order.

    `row`: its place in `FoundScores`.
    """

    chunk: Chunk
    dense: tuple[float, ...]
    lexical: tuple[float, ...]
    row: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredPassage:
    """A passage and its dense vector, as the index holds them."""

    chunk: Chunk
    dense: Sequence[float]


@dataclass(frozen=True, kw_only=True, slots=True)
class PagesWanted:
    """Pages by what they say of themselves. Names as
    `kb.pages.versions.as_name` makes them, series as `series_of` does.
    """

    named: tuple[str, ...] = ()
    replacing: tuple[str, ...] = ()
    """Pages that say they replace a page of one of these names."""
    series: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        return not (self.named or self.replacing or self.series)


@dataclass(frozen=True, kw_only=True, slots=True)
class PageAddress:
    """Which page it is, to an operator: by its id, where a reader opens it, and its title."""

    page_id: str
    url: str
    title: str


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexCounts:
    pages: int
    chunks: int


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexManifest:
    """What an index was built with. A different one means: rebuild, never mix."""

    embedder: str
    dimension: int
    chunker: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PageHeld:
    """What a generation holds of a page: its revision ("" after a write
    that was cut off), how many passages, and which.
    """

    revision: str
    passages: int
    ids: int
    """The ids of the passages as one number: equal ones name the same passages."""


class IndexWriter(Protocol):
    """Writes into one generation of the index: the live one, or one that is being built beside it."""

    async def replace_pages(self, pages: Mapping[str, Sequence[IndexedChunk]]) -> None:
        """Puts each page's chunks, by its id, in the place of whatever the index held of it. Idempotent.

        A search meets each page before or after, never without its passages. Not all pages change at the same moment.
        """

    async def delete_pages(self, page_ids: Sequence[str]) -> None:
        """Removes every chunk of these pages. Unknown ids are fine."""

    async def revisions(self) -> Mapping[str, str]:
        """Returns page id -> revision of every page that this generation holds."""

    async def counts(self) -> IndexCounts: ...

    async def addresses(self) -> Sequence[PageAddress]:
        """Returns every page that this generation holds, whoever may read it: for operators, never for an answer."""

    async def inventory(self) -> Mapping[str, PageHeld]:
        """Returns what this generation holds of each page, by the page's id."""

    async def stored(self, page_ids: Sequence[str]) -> Sequence[IndexedChunk]:
        """Returns every passage of these pages with vectors, whoever may read it: for copies, never for an answer."""

    async def calibrate(self, calibration: Calibration) -> None:
        """Keeps with this generation what was measured on it. Nothing is kept with an index that was never filled."""


class Searchable(Protocol):
    """What can be searched: the live index, or a generation beside it that is being looked at."""

    async def search(
        self,
        queries: Sequence[QueryVectors],
        *,
        audience: Audience,
        limit: int,
        anchor_pages: Sequence[str] = (),
        made_with: str | None = None,
        choose: Choose | None = None,
    ) -> list[Candidate]:
        """Returns every leg's best `limit` passages, or those of them that `choose` wants, in no particular order.

        Scores come first; passages are read after `choose`, for they are most of what a search costs. Both show the
        same moment: a page that is replaced in between is met before or after. One that is deleted in between is
        absent.

        Legs: {dense, lexical} x queries and, where `anchor_pages` are given, the same restricted to these pages. The
        audience filter stands in every leg: what the audience may not read is never fetched. `made_with`: the embedder
        of the queries' vectors, by its name in the manifest.

        Raises:
            IndexMismatchError: what would be searched was made with another embedder than `made_with`.
        """

    async def languages(self) -> Sequence[str]:
        """Returns the ISO 639-1 codes of the pages in the index, most frequent first."""

    async def calibration(self) -> Calibration | None:
        """Returns what was measured on this generation; None where nothing was. Cheap: read at every question."""

    async def sample(self, limit: int) -> Sequence[StoredPassage]:
        """Returns up to `limit` passages from all over, whoever may read them: for measuring, never for an answer. The
        same as long as the index is the same.
        """


class Rebuild(IndexWriter, Searchable, Protocol):
    """A generation beside the live one, that answers nobody yet."""

    async def swap(self) -> None:
        """Makes this generation the live one, atomically: a search sees all of the old or all of the new."""

    async def discard(self) -> None:
        """Drops this generation; the live one is untouched."""


class Previous(Rebuild, Protocol):
    """The generation that was live before."""

    async def manifest(self) -> IndexManifest: ...


class Copy(IndexWriter, Protocol):
    """A generation that is filled from elsewhere. It stays until it is
    swapped in or dropped, whatever ends the process.
    """

    async def swap(self) -> None:
        """Makes it the live one, atomically."""

    async def complete(self) -> None:
        """Ends the copy, into which nothing more is written."""

    async def leave(self) -> None:
        """Closes the copy as it is. If a later one was swapped in, it is the generation before the live one."""


class VectorIndex(IndexWriter, Searchable, Protocol):
    """The live index. Every method raises `IndexUnavailableError` when the engine does not answer."""

    async def pages(self, wanted: PagesWanted, *, audience: Audience) -> Sequence[Page]:
        """Returns every page that the audience may read and that fits one of the wishes, in no particular order."""

    async def every_page(self) -> Sequence[Page]:
        """Returns every page once, whoever may read it: for operators and their figures, never for an answer."""

    async def readable(self, page_ids: Collection[str], *, audience: Audience) -> frozenset[str]:
        """Returns those of the pages that are in the index and that the audience may read, as they are limited now."""

    async def neighbours(
        self, spots: Mapping[str, Collection[int]], *, audience: Audience
    ) -> Sequence[Chunk]:
        """Returns the passages at these positions of these pages (by id) that the audience may read, unordered.

        A position that a page does not have is absent, and so is a page that is gone.
        """

    def passages(
        self, *, audience: Audience, of_pages: Sequence[str] | None = None
    ) -> AsyncIterator[Sequence[Chunk]]:
        """Yields every passage that the audience may read, or those of these pages (by id) alone, in batches, in no
        particular order.
        """

    async def manifest(self) -> IndexManifest | None:
        """Returns what the live generation was built with; None while it is empty."""

    async def begin_rebuild(self, manifest: IndexManifest) -> Rebuild:
        """Starts a generation beside the live one. One that an earlier, killed rebuild left behind is dropped."""

    async def open_previous(self) -> Previous | None:
        """Opens the generation before the live one, for a rollback. Its `swap` makes it live, `discard` leaves it as it
        is.
        """

    async def begin_copy(self, label: str, manifest: IndexManifest) -> Copy:
        """Resumes the unfinished copy of this label, or starts one. Later ones of the same index come after earlier
        ones.
        """

    async def others(self, labels: Collection[str]) -> Sequence[str]:
        """Names the generations other than unfinished copies of these labels: what another index has here."""

    @property
    def words(self) -> WordCounts:
        """How common words are on the live generation's pages that everyone
        may read, as far as they are counted. Never waits.
        """

    async def count_words(self) -> None:
        """Brings `words` up to what the index holds. Nothing to do for whoever wrote
        all of it; else read from beside the pages, or, where that cannot be trusted
        (an earlier version, kill -9), counted anew while others read and write.
        """

    async def settle(self) -> None:
        """Ends a time of writing: from here on the loss of anything in the index is noticed."""

    async def close(self) -> None: ...
