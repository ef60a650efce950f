"""Rewriting without a model: well under five milliseconds, no network, no cost.

The question is corrected and read; where it leans on the thread, the subject of the thread is found and put into it.
Steps in a series ("how about next" after Day 6) are resolved by rule. What is not understood keeps the user's words.
Of several questions in one, each is read as the follow-up of the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kb.conversation.above import leading
from kb.conversation.topics import Subject, ThreadState, key_topics, names_in, person_in, subject_of
from kb.models import Rewrite, Turn
from kb.rewriting.clarified import answered_clarification
from kb.rewriting.compose import as_question, compose, is_readable
from kb.rewriting.followup_detector import FollowupSignals, detect_followup
from kb.rewriting.long import asked_at_the_end, of_long_message, read_of_earlier
from kb.rewriting.parts import as_part, split_question
from kb.rewriting.sequences import items_in
from kb.rewriting.spelling import Vocabulary, correct
from kb.rewriting.steps import resolved_step
from kb.rewriting.swaps import swapped
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
    """Rewrites by rules. `vocabulary` gives the document frequency of a word in the index."""

    def __init__(self, vocabulary: Vocabulary | None = None, *, window: int = WINDOW) -> None:
        self._vocabulary = vocabulary
        self._window = window

    def rewrite(self, question: str, turns: Sequence[Turn], *, language: str) -> Rewrite:
        """Rewrites a question after the thread's turns (oldest first). `language` is the question's (ISO 639-1)."""
        own_lexicon = lexicon(language)
        turns = leading([turn for turn in turns if turn.outcome != "chat"])
        end = asked_at_the_end(question, own_lexicon)
        if end is not None:
            return of_long_message(self._rewrite(end, turns, own_lexicon))
        return self._rewrite(question, turns, own_lexicon)

    def _rewrite(self, question: str, turns: Sequence[Turn], lexicon: Lexicon) -> Rewrite:
        questions = split_question(question, lexicon)
        if questions:
            return self._rewrite_several(question, questions, turns, lexicon)
        return self._rewrite_one(question, turns, lexicon)

    def _rewrite_several(
        self, question: str, questions: Sequence[str], turns: Sequence[Turn], lexicon: Lexicon
    ) -> Rewrite:
        """Rewrites each of several questions as if the ones before it were turns of the thread."""
        before = list(turns)
        rewrites: list[Rewrite] = []
        parts: list[str] = []
        for text in questions:
            rewrite = self._rewrite_one(text, before, lexicon)
            resolved = rewrite.needs_rewrite and not rewrite.wants_more
            # "When is it paid (on-call stipend)?" is no sentence, but says what the question is about.
            names_its_subject = resolved and (
                rewrite.readable or len(detect_followup(text, lexicon).pointers) == 1
            )
            rewrites.append(rewrite)
            parts.append(rewrite.query if names_its_subject else as_part(text, lexicon))
            before.append(Turn(question=text, answer="", rewritten=parts[-1], topics=rewrite.topics))
        first = rewrites[0]
        whole = replace(
            first,
            query=" ".join(parts) if first.needs_rewrite else question,
            reasoning="; ".join(filter(None, ("several questions", first.reasoning))),
            clarify=all(rewrite.clarify for rewrite in rewrites),
            parts=tuple(parts),
            wants_more=False,
            required=(),
        )
        return _checked(question, whole)

    def _rewrite_one(self, question: str, turns: Sequence[Turn], lexicon: Lexicon) -> Rewrite:
        if not turns:
            return self._first_of_thread(question, lexicon)
        state = thread_state(turns[-self._window :], lexicon)
        rewrite = None
        if turns[-1].outcome == "unclear":
            rewrite = answered_clarification(question, turns[-1], lexicon)
        if rewrite is None:
            corrected = correct(question, lexicon, thread=state.seen, vocabulary=self._vocabulary)
            rewrite = self._understood(question, corrected, state, lexicon)
        if rewrite.needs_rewrite and not is_readable(rewrite.query, question, lexicon):
            rewrite = replace(rewrite, readable=False)
        return _checked(question, rewrite)

    def _first_of_thread(self, question: str, lexicon: Lexicon) -> Rewrite:
        """Corrects a question that nothing was said before."""
        corrected = correct(question, lexicon, thread=(), vocabulary=self._vocabulary)
        clarify = is_empty_reference(corrected, lexicon.language)
        if corrected == question:
            return Rewrite(query=question, clarify=clarify)
        mended = Rewrite(
            query=as_question(corrected, lexicon),
            needs_rewrite=True,
            reasoning="spelling corrected",
            method="heuristic",
            clarify=clarify,
        )
        return _checked(question, mended)

    def _understood(self, question: str, corrected: str, state: ThreadState, lexicon: Lexicon) -> Rewrite:
        """Rewrites a question whose spelling was `corrected`."""
        mended = corrected != question
        if state.previous and asks_further(corrected, lexicon):
            further = _rewritten(state.previous, state, reasoning="asks for more", confidence=0.9)
            named = tuple(item.text for item in items_in(state.previous, lexicon) if item.exact)
            return replace(further, wants_more=True, required=named)
        series = resolved_step(corrected, state, lexicon)
        if series is not None:
            stepped = _rewritten(series.text, state, reasoning="step in a series", confidence=0.9)
            return replace(stepped, required=series.required, readable=series.readable)
        signals = detect_followup(corrected, lexicon, thread_words=state.seen)
        if not signals.dependent:
            continues = not signals.shift and _continues(corrected, state, lexicon)
            reasoning = "topic shift" if signals.shift else "; ".join(signals.hints) or "stands alone"
            return Rewrite(
                query=as_question(corrected, lexicon) if mended else question,
                needs_rewrite=mended,
                is_follow_up=continues or bool(signals.hints),
                topics=() if signals.shift else state.topics,
                shift=signals.shift,
                reasoning=reasoning + (", spelling corrected" if mended else ""),
                confidence=UNSURE if signals.hints else 1.0,
                method="heuristic" if mended else "none",
            )
        swap = swapped(signals, lexicon, state.previous, state.subject)
        if swap is not None:
            like = _rewritten(
                as_question(swap.text, lexicon), state, reasoning="the like for the like", confidence=0.9
            )
            return replace(like, required=(swap.term,) if swap.term else ())
        subject = _referent(signals, state, lexicon)
        reasoning = "; ".join(signals.reasons) + (", spelling corrected" if mended else "")
        if subject is None:
            return Rewrite(
                query=corrected, needs_rewrite=mended, is_follow_up=True, topics=state.topics,
                reasoning=f"{reasoning}; no subject in the thread", confidence=0.3,
                method="heuristic" if mended else "none", clarify=is_empty_reference(corrected, lexicon.language),
            )  # fmt: skip
        query = compose(signals, subject, lexicon)
        query = as_question(query, lexicon) if query != question else query
        return _rewritten(
            query, state, reasoning=f"{reasoning} -> {subject.text!r}", confidence=_confidence(signals)
        )


def thread_state(turns: Sequence[Turn], lexicon: Lexicon) -> ThreadState:
    """Walks through the turns, oldest first: a question that stands alone sets the subject, a follow-up keeps it."""
    state = ThreadState()
    for turn in turns:
        question, answer = read_of_earlier(turn.question, lexicon), turn.answer[-READ_OF_ANSWER:]
        understood = turn.rewritten or _rewritten_earlier(question, state, lexicon)
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


def _rewritten_earlier(question: str, state: ThreadState, lexicon: Lexicon) -> str:
    """Rewrites an earlier question, for a turn that carries no rewrite."""
    if state.subject is None:
        return question
    question = correct(question, lexicon, thread=state.seen, vocabulary=None)
    if state.previous and asks_further(question, lexicon):
        return state.previous
    series = resolved_step(question, state, lexicon)
    if series is not None:
        return series.text
    signals = detect_followup(question, lexicon, thread_words=state.seen)
    if not signals.dependent:
        return question
    swap = swapped(signals, lexicon, state.previous, state.subject)
    if swap is not None:
        return as_question(swap.text, lexicon)
    subject = _referent(signals, state, lexicon)
    return compose(signals, subject, lexicon) if subject is not None else question


def _next_subject(question: str, understood: str, state: ThreadState, lexicon: Lexicon) -> Subject | None:
    signals = detect_followup(question, lexicon)
    kept = state.subject
    if kept is not None and not signals.shift and (signals.dependent or understood != question):
        if kept.words <= set(words_of(understood)):
            return kept
        return subject_of(understood, lexicon) or kept
    text = signals.rest if signals.shift and signals.rest else understood
    return subject_of(text, lexicon) or kept


def asks_further(question: str, lexicon: Lexicon) -> bool:
    """Whether a whole question asks for what was not said yet: "tell me more", "any others?", "more on that?"."""
    words = words_of(question)
    while words and (words[-1] in lexicon.references or words[-1] in lexicon.small_talk.filler):
        words = words[:-1]
    words = words[:-1] if words and words[-1] in lexicon.ellipsis.about else words
    return any(" ".join(asked) in lexicon.ellipsis.further for asked in (words_of(question), words))


def _referent(signals: FollowupSignals, state: ThreadState, lexicon: Lexicon) -> Subject | None:
    """Returns what the question points at: a person's name, the thread's subject, or the answer's last topic."""
    words = {words_of(signals.text[start:])[0] for start in signals.pointers}
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
    """Drops a measure: "who approves it?" after "how many days of study leave" is about the study leave."""
    matches = (measure.match(subject.text) for measure in lexicon.rewriting.measures)
    found = next(filter(None, matches), None)
    return subject if found is None else replace(subject, text=found["np"])


def _continues(question: str, state: ThreadState, lexicon: Lexicon) -> bool:
    """Whether a question that stands alone goes on about the last exchange: most of its content words are there."""
    content = set(lexicon.content_of(question))
    return bool(content) and 2 * len(content & state.words) > len(content)


def _confidence(signals: FollowupSignals) -> float:
    """Returns how sure a rewrite is: a reference word or an opener is certain, shortness or a bare noun is a guess."""
    return 0.9 if signals.pointers or signals.opener else 0.6


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
    """Falls back to the user's words where the rewrite may not be used; that it is a follow-up stays true."""
    if not rewrite.needs_rewrite:
        return rewrite
    if rewrite.query.strip() == question.strip():
        return replace(rewrite, query=question, needs_rewrite=False, method="none", readable=True)
    reason = validate(question, rewrite.query)
    if reason is None:
        return rewrite
    return replace(
        rewrite,
        query=question,
        needs_rewrite=False,
        method="none",
        reasoning=f"{rewrite.reasoning}; not used: {reason}",
        confidence=0.3,
        readable=True,
    )
