"""Questions that the pages answer and questions that they do not, each with the evidence that a search left behind.

    answerable     a labelled passage answers it, wholly or in part
    unanswerable   the data set says that its pages do not answer it; it is about their subject all the same
    stranger       a question of another data set, or a heading of another handbook

Strangers are drawn with a seed: half are asked alone, half in the middle of a conversation of the data set, where a
rewriter may take them for follow-ups and the thread's pages gain.
"""

from __future__ import annotations

import random
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kb.evaluation.conversations import Memory, remembered
from kb.evaluation.datasets import DataSet, LabelledTurn
from kb.models import Audience, Question, Turn
from kb.pipeline import Pipeline, thread_language
from kb.retrieval.confidence import EvidenceFeatures, signals_of, was_reranked
from kb.retrieval.evidence import without_injections
from kb.retrieval.result import RetrievalResult
from kb.rewriting.followup_detector import detect_followup
from kb.text.language import detect
from kb.text.lexicon import lexicon
from kb.text.phrases import small_talk

Kind = Literal["answerable", "unanswerable", "stranger"]
SEED = 20260701

_HEADING = re.compile(r"^#{1,3}[ \t]+(?P<text>\S.*?)[ \t#]*$", re.MULTILINE)
_TELLING_HEADING = range(3, 11)
"""Words. A shorter heading ("Overview") is in every handbook, a longer one is a sentence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stranger:
    """A question about something else. `source` is the data set or handbook that it was drawn from."""

    text: str
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """One question. `signals` is None where Footnote asked back instead of searching, or found nothing.

    `group` is what may not be split between fitting and measuring: the conversation, or the stranger itself.
    """

    id: str
    data_set: str
    group: str
    kind: Kind
    source: str
    in_thread: bool
    asked_back: bool
    signals: tuple[float, ...] | None


def strangers_from(data: DataSet) -> list[Stranger]:
    """Returns the questions of a data set, in the gold wording, that say what they are about by themselves."""
    asked = dict.fromkeys(turn.gold_rewrite for talk in data.conversations for turn in talk.turns)
    return [Stranger(text=text, source=data.name) for text in asked if _stands_alone(text)]


def strangers_from_pages(folder: Path) -> list[Stranger]:
    """Returns the headings of a folder of Markdown, as people type them into a search box."""
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in sorted(folder.rglob("*.md*")))
    headings = dict.fromkeys(match["text"] for text in texts for match in _HEADING.finditer(text))
    return [
        Stranger(text=heading, source=folder.name)
        for heading in headings
        if len(heading.split()) in _TELLING_HEADING and _stands_alone(heading)
    ]


def drawn(pools: Sequence[Sequence[Stranger]], number: int) -> list[Stranger]:
    """Draws so many strangers, the same share of each pool, in an order of no meaning."""
    dice = random.Random(SEED)
    chosen: list[Stranger] = []
    for index, pool in enumerate(pools):
        wanted = number * (index + 1) // len(pools) - number * index // len(pools)
        chosen += dice.sample(pool, min(wanted, len(pool)))
    dice.shuffle(chosen)
    return chosen


async def observe(
    pipeline: Pipeline, data: DataSet, strangers: Sequence[Stranger], memory: Memory
) -> AsyncIterator[Observation]:
    """Asks every question of the data set in its thread, and the strangers in those threads and alone.

    Raises:
        UnavailableError: the index or a model does not answer; half a measurement is none.
    """
    dice = random.Random(SEED)
    intruders = [stranger for index, stranger in enumerate(strangers) if index % 2]
    visits: dict[str, list[tuple[int, Stranger]]] = {talk.id: [] for talk in data.conversations}
    for stranger in intruders:
        talk = dice.choice(data.conversations)
        visits[talk.id].append((dice.randint(1, len(talk.turns)), stranger))
    for talk in data.conversations:
        turns: list[Turn] = []
        for labelled in talk.turns:
            asked = await _ask(pipeline, labelled.question, turns)
            turns.append(remembered(labelled, asked.found, memory))
            kind = _kind(labelled)
            if kind is not None:
                yield _observation(
                    data, asked, f"{talk.id}:{labelled.number}", group=talk.id, kind=kind,
                    source=labelled.answerable or "labelled",
                )  # fmt: skip
            for after, stranger in visits[talk.id]:
                if after == labelled.number:
                    yield await _estranged(pipeline, data, stranger, turns)
    for stranger in strangers[::2]:
        yield await _estranged(pipeline, data, stranger, [])


def _kind(labelled: LabelledTurn) -> Kind | None:
    """Returns None for small talk, and where nobody said whether it can be answered."""
    if small_talk(labelled.question, detect(labelled.question)):
        return None
    if labelled.relevant:
        return "answerable"
    return "unanswerable" if labelled.answerable == "no" else None


async def _estranged(
    pipeline: Pipeline, data: DataSet, stranger: Stranger, turns: Sequence[Turn]
) -> Observation:
    asked = await _ask(pipeline, stranger.text, turns)
    name = f"{stranger.source}: {stranger.text}"
    return _observation(data, asked, name, group=name, kind="stranger", source=stranger.source)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    found: RetrievalResult
    features: EvidenceFeatures
    in_thread: bool


async def _ask(pipeline: Pipeline, text: str, turns: Sequence[Turn]) -> _Asked:
    found = await pipeline.find(Question(id="decline", text=text, audience=Audience()), turns)
    language = detect(text, hint=thread_language(turns))
    features = pipeline.evidence.features(found.rewrite.query, without_injections(found.hits), language)
    return _Asked(found=found, features=features, in_thread=bool(turns))


def _observation(
    data: DataSet, asked: _Asked, name: str, *, group: str, kind: Kind, source: str
) -> Observation:
    features = asked.features
    return Observation(
        id=name,
        data_set=data.name,
        group=group,
        kind=kind,
        source=source,
        in_thread=asked.in_thread,
        asked_back=asked.found.rewrite.clarify,
        signals=signals_of(features, reranked=was_reranked(features)) if features.hits else None,
    )


def _stands_alone(text: str) -> bool:
    return not detect_followup(text, lexicon(detect(text))).dependent
