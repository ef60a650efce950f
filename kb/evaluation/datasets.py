"""Data sets of conversations with known relevant passages, as they lie in a folder.

    corpus.jsonl            {id, title, text, url?, parent?}: a passage a line; passages of one `parent` are one page
    conversations.jsonl     {conversation_id, turn, question, history, gold_rewrite, relevant_ids, ...}: a turn a line
    duplicate_groups.json   [[id, id, ...], ...]: passages with the same text; optional

The files are parsed here; what leaves this module is frozen and consistent.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, RootModel

from kb.errors import SettingsError
from kb.evaluation.case_files import read_json, read_lines


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusPassage:
    id: str
    page: str
    """The document that it is a part of; its own id where the data set names none."""
    title: str
    text: str
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelledTurn:
    """A question of a conversation. `number` counts from 1; `relevant` is empty where nobody labelled it.

    `answer` is the data set's own, "" where it has none. `gold_rewrite` equals the question where nobody wrote one.
    """

    number: int
    question: str
    answer: str
    gold_rewrite: str
    relevant: tuple[str, ...] = ()
    answerable: str = ""
    """What the data set says of it: "yes", "partial", "no", "conversational", "unknown", or nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """Turns in their order, numbered without a gap."""

    id: str
    turns: tuple[LabelledTurn, ...]


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """`corpus_hash` and `questions_hash` are SHA-256 of the files: what a result was measured on."""

    name: str
    passages: tuple[CorpusPassage, ...]
    conversations: tuple[Conversation, ...]
    duplicates: tuple[tuple[str, ...], ...] = ()
    corpus_hash: str = ""
    questions_hash: str = ""

    @cached_property
    def twins(self) -> Mapping[str, str]:
        """Maps a passage id to the first id of its group of identical passages; only passages that have a twin."""
        return {passage: group[0] for group in self.duplicates for passage in group}

    @cached_property
    def page_of(self) -> Mapping[str, str]:
        """Maps a passage id to its page."""
        return {passage.id: passage.page for passage in self.passages}

    def pages(self) -> Iterator[tuple[str, Sequence[CorpusPassage]]]:
        """Yields every page with its passages, in the corpus's order."""
        pages: dict[str, list[CorpusPassage]] = defaultdict(list)
        for passage in self.passages:
            pages[passage.page].append(passage)
        yield from pages.items()


class _PassageLine(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    title: str | None = None
    text: str
    url: str | None = None
    parent: str | None = None


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    role: Literal["user", "assistant"]
    content: str


class _TurnLine(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    conversation_id: str
    turn: int
    question: str
    history: tuple[_Message, ...] = ()
    gold_rewrite: str | None = None
    relevant_ids: tuple[str, ...] = ()
    reference_answer: str | None = None
    answerable: str | None = None


class _Groups(RootModel[tuple[tuple[str, ...], ...]]):
    """Groups of ids of passages with the same text."""


def read_data_set(folder: Path) -> DataSet:
    """Reads a folder of the form above; its name is the data set's.

    Raises:
        SettingsError: a file is missing or has another form, or a label names a passage that the corpus lacks.
    """
    corpus, questions = folder / "corpus.jsonl", folder / "conversations.jsonl"
    groups = folder / "duplicate_groups.json"
    duplicates = (
        read_json(groups, _Groups, fault="is not a list of lists of passage ids") if groups.exists() else None
    )
    data = DataSet(
        name=folder.resolve().name,
        passages=tuple(_passage(line) for line in read_lines(corpus, _PassageLine)),
        conversations=read_conversations(questions),
        duplicates=duplicates.root if duplicates else (),
        corpus_hash=_hash(corpus),
        questions_hash=_hash(questions),
    )
    labels = {passage for talk in data.conversations for turn in talk.turns for passage in turn.relevant}
    if missing := sorted(labels - data.page_of.keys()):
        raise SettingsError(
            f"{data.name}: {len(missing)} labels name no passage of the corpus: {missing[0]!r}"
        )
    return data


def read_conversations(file: Path) -> tuple[Conversation, ...]:
    """Reads a `conversations.jsonl` alone. Raises `SettingsError` as `read_data_set` does."""
    by_id: dict[str, list[_TurnLine]] = defaultdict(list)
    for line in read_lines(file, _TurnLine):
        by_id[line.conversation_id].append(line)
    return tuple(
        _conversation(name, sorted(lines, key=lambda line: line.turn)) for name, lines in by_id.items()
    )


def _conversation(name: str, lines: Sequence[_TurnLine]) -> Conversation:
    """Fills in turns without a line of their own, in the words of the history: the thread needs them."""
    by_number = {line.turn: line for line in lines}
    questions = [message.content for message in lines[-1].history if message.role == "user"]
    answers = [message.content for message in lines[-1].history if message.role == "assistant"]
    turns = []
    for number in range(1, lines[-1].turn + 1):
        line = by_number.get(number)
        if line is None and number > len(questions):
            raise SettingsError(f"conversation {name!r} lacks turn {number}, in its lines and in its history")
        question = line.question if line else questions[number - 1]
        reference = line.reference_answer if line else None
        turns.append(
            LabelledTurn(
                number=number,
                question=question,
                answer=answers[number - 1] if number <= len(answers) else reference or "",
                gold_rewrite=(line.gold_rewrite if line else None) or question,
                relevant=line.relevant_ids if line else (),
                answerable=(line.answerable if line else None) or "",
            )
        )
    return Conversation(id=name, turns=tuple(turns))


def _passage(line: _PassageLine) -> CorpusPassage:
    return CorpusPassage(
        id=line.id,
        page=line.parent or line.id,
        title=line.title or "",
        text=line.text,
        url=line.url or f"urn:passage:{line.id}",
    )


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
