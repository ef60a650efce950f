"""Makes `wordnet.txt.gz`, which `kb.citations.synonyms` reads, out of WordNet 3.0's own files.

    python -m kb.citations.wordnet_file FOLDER

FOLDER holds index.noun, data.noun, noun.exc, cntlist.rev and so on, in the form that wndb(5WN) tells. What is in the repository
was made of usr/share/wordnet of Debian's package wordnet-base (1:3.0-37), and comes out of it byte for byte; WordNet itself
is at https://wordnet.princeton.edu. Nothing that runs imports this.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_OUT = Path(__file__).with_name("wordnet.txt.gz")
_HEADER = "# Derived from WordNet 3.0, Copyright 2006 by Princeton University; see wordnet.LICENSE"
_FILES = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_KINDS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
"""The digit behind the "%" of a sense key: 5 is an adjective that leans on another."""
_SINGLE_WORD = re.compile(r"[a-z]{3,}")
_WIDER, _SIMILAR = ("@", "@i"), "&"

FEWEST_SENSES, MOST_SENSES = 2, 5
"""Of a word; in between, those that WordNet's readers met. The rare ones make everything a synonym of everything."""
STEPS = 3
"""From a sense to wider ones."""
WIDEST = 600
"""Narrower senses below one from which it says too little to stand for them: "thing", "act"."""
MOSTLY_A_NOUN, SOMETIMES_A_NOUN = 0.6, 0.1
"""Share of the times that WordNet's readers met the word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sense:
    wider: tuple[str, ...]
    similar: tuple[str, ...]


class WordNet:
    """`senses`: "n00001740" -> what it is a kind of. `words`: single word -> its commoner senses."""

    def __init__(self, folder: Path) -> None:
        self.senses = {
            name: sense for file, kind in _FILES.items() for name, sense in _senses(folder, file, kind)
        }
        self.words = _words(folder)
        self.met = _met(folder)
        self.irregular = [pair for file in ("noun", "verb", "adj") for pair in _irregular(folder, file)]

    @cached_property
    def _below(self) -> Mapping[str, int]:
        """How many senses each holds, itself included."""
        narrower: defaultdict[str, list[str]] = defaultdict(list)
        for name, sense in self.senses.items():
            for wider in sense.wider:
                narrower[wider].append(name)
        counts: dict[str, int] = {}

        def count(name: str) -> int:
            if name not in counts:
                counts[name] = 1 + sum(count(one) for one in narrower[name])
            return counts[name]

        for name in self.senses:
            count(name)
        return counts

    def wider(self, name: str, steps: int = STEPS) -> set[str]:
        near = {wider for wider in self.senses[name].wider if self._below[wider] <= WIDEST}
        further = (self.wider(one, steps - 1) for one in near) if steps > 1 else ()
        return near.union(*further)

    def noun(self, word: str) -> str:
        counts = self.met[word]
        if counts["n"] >= MOSTLY_A_NOUN * counts.total():
            return "n"
        sometimes = counts["n"] >= SOMETIMES_A_NOUN * counts.total()
        return "m" if sometimes or any(name[0] == "n" for name in self.words[word]) else "-"


def wordnet_file(folder: Path) -> bytes:
    """The file's bytes: the same for the same WordNet."""
    return gzip.compress(("\n".join(_lines(WordNet(folder))) + "\n").encode(), 9, mtime=0)


def _lines(wordnet: WordNet) -> Iterator[str]:
    yield _HEADER
    common = [word for word in sorted(wordnet.words) if word in wordnet.met]
    numbers: dict[str, str] = {}

    def numbered(names: set[str]) -> str:
        return " ".join(numbers.setdefault(name, f"{len(numbers):x}") for name in sorted(names))

    for word in common:
        senses = wordnet.words[word]
        wider = {other for name in senses for other in (*wordnet.wider(name), *wordnet.senses[name].similar)}
        yield f"{word} {wordnet.noun(word)} {numbered(senses)}|{numbered(wider - senses)}"
    known = frozenset(common)
    yield from (
        f"{form} ={word}"
        for form, word in wordnet.irregular
        if word in known and form not in known and _SINGLE_WORD.fullmatch(form)
    )


def _senses(folder: Path, file: str, kind: str) -> Iterator[tuple[str, Sense]]:
    for offset, _, _, count, *rest in _rows(folder / f"data.{file}"):
        pointers = rest[2 * int(count, 16) + 1 :]
        leads = list(_pointers(pointers[: 4 * int(rest[2 * int(count, 16)])]))
        yield (
            kind + offset,
            Sense(
                wider=tuple(name for symbol, name in leads if symbol in _WIDER),
                similar=tuple(name for symbol, name in leads if symbol == _SIMILAR),
            ),
        )


def _pointers(fields: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Symbol and the sense that it leads to; "s" is an adjective too."""
    for symbol, offset, kind in zip(fields[::4], fields[1::4], fields[2::4], strict=True):
        yield symbol, ("a" if kind == "s" else kind) + offset


def _words(folder: Path) -> dict[str, set[str]]:
    words: defaultdict[str, set[str]] = defaultdict(set)
    for file, kind in _FILES.items():
        for word, _, _, pointers, *rest in _rows(folder / f"index.{file}"):
            if _SINGLE_WORD.fullmatch(word):
                _, met, *offsets = rest[int(pointers) :]
                kept = offsets[: max(FEWEST_SENSES, min(int(met), MOST_SENSES))]
                words[word] |= {kind + offset for offset in kept}
    return dict(words)


def _met(folder: Path) -> dict[str, Counter[str]]:
    """How often readers of texts met a word as each kind; words that they never met are missing."""
    met: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for key, _, count in _rows(folder / "cntlist.rev"):
        word, _, place = key.partition("%")
        met[word][_KINDS[place[0]]] += int(count)
    return dict(met)


def _irregular(folder: Path, file: str) -> Iterator[tuple[str, str]]:
    return ((form, word) for form, word, *_ in _rows(folder / f"{file}.exc"))


def _rows(file: Path) -> Iterator[list[str]]:
    """The fields of each line, without the licence above them and the gloss behind "|"."""
    for line in file.read_text(encoding="latin-1").splitlines():
        if not line.startswith("  "):
            yield line.partition("|")[0].split()


if __name__ == "__main__":
    _OUT.write_bytes(wordnet_file(Path(sys.argv[1])))
