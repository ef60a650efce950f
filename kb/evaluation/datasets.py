"""Data sets of conversations with known relevant passages, as they lie in a folder.

    corpus.jsonl            {id, title, text, url?, parent?}: a passage a line; passages of one `parent` are one page
    conversations.jsonl     {conversation_id, turn, question, history, gold_rewrite, relevant_ids, ...}: a turn a line
    duplicate_groups.json   [[id, id, ...], ...]: passages with the same text; optional

The files are parsed here; what leaves this module is frozen and consistent.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from kb.errors import SettingsError

_Model = TypeVar("_Model", bound=BaseModel)


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
        """Passage id -> the first id of its group of identical passages; only for passages that have a twin."""
        return {one: group[0] for group in self.duplicates for one in group}

    @cached_property
    def page_of(self) -> Mapping[str, str]:
        """Passage id -> its page."""
        return {passage.id: passage.page for passage in self.passages}

    def pages(self) -> Iterator[tuple[str, Sequence[CorpusPassage]]]:
        """Every page with its passages, in the corpus's order."""
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


_GROUPS = TypeAdapter(tuple[tuple[str, ...], ...])


def read_data_set(folder: Path) -> DataSet:
    """Reads a folder of the form above; its name is the data set's.

    Raises:
        SettingsError: a file is missing or has another form, or a label names a passage that the corpus lacks.
    """
    corpus, questions = folder / "corpus.jsonl", folder / "conversations.jsonl"
    passages = tuple(_passage(line) for line in _lines(corpus, _PassageLine))
    data = DataSet(
        name=folder.resolve().name,
        passages=passages,
        conversations=read_conversations(questions),
        duplicates=_duplicates(folder / "duplicate_groups.json"),
        corpus_hash=_hash(corpus),
        questions_hash=_hash(questions),
    )
    _check_labels(data)
    return data


def read_conversations(file: Path) -> tuple[Conversation, ...]:
    """Reads a `conversations.jsonl` alone. Raises `SettingsError` as `read_data_set` does."""
    by_id: dict[str, list[_TurnLine]] = defaultdict(list)
    for line in _lines(file, _TurnLine):
        by_id[line.conversation_id].append(line)
    return tuple(
        _conversation(name, sorted(lines, key=lambda line: line.turn)) for name, lines in by_id.items()
    )


def _conversation(name: str, lines: Sequence[_TurnLine]) -> Conversation:
    """A turn without a line of its own is asked too, in the words of the history: the thread needs it."""
    by_number = {line.turn: line for line in lines}
    questions = [one.content for one in lines[-1].history if one.role == "user"]
    answers = [one.content for one in lines[-1].history if one.role == "assistant"]
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


def _lines(file: Path, model: type[_Model]) -> list[_Model]:
    try:
        return [model.model_validate_json(line) for line in file.read_bytes().splitlines() if line.strip()]
    except (OSError, ValidationError) as error:
        raise SettingsError(f"{file} cannot be read as one JSON object a line: {error}") from error


def _duplicates(file: Path) -> tuple[tuple[str, ...], ...]:
    if not file.exists():
        return ()
    try:
        return _GROUPS.validate_python(json.loads(file.read_bytes()))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{file} is not a list of lists of passage ids: {error}") from error


def _check_labels(data: DataSet) -> None:
    labels = {one for talk in data.conversations for turn in talk.turns for one in turn.relevant}
    if missing := sorted(labels - data.page_of.keys()):
        raise SettingsError(
            f"{data.name}: {len(missing)} labels name no passage of the corpus: {missing[0]!r}"
        )


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
