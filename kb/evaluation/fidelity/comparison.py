"""What of a reading another one lost, added and moved. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields

from kb.evaluation.fidelity.reading import Cell, Reading, words_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """How many things the original has, and how many of them the index."""

    all: int = 0
    kept: int = 0

    @property
    def share(self) -> float | None:
        return self.kept / self.all if self.all else None

    def __add__(self, other: Kept) -> Kept:
        return Kept(all=self.all + other.all, kept=self.kept + other.kept)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fidelity:
    """How much of a file the index holds, or of several together. What is lost, added and moved is in the order of the
    text; `lost` has the numbers too.
    """

    words: Kept = Kept()
    numbers: Kept = Kept()
    cells: Kept = Kept()
    code: Kept = Kept()
    dates: Kept = Kept()
    apart: int = 0
    """Words left out on purpose."""
    lost: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    lost_cells: tuple[str, ...] = ()
    lost_code: tuple[str, ...] = ()

    def __add__(self, other: Fidelity) -> Fidelity:
        return Fidelity(
            **{kind.name: getattr(self, kind.name) + getattr(other, kind.name) for kind in fields(Fidelity)}
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """What the index holds of a file: its page in reading order, and all of its passages, which repeat headers.

    `repeated`: no additions: the title, which may stand in the file's name or front matter alone, and headings that are
    told twice.
    """

    page: Reading
    passages: Reading
    repeated: str = ""


@dataclass(slots=True)
class _Sides:
    original: list[str]
    page: list[str]
    passages: Counter[str] = field(default_factory=Counter)


def compared(original: Reading, held: Held) -> Fidelity:
    """Compares two readings. A word is kept if the page and its passages have it as often as the original does."""
    sides = _joined(original, held)
    wanted, page = Counter(sides.original), Counter(sides.page)
    lost = wanted - (page & sides.passages)
    pardoned = Counter(original.apart) + Counter(held.page.apart) + Counter(words_of(held.repeated))
    pardoned += Counter(original.repeated)
    added = (page | _new(sides.passages, page)) - wanted - pardoned
    lost_numbers = Counter(original.numbers) - (_numbers(held.page) & _numbers(held.passages))
    words, lost_words = _with_letters(wanted), _with_letters(lost)
    cells, lost_cells = _cells(original.cells, held.passages)
    code = Counter(original.code)
    lost_code = code - Counter(held.page.code)
    dates = Counter(original.dates)
    return Fidelity(
        words=Kept(all=words.total(), kept=words.total() - lost_words.total()),
        numbers=Kept(all=len(original.numbers), kept=len(original.numbers) - lost_numbers.total()),
        cells=Kept(all=len(original.cells), kept=cells),
        code=Kept(all=code.total(), kept=code.total() - lost_code.total()),
        dates=Kept(all=dates.total(), kept=(dates & Counter(held.passages.dates)).total()),
        apart=(Counter(original.apart) - (page - wanted)).total(),
        lost=(*_in_order(sides.original, lost_words), *_in_order(original.numbers, lost_numbers)),
        added=tuple(_in_order(sides.page, added)),
        moved=tuple(_moved(sides.original, sides.page)),
        lost_cells=tuple(lost_cells),
        lost_code=tuple(_in_order(original.code, lost_code)),
    )


def _numbers(reading: Reading) -> Counter[str]:
    return Counter(reading.numbers) + Counter(reading.marks)


def _with_letters(words: Counter[str]) -> Counter[str]:
    """Returns the words that have letters: numbers are compared whole, with their signs and separators."""
    return Counter({word: number for word, number in words.items() if not word.isdigit()})


def _new(passages: Counter[str], page: Counter[str]) -> Counter[str]:
    """Returns the words of the passages that the page has nowhere; those that it has are repeated on purpose."""
    return Counter({word: number for word, number in passages.items() if word not in page})


def _joined(original: Reading, held: Held) -> _Sides:
    """Joins words cut at a line's end, or leaves them two: in whichever form the other side has them."""
    theirs, ours = list(original.words), list(held.page.words)
    passages = Counter(held.passages.words)
    theirs = _mended(theirs, original.broken, Counter(ours))
    ours = _mended(ours, held.page.broken, Counter(theirs))
    for first, second in held.passages.broken:
        if first + second in theirs and passages[first] and passages[second]:
            passages -= Counter((first, second))
            passages[first + second] += 1
    return _Sides(original=theirs, page=ours, passages=passages)


def _mended(words: list[str], broken: Iterable[tuple[str, str]], others: Mapping[str, int]) -> list[str]:
    whole = {pair for pair in broken if others.get("".join(pair))}
    if not whole:
        return words
    mended: list[str] = []
    for word in words:
        if mended and (mended[-1], word) in whole:
            mended[-1] += word
        else:
            mended.append(word)
    return mended


def _cells(wanted: Iterable[Cell], given: Reading) -> tuple[int, list[str]]:
    """Counts the cells that stand in a table under one of their headers; returns the others as "header: value"."""
    left: Counter[tuple[str | None, str]] = Counter((None, cell.value) for cell in given.cells)
    # Of a table without headers the first line stands in their place.
    left.update((None, head) for head in given.heads)
    left.update((header, cell.value) for cell in given.cells for header in cell.headers or ("",))
    kept, lost = 0, []
    for cell in wanted:
        headers: Iterable[str | None] = cell.headers or (None,)
        keys = [(header, cell.value) for header in headers]
        found = next((key for key in keys if left[key] > 0), None)
        if found is None:
            lost.append(f"{max(cell.headers, key=len, default='')}: {cell.value}")
        else:
            left[found] -= 1
            kept += 1
    return kept, lost


def _in_order(words: Iterable[str], counts: Counter[str]) -> Iterable[str]:
    left = counts.copy()
    for word in words:
        if left[word] > 0:
            left[word] -= 1
            yield word
    yield from (word for word, number in left.items() for _ in range(number))


def _moved(original: Sequence[str], page: Sequence[str]) -> list[str]:
    """Returns the words that stand elsewhere, as told by what is unique in both: words, else three words in a row.

    The longest run of these that is in the same order in both stays where it is; the others moved.
    """
    places = _unique(page)
    wanted = _unique(original)
    anchors = sorted((place, places[key], key[0]) for key, place in wanted.items() if key in places)
    stay = _longest_rise([there for _, there, _ in anchors])
    return [word for position, (_, _, word) in enumerate(anchors) if position not in stay]


def _unique(words: Sequence[str]) -> dict[tuple[str, ...], int]:
    alone = Counter(words)
    places: dict[tuple[str, ...], int] = {}
    runs: Counter[tuple[str, ...]] = Counter()
    for position, word in enumerate(words):
        key = (word,) if alone[word] == 1 else tuple(words[position : position + 3])
        runs[key] += 1
        places[key] = position
    return {key: place for key, place in places.items() if runs[key] == 1}


def _longest_rise(values: Sequence[int]) -> set[int]:
    """Returns the positions of a longest increasing subsequence (patience sorting, O(n log n))."""
    tops: list[int] = []
    piles: list[int] = []
    before: list[int] = []
    for position, value in enumerate(values):
        pile = bisect_left(tops, value)
        before.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(value)
            piles.append(position)
        else:
            tops[pile], piles[pile] = value, position
    rise: set[int] = set()
    position = piles[-1] if piles else -1
    while position >= 0:
        rise.add(position)
        position = before[position]
    return rise
