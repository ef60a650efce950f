"""Selects what a model reads of a thread: bounded in turns and in characters, chosen by what the question needs."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass

from kb.conversation.topics import key_topics
from kb.models import Turn
from kb.rewriting.long import read_of_earlier
from kb.text.lexicon import Lexicon, words_of

MESSAGE_LIMIT = 300
"""Characters of one message that go to the model, chosen by relevance."""
READ = 4000
"""Characters of a message, its end, of which those are chosen: all of what is written in Slack."""
ALWAYS = 2
"""Latest turns that are always shown, whatever they are about."""
PIECE = 120
"""Characters. A longer sentence is cut into pieces of this size, so that its end can be chosen too."""
_SENTENCE_END = re.compile(r"(?<=[.?!]) ")


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadContext:
    """(question, answer) pairs, oldest first, and the last answer's key topics.

    `speakers`: of each pair who wrote it; "" for a question to us, somebody's name for what they wrote to others.
    """

    exchanges: tuple[tuple[str, str], ...]
    topics: tuple[str, ...]
    speakers: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join([*(part for exchange in self.exchanges for part in exchange), *self.topics])

    @property
    def asked(self) -> str:
        """Returns what people wrote, and the topics, without the answers."""
        return "\n".join([*(question for question, _ in self.exchanges), *self.topics])


def thread_context(question: str, turns: Sequence[Turn], lexicon: Lexicon, *, window: int) -> ThreadContext:
    """Chooses the last two turns, then the earlier ones that share most words with the question and the last exchange.

    An earlier turn whose text was dropped is shown by its topics. Empty for a first question.
    """
    if not turns:
        return ThreadContext(exchanges=(), topics=())
    always = min(ALWAYS, window)
    earlier, recent = turns[:-always], turns[-always:]
    last = turns[-1]
    asked_last = read_of_earlier(last.question, lexicon)
    wanted = frozenset((*lexicon.content_of(question), *lexicon.content_of(asked_last)))
    chosen = _most_relevant(earlier, wanted, max(window - always, 0))
    shown = list(dict.fromkeys([*chosen, *recent]))
    return ThreadContext(
        exchanges=tuple(
            (excerpt(turn.question, wanted), excerpt(turn.answer or "; ".join(turn.topics), wanted))
            for turn in shown
        ),
        topics=key_topics(last.answer, lexicon) or last.topics,
        speakers=tuple(turn.said_by or "" for turn in shown),
    )


def render_prompt(question: str, context: ThreadContext, *, language: str, pages_language: str = "") -> str:
    """Renders the thread as one JSON document: inside it nothing can close a tag or open a new instruction.

    `pages_language`: into which the query is to be translated as well; "": it is not.
    """
    speakers = context.speakers or ("",) * len(context.exchanges)
    thread = [
        {"from": speaker, "message": question} if speaker else {"question": question, "answer": answer}
        for (question, answer), speaker in zip(context.exchanges, speakers, strict=True)
    ]
    data = {
        "language": language,
        **({"pages_language": pages_language} if pages_language else {}),
        "thread": thread,
        "topics": list(context.topics),
        "question": question,
    }
    return json.dumps(data, ensure_ascii=False, indent=1).replace("<", "\\u003c")


def excerpt(text: str, wanted: Set[str], *, limit: int = MESSAGE_LIMIT) -> str:
    """Returns the sentences and lines of a message that share most words with `wanted`, in their order, within `limit`.

    Of equal ones the later is taken: it is what was read last.
    """
    text = text[-READ:].strip()
    if len(text) <= limit:
        return text
    parts = list(_parts(text))
    by_relevance = sorted(
        range(len(parts)), key=lambda index: (-len(wanted & set(words_of(parts[index]))), -index)
    )
    chosen: list[int] = []
    room = limit
    for index in by_relevance:
        if len(parts[index]) + 1 <= room:
            chosen.append(index)
            room -= len(parts[index]) + 1
    return " ".join(parts[index] for index in sorted(chosen))


def _most_relevant(turns: Sequence[Turn], wanted: Collection[str], count: int) -> list[Turn]:
    """Returns the turns that hold most of the words, in their order; a word counts the less the more turns hold it.

    Words are looked for inside longer ones too: 200 turns are looked through in a millisecond.
    """
    texts = [" ".join([turn.question, turn.answer, *turn.topics]).casefold() for turn in turns]
    holding = [[word in text for text in texts] for word in wanted]
    weights = [
        sum(1 / sum(turns_with) for turns_with in holding if turns_with[index]) for index in range(len(turns))
    ]
    best = sorted(range(len(turns)), key=lambda index: (weights[index], index), reverse=True)[:count]
    return [turns[index] for index in sorted(best)]


def _parts(text: str) -> Iterator[str]:
    """Splits a text into lines, sentences and, of a long sentence, pieces."""
    for line in text.splitlines():
        for sentence in _SENTENCE_END.split(line.strip()):
            yield from _pieces(sentence)


def _pieces(sentence: str) -> Iterator[str]:
    while len(sentence) > PIECE:
        cut = sentence.rfind(" ", 1, PIECE)
        cut = PIECE if cut < 0 else cut
        yield sentence[:cut].strip()
        sentence = sentence[cut:].strip()
    if sentence:
        yield sentence
