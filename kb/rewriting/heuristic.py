"""Rewriting without a model: well under five milliseconds, no network, no cost.

The question is corrected and read; where it leans on the thread, the subject of the thread is found and put into it.
Steps in a series ("how about next" after Day 6) are resolved by rule. What is not understood keeps the user's words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kb.models import Rewrite, Turn
from kb.rewriting.compose import appended, as_question, compose
from kb.rewriting.gate import Reading, read_question
from kb.rewriting.sequences import Item, Step, items_in, resolve, step_in
from kb.rewriting.spelling import Vocabulary, correct
from kb.rewriting.topics import Subject, key_topics, names_in, person_in, subject_of
from kb.rewriting.validation import validate
from kb.text.lexicon import Lexicon, lexicon, words_of
from kb.text.phrases import is_empty_reference

WINDOW = 5
"""Turns that are read. Further back the subject has changed, or the turns between carry it."""
UNSURE = 0.6
"""Confidence that a question with nothing but hints stands alone: little enough to ask a model, where there is one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadState:
    """What the thread is about before a question: its subject, and the last question as it was understood."""

    subject: Subject | None = None
    previous: str = ""
    answer: str = ""
    topics: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    """Content words of the last exchange."""
    seen: frozenset[str] = frozenset()
    """Content words of all the turns that were read."""
    questions: tuple[str, ...] = ()


class HeuristicRewriter:
    """Implements `Rewriter` by rules. `vocabulary` gives the document frequency of a word in the index."""

    def __init__(self, vocabulary: Vocabulary | None = None, *, window: int = WINDOW) -> None:
        self._vocabulary = vocabulary
        self._window = window

    async def rewrite(self, question: str, turns: Sequence[Turn], *, language: str) -> Rewrite:
        return self.rewrite_now(question, turns, language=language)

    def rewrite_now(self, question: str, turns: Sequence[Turn], *, language: str) -> Rewrite:
        if not turns:
            return Rewrite(query=question, clarify=is_empty_reference(question, language))
        known = lexicon(language)
        state = thread_state(turns[-self._window :], known)
        if turns[-1].outcome == "unclear":
            answered = _answered_clarification(question, turns[-1], known)
            if answered is not None:
                return _checked(question, answered)
        corrected = correct(question, known, thread=state.seen, vocabulary=self._vocabulary)
        return _checked(question, self._understood(question, corrected, state, known))

    def _understood(self, question: str, corrected: str, state: ThreadState, known: Lexicon) -> Rewrite:
        mended = corrected != question
        series = _resolved_step(corrected, state, known)
        if series is not None:
            return _rewritten(series, state, reasoning="step in a series", confidence=0.9)
        reading = read_question(corrected, known, thread_words=state.seen)
        if not reading.dependent:
            continues = not reading.shift and _continues(corrected, state, known)
            told = "topic shift" if reading.shift else "; ".join(reading.hints) or "stands alone"
            return Rewrite(
                query=as_question(corrected, known) if mended else question,
                needs_rewrite=mended,
                is_follow_up=continues or bool(reading.hints),
                topics=() if reading.shift else state.topics,
                shift=reading.shift,
                reasoning=told + (", spelling corrected" if mended else ""),
                confidence=UNSURE if reading.hints else 1.0,
                method="heuristic" if mended else "none",
            )
        subject = _referent(reading, state, known)
        reasoning = "; ".join(reading.signals) + (", spelling corrected" if mended else "")
        if subject is None:
            return Rewrite(
                query=corrected, needs_rewrite=mended, is_follow_up=True, topics=state.topics,
                reasoning=f"{reasoning}; no subject in the thread", confidence=0.3,
                method="heuristic" if mended else "none", clarify=is_empty_reference(corrected, known.language),
            )  # fmt: skip
        query = compose(reading, subject, known, previous=state.previous)
        query = as_question(query, known) if query != question else query
        return _rewritten(
            query, state, reasoning=f"{reasoning} -> {subject.text!r}", confidence=_confidence(reading)
        )


def thread_state(turns: Sequence[Turn], known: Lexicon) -> ThreadState:
    """Walks the turns, oldest first: a question that stands alone sets the subject, a follow-up keeps it."""
    state = ThreadState()
    for turn in turns:
        understood = turn.rewritten or _retold(turn.question, state, known)
        words = {word for text in (understood, turn.question, turn.answer) for word in known.content_of(text)}
        state = ThreadState(
            subject=_next_subject(turn.question, understood, state, known),
            previous=understood,
            answer=turn.answer,
            topics=key_topics(turn.answer, known) or turn.topics,
            words=frozenset(words),
            seen=state.seen | words,
            questions=(*state.questions, understood),
        )
    return state


def _retold(question: str, state: ThreadState, known: Lexicon) -> str:
    """An earlier question as this rewriter understands it, for turns that carry no rewrite."""
    if state.subject is None:
        return question
    series = _resolved_step(question, state, known)
    if series is not None:
        return series
    reading = read_question(question, known, thread_words=state.seen)
    subject = _referent(reading, state, known) if reading.dependent else None
    return compose(reading, subject, known, previous=state.previous) if subject is not None else question


def _next_subject(question: str, understood: str, state: ThreadState, known: Lexicon) -> Subject | None:
    reading = read_question(question, known)
    kept = state.subject
    if kept is not None and not reading.shift and (reading.dependent or understood != question):
        if kept.words <= set(words_of(understood)):
            return kept
        return subject_of(understood, known) or kept
    text = reading.rest if reading.shift and reading.rest else understood
    return subject_of(text, known) or kept


def _referent(reading: Reading, state: ThreadState, known: Lexicon) -> Subject | None:
    """What the question points at: a name for a person, else the thread's subject, else the last topic of the answer."""
    words = {words_of(reading.text[at:])[0] for at in reading.pointers}
    subject = state.subject
    person = bool(words) and words <= known.reference.people - known.reference.things - known.reference.plural
    if person and (subject is None or subject.text not in names_in(f"x {subject.text}", known)):
        name = person_in([*state.questions, state.answer], known)
        if name is not None:
            return Subject(text=name)
    if subject is not None:
        return subject
    if state.topics:
        return Subject(text=state.topics[-1])
    names = names_in(state.answer, known)
    return Subject(text=names[-1]) if names else subject_of(state.previous, known)


def _resolved_step(question: str, state: ThreadState, known: Lexicon) -> str | None:
    step = step_in(question, known)
    if step is None:
        return None
    item = _item_at_hand(step, state, known)
    target = resolve(step, item, known, known=items_in(state.answer, known)) if item is not None else None
    if item is None or target is None:
        return _listed(question, step, state, known)
    outside = question[: step.at[0]] + " " + question[step.at[1] :]
    if known.content_of(outside):  # a question of its own about the item
        return as_question(question[: step.at[0]] + target.text + question[step.at[1] :], known)
    for old in items_in(state.previous, known):
        if old.same_series(item):
            return as_question(state.previous[: old.at[0]] + target.text + state.previous[old.at[1] :], known)
    about = known.rewriting.about.format(focus=target.text) if known.rewriting.about else target.text
    return appended(about, state.subject) if state.subject is not None else about


def _item_at_hand(step: Step, state: ThreadState, known: Lexicon) -> Item | None:
    """The item that a step counts from: what was asked about, else the last one that the answer sets apart."""
    asked = items_in(state.previous, known)
    topics = [item for topic in state.topics for item in items_in(topic, known)[:1]]
    mentioned = items_in(state.answer, known)
    for items in (asked, topics, mentioned):
        fitting = [item for item in items if _fits(step, item)]
        if fitting:
            return fitting[-1]
    return None


def _fits(step: Step, item: Item) -> bool:
    if step.unit:
        return item.unit == step.unit or (item.kind == "weekday" and step.unit in ("day", "dag", "tag"))
    return item.kind != "year" or step.to is None


_LIST_ITEM = re.compile(r"^[ \t]*(?:\d{1,3}[.)]|[-*+])[ \t]+(?P<text>.+)$", re.MULTILINE)


def _listed(question: str, step: Step, state: ThreadState, known: Lexicon) -> str | None:
    """ "Tell me more about the second one" after a list: the text of its second item."""
    listed = [match["text"].strip().rstrip(".;") for match in _LIST_ITEM.finditer(state.answer)]
    if step.to is None or not listed or step.to > len(listed):
        return None
    if step.unit and step.unit not in known.sequence.units:
        return None
    text = re.sub(r"[*_`]", "", listed[step.to - 1 if step.to > 0 else -1])
    return as_question(f"{question[: step.at[0]]}{text}{question[step.at[1] :]}", known)


def _answered_clarification(reply: str, turn: Turn, known: Lexicon) -> Rewrite | None:
    """The reply to our own question, put into the question that was unclear. None: it is a question of its own."""
    reading = read_question(reply, known)
    asked = any(word in known.words.question for word in words_of(reply)) or reply.rstrip().endswith("?")
    if asked and not reading.dependent and len(known.content_of(reply)) > 1:
        return None
    chosen = _chosen(reply, turn.topics, known)
    subject = Subject(text=chosen or (reading.rest or reply).strip(" .?!"))
    query = _with_subject(turn.question, subject, known)
    return Rewrite(
        query=query,
        needs_rewrite=True,
        is_follow_up=True,
        topics=(subject.text,),
        reasoning="answer to our clarifying question",
        confidence=0.8,
        method="heuristic",
    )


def _with_subject(unclear: str, subject: Subject, known: Lexicon) -> str:
    """A bare word that the subject holds already ("leave", "Leave policy") adds nothing to it."""
    if set(known.content_of(unclear)) <= subject.words and known.rewriting.about:
        return known.rewriting.about.format(focus=subject.text)
    before = read_question(unclear, known)
    if before.dependent:
        return compose(before, subject, known)
    return as_question(appended(unclear, subject), known)


def _chosen(reply: str, readings: Sequence[str], known: Lexicon) -> str | None:
    """The reading that a reply picks, by its place ("the second one", "2") or by words that only it has."""
    step, number = step_in(reply, known), reply.strip(" .)#")
    place = int(number) if number.isdecimal() else step.to if step is not None else None
    if place is not None:
        return readings[place - 1 if place > 0 else place] if 0 < abs(place) <= len(readings) else None
    said = set(known.content_of(reply))
    named = [one for one in readings if said and said <= set(words_of(one))]
    return named[0] if len(named) == 1 else None


def _continues(question: str, state: ThreadState, known: Lexicon) -> bool:
    """Whether a question that stands alone goes on about the last exchange: most of its content words are there."""
    content = set(known.content_of(question))
    return bool(content) and 2 * len(content & state.words) > len(content)


def _confidence(reading: Reading) -> float:
    """A reference word or an opener is certain; shortness or a bare noun alone is a guess."""
    return 0.9 if reading.pointers or reading.opener else 0.6


def _rewritten(query: str, state: ThreadState, *, reasoning: str, confidence: float) -> Rewrite:
    return Rewrite(
        query=query,
        needs_rewrite=True,
        is_follow_up=True,
        topics=state.topics or ((state.subject.text,) if state.subject is not None else ()),
        reasoning=reasoning,
        confidence=confidence,
        method="heuristic",
    )


def _checked(question: str, rewrite: Rewrite) -> Rewrite:
    """A rewrite that fails validation falls back to the user's words; that it is a follow-up stays true."""
    if not rewrite.needs_rewrite:
        return rewrite
    if rewrite.query.strip() == question.strip():
        return Rewrite(
            query=question, is_follow_up=rewrite.is_follow_up, topics=rewrite.topics, reasoning=rewrite.reasoning,
            confidence=rewrite.confidence,
        )  # fmt: skip
    reason = validate(question, rewrite.query)
    if reason is None:
        return rewrite
    return Rewrite(
        query=question, is_follow_up=rewrite.is_follow_up, topics=rewrite.topics,
        reasoning=f"{rewrite.reasoning}; not used: {reason}", confidence=0.3,
    )  # fmt: skip
