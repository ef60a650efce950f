"""How many true sentences the check by the letter removes: the reference
answers of MTRAG against what they were written from.

    python -m tests.golden.reference_answers

Every sentence of an answerable turn's reference answer cites all passages that the set calls relevant to the
turn. Annotators wrote with the thread in view, so what earlier turns rest on is added in the second count.
Conversations are split in two by a hash of their id: the misses of "seen" were read by whoever writes rules,
those of "unseen" are only counted.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from kb.citations import DraftSentence, Removed, check_sentence
from kb.citations.citation_markers import one_line
from kb.models import Chunk, Page
from kb.text.sentences import split_units
from tests.fakes.shared import MISSING, SHARED

Half = Literal["seen", "unseen"]
SETS = ("mtrag-govt", "mtrag-cloud")
FOLDER = SHARED / "data" / "conv"


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """A sentence of a reference answer. `removed`: by the turn's
    passages. `removed_in_thread`: by all up to the turn.
    """

    dataset: str
    half: Half
    text: str
    removed: Removed | None
    removed_in_thread: Removed | None


def checked_sentences(dataset: str) -> Iterator[Checked]:
    """The sentences of one set, in the order of its file."""
    passages = _passages(FOLDER / dataset / "corpus.jsonl")
    thread: dict[str, list[Chunk]] = {}
    for turn in _rows(FOLDER / dataset / "conversations.jsonl"):
        own = [passages[one] for one in turn["relevant_ids"]]
        known = thread.setdefault(turn["conversation_id"], [])
        known += [one for one in own if one not in known]
        if turn["answerable"] != "yes" or not own:
            continue
        asked = f"{turn['question']}\n{turn['gold_rewrite'] or ''}"
        for unit in split_units(_with_lists(turn["reference_answer"])):
            text = one_line(unit)
            removed = _removed(text, own, asked)
            yield Checked(
                dataset=dataset,
                half=half_of(turn["conversation_id"]),
                text=text,
                removed=removed,
                removed_in_thread=removed and _removed(text, tuple(known), asked),
            )


def half_of(conversation: str) -> Half:
    return "unseen" if int(hashlib.sha256(conversation.encode()).hexdigest(), 16) % 2 else "seen"


def share_removed(sentences: list[Checked], *, in_thread: bool) -> float:
    """Of the sentences, 0..1."""
    removed = (one.removed_in_thread if in_thread else one.removed for one in sentences)
    return sum(one is not None for one in removed) / len(sentences)


def _removed(text: str, passages: list[Chunk] | tuple[Chunk, ...], asked: str) -> Removed | None:
    cites = tuple(passage.id for passage in passages)
    sentence = DraftSentence(text=text, cites=cites, quotes=("",) * len(cites))
    verdict = check_sentence(sentence, passages, question=asked)
    return verdict if isinstance(verdict, Removed) else None


@cache
def _passages(file: Path) -> dict[str, Chunk]:
    found: dict[str, Chunk] = {}
    for row in _rows(file):
        url = f"https://mtrag.example/{row['id']}"
        page = Page(id=row["id"], source="mtrag", path=row["id"], title=row["title"], url=url)
        found[row["id"]] = Chunk(id=row["id"], page=page, position=0, text=row["text"], url=url)
    return found


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _with_lists(text: str) -> str:
    """The answer with a line for every item of its numbered lists: the set has lost its line breaks."""
    if not re.search(r"[:.] 1\. .* 2\. ", text, re.DOTALL):
        return text
    for number in range(1, 31):
        text = re.sub(rf"(?<=\S) +(?={number}\. \S)", "\n", text, count=1)
    return text


def main(misses: bool) -> None:
    sentences = [one for dataset in SETS for one in checked_sentences(dataset)]
    for dataset in (*SETS, "both"):
        for half in ("seen", "unseen", "both"):
            of = [one for one in sentences if dataset in (one.dataset, "both") and half in (one.half, "both")]
            turn, in_thread = (share_removed(of, in_thread=way) for way in (False, True))
            print(
                f"{dataset:12} {half:7} {len(of):5} sentences, removed {turn:.1%}, in its thread {in_thread:.1%}"
            )
    for one in sentences if misses else ():
        if one.removed is not None and one.half == "seen":
            print(f"{one.dataset} {one.removed.reason}: {one.text}")


if __name__ == "__main__":
    if not FOLDER.exists():
        sys.exit(MISSING)
    main("--misses" in sys.argv)
