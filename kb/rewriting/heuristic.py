"""Rewriting without a model: well under five milliseconds, no network, no cost.

The question is corrected and read; where it leans on the thread, the subject of the thread is found and put into it.
Steps in a series ("how about next" after Day 6) are resolved by rule. What is not understood keeps the user's words.
Of several questions in one, each is read as the follow-up of the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kb.conversation.above import leading
from kb.conversation.topics import Subject, key_topics, names_in, person_in, subject_of
from kb.models import Rewrite, Turn
from kb.rewriting.clarified import answered_clarification
from kb.rewriting.compose import as_question, compose, is_readable
from kb.rewriting.followup_detector import FollowupSignals, read_question
from kb.rewriting.long import asked_at_the_end, of_long_message, read_of_earlier
from kb.rewriting.parts import as_part, split_question
from kb.rewriting.sequences import items_in
from kb.rewriting.spelling import Vocabulary, correct
from kb.rewriting.steps import resolved_step
from kb.rewriting.swaps import swapped
from kb.rewriting.thread import ThreadState
from kb.rewriting.validation import validate
from kb.text.lexicon import Lexicon, lexicon, words_of
from kb.text.phrases import is_empty_reference

WINDOW = 5
"""Turns that are read. Further back the subject has changed, or the turns between carry it."""
READ_OF_ANSWER = 4000
"""Characters of an earlier answer, its end: longer than any of ours, whose last topic is what was read last."""
UNSURE = 0.6
"""Confidence that a question with nothing but hints stands alone: little enough to ask a model, where there is one."""


class HeuristicRewriter:
    """Implements `Rewriter` by rules. `vocabulary` gives the document frequency of a word in the index."""

    def __init__(self, vocabulary: Vocabulary | None = None, *, window: int = WINDOW) -> None:
        self._vocabulary = vocabulary
        self._window = window

    async def rewrite(
        self,
        question: str,
        turns: Sequence[Turn],
        *,
        language: str,
        pages_language: str = "",  # noqa: ARG002 - rules translate nothing
    ) -> Rewrite:
        return self.rewrite_now(question, turns, language=language)

    def rewrite_now(self, question: str, turns: Sequence[Turn], *, language: str) -> Rewrite:
        known = lexicon(language)
        turns = leading([turn for turn in turns if turn.outcome != "chat"])
        end = asked_at_the_end(question, known)
        if end is not None:
            return of_long_message(self._read(end, turns, known))
        return self._read(question, turns, known)

    def _read(self, question: str, turns: Sequence[Turn], lexicon: Lexicon) -> Rewrite:
        asked = split_question(question, lexicon)
        return (
            self._several(question, asked, turns, lexicon) if asked else self._one(question, turns, lexicon)
        )

    def _several(
        self, question: str, asked: Sequence[str], turns: Sequence[Turn], lexicon: Lexicon
    ) -> Rewrite:
        """Each question after the ones before it, as if they were turns of the thread."""
        before = list(turns)
        rewrites: list[Rewrite] = []
        parts: list[str] = []
        for text in asked:
            own = as_part(text, lexicon)
            rewrite = self._one(text, before, lexicon)
            readable = rewrite.needs_rewrite and rewrite.readable and not rewrite.wants_more
            rewrites.append(rewrite)
            parts.append(rewrite.query if readable else own)
            before.append(Turn(question=text, answer="", rewritten=parts[-1], topics=rewrite.topics))
        first, leans = rewrites[0], rewrites[0].needs_rewrite
        whole = Rewrite(
            query=" ".join(parts) if leans else question,
            needs_rewrite=leans,
            is_follow_up=first.is_follow_up,
            topics=first.topics,
            reasoning="; ".join(filter(None, ("several questions", first.reasoning))),
            confidence=first.confidence,
            method=first.method,
            shift=first.shift,
            clarify=all(rewrite.clarify for rewrite in rewrites),
            parts=tuple(parts),
            readable=first.readable,
        )
        return _checked(question, whole)

    def _one(self, question: str, turns: Sequence[Turn], lexicon: Lexicon) -> Rewrite:
        if not turns:
            return Rewrite(query=question, clarify=is_empty_reference(question, lexicon.language))
        state = thread_state(turns[-self._window :], lexicon)
        if turns[-1].outcome == "unclear":
            answered = answered_clarification(question, turns[-1], lexicon)
            if answered is not None:
                return _checked(question, _marked_readable(answered, question, lexicon))
        corrected = correct(question, lexicon, thread=state.seen, vocabulary=self._vocabulary)
        understood = self._understood(question, corrected, state, lexicon)
        return _checked(question, _marked_readable(understood, question, lexicon))

    def _understood(self, question: str, corrected: str, state: ThreadState, lexicon: Lexicon) -> Rewrite:
        mended = corrected != question
        if state.previous and asks_further(corrected, lexicon):
            further = _rewritten(state.previous, state, reasoning="asks for more", confidence=0.9)
            named = tuple(item.text for item in items_in(state.previous, lexicon) if item.exact)
            return replace(further, wants_more=True, required=named)
        series = resolved_step(corrected, state, lexicon)
        if series is not None:
            stepped = _rewritten(series.text, state, reasoning="step in a series", confidence=0.9)
            return replace(stepped, required=series.required, readable=series.readable)
        reading = read_question(corrected, lexicon, thread_words=state.seen)
        if not reading.dependent:
            continues = not reading.shift and _continues(corrected, state, lexicon)
            reasoning = "topic shift" if reading.shift else "; ".join(reading.hints) or "stands alone"
            return Rewrite(
                query=as_question(corrected, lexicon) if mended else question,
                needs_rewrite=mended,
                is_follow_up=continues or bool(reading.hints),
                topics=() if reading.shift else state.topics,
                shift=reading.shift,
                reasoning=reasoning + (", spelling corrected" if mended else ""),
                confidence=UNSURE if reading.hints else 1.0,
                method="heuristic" if mended else "none",
            )
        swap = swapped(reading, lexicon, state.previous, state.subject)
        if swap is not None:
            like = _rewritten(
                as_question(swap.text, lexicon), state, reasoning="the like for the like", confidence=0.9
            )
            return replace(like, required=(swap.term,) if swap.term else ())
        subject = _referent(reading, state, lexicon)
        reasoning = "; ".join(reading.signals) + (", spelling corrected" if mended else "")
        if subject is None:
            return Rewrite(
                query=corrected, needs_rewrite=mended, is_follow_up=True, topics=state.topics,
                reasoning=f"{reasoning}; no subject in the thread", confidence=0.3,
                method="heuristic" if mended else "none", clarify=is_empty_reference(corrected, lexicon.language),
            )  # fmt: skip
        query = compose(reading, subject, lexicon)
        query = as_question(query, lexicon) if query != question else query
        return _rewritten(
            query, state, reasoning=f"{reasoning} -> {subject.text!r}", confidence=_confidence(reading)
        )


def thread_state(turns: Sequence[Turn], lexicon: Lexicon) -> ThreadState:
    """Walks the turns, oldest first: a question that stands alone sets the subject, a follow-up keeps it."""
    state = ThreadState()
    for turn in turns:
        question, answer = read_of_earlier(turn.question, lexicon), turn.answer[-READ_OF_ANSWER:]
        understood = turn.rewritten or _retold(question, state, lexicon)
        words = {word for text in (understood, question, answer) for word in lexicon.content_of(text)}
        state = ThreadState(
            subject=_next_subject(question, understood, state, lexicon),
            previous=understood,
            answer=answer,
            topics=key_topics(answer, lexicon) or turn.topics,
            words=frozenset(words),
            seen=state.seen | words,
            questions=(*state.questions, understood),
        )
    return state


def _retold(question: str, state: ThreadState, lexicon: Lexicon) -> str:
    """An earlier question as this rewriter understands it, for turns that carry no rewrite."""
    if state.subject is None:
        return question
    question = correct(question, lexicon, thread=state.seen, vocabulary=None)
    if state.previous and asks_further(question, lexicon):
        return state.previous
    series = resolved_step(question, state, lexicon)
    if series is not None:
        return series.text
    reading = read_question(question, lexicon, thread_words=state.seen)
    if not reading.dependent:
        return question
    swap = swapped(reading, lexicon, state.previous, state.subject)
    if swap is not None:
        return as_question(swap.text, lexicon)
    subject = _referent(reading, state, lexicon)
    return compose(reading, subject, lexicon) if subject is not None else question


def _next_subject(question: str, understood: str, state: ThreadState, lexicon: Lexicon) -> Subject | None:
    reading = read_question(question, lexicon)
    kept = state.subject
    if kept is not None and not reading.shift and (reading.dependent or understood != question):
        if kept.words <= set(words_of(understood)):
            return kept
        return subject_of(understood, lexicon) or kept
    text = reading.rest if reading.shift and reading.rest else understood
    return subject_of(text, lexicon) or kept


def asks_further(question: str, lexicon: Lexicon) -> bool:
    """Whether a whole question asks for what was not said yet: "tell me more", "any others?", "more on that?"."""
    words = words_of(question)
    while words and (words[-1] in lexicon.references or words[-1] in lexicon.small_talk.filler):
        words = words[:-1]
    words = words[:-1] if words and words[-1] in lexicon.ellipsis.about else words
    return any(" ".join(asked) in lexicon.ellipsis.further for asked in (words_of(question), words))


def _referent(reading: FollowupSignals, state: ThreadState, lexicon: Lexicon) -> Subject | None:
    """What the question points at: a name for a person, else the thread's
    subject, else the last topic of the answer.
    """
    words = {words_of(reading.text[at:])[0] for at in reading.pointers}
    subject = state.subject
    person = (
        bool(words)
        and words <= lexicon.reference.people - lexicon.reference.things - lexicon.reference.plural
    )
    if person and (subject is None or subject.text not in names_in(f"x {subject.text}", lexicon)):
        name = person_in([*state.questions, state.answer], lexicon)
        if name is not None:
            whole = subject is not None and subject.kind == "thing" and name in subject.text  # "the CEO"
            return subject if subject is not None and whole else Subject(text=name, sure=False)
    if subject is not None:
        return (
            _measured(subject, lexicon) if words and words.isdisjoint(lexicon.reference.plural) else subject
        )
    if state.topics:
        return Subject(text=state.topics[-1], sure=False)
    names = names_in(state.answer, lexicon)
    return Subject(text=names[-1], sure=False) if names else subject_of(state.previous, lexicon)


def _measured(subject: Subject, lexicon: Lexicon) -> Subject:
    """ "Who approves it?" after "how many days of study leave" is about the study leave."""
    found = next(
        (match for measure in lexicon.rewriting.measures if (match := measure.match(subject.text))), None
    )
    return subject if found is None else replace(subject, text=found["np"])


def _continues(question: str, state: ThreadState, lexicon: Lexicon) -> bool:
    """Whether a question that stands alone goes on about the last exchange: most of its content words are there."""
    content = set(lexicon.content_of(question))
    return bool(content) and 2 * len(content & state.words) > len(content)


def _confidence(reading: FollowupSignals) -> float:
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


def _marked_readable(rewrite: Rewrite, question: str, lexicon: Lexicon) -> Rewrite:
    return (
        replace(rewrite, readable=rewrite.readable and is_readable(rewrite.query, question, lexicon))
        if rewrite.needs_rewrite
        else rewrite
    )


def _checked(question: str, rewrite: Rewrite) -> Rewrite:
    """A rewrite that fails validation falls back to the user's words; that it is a follow-up stays true."""
    if not rewrite.needs_rewrite:
        return rewrite
    if rewrite.query.strip() == question.strip():
        return replace(rewrite, query=question, needs_rewrite=False, method="none", readable=True)
    reason = validate(question, rewrite.query)
    if reason is None:
        return rewrite
    reasoning = f"{rewrite.reasoning}; not used: {reason}"
    return replace(
        rewrite,
        query=question,
        needs_rewrite=False,
        method="none",
        reasoning=reasoning,
        confidence=0.3,
        readable=True,
    )
