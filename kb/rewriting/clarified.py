"""Puts the reply to a clarifying question ("Do you mean shipping or returns?") into the question that was unclear."""

from __future__ import annotations

from collections.abc import Sequence

from kb.conversation.topics import Subject
from kb.models import Rewrite, Turn
from kb.rewriting.compose import appended, as_question, compose
from kb.rewriting.followup_detector import detect_followup
from kb.rewriting.sequences import step_in
from kb.text.lexicon import Lexicon, words_of


def answered_clarification(reply: str, turn: Turn, lexicon: Lexicon) -> Rewrite | None:
    """Rewrites the question that `turn` asked back about; None where the reply is a question of its own."""
    signals = detect_followup(reply, lexicon)
    asked = any(word in lexicon.words.question for word in words_of(reply)) or reply.rstrip().endswith("?")
    if asked and not signals.dependent and len(lexicon.content_of(reply)) > 1:
        return None
    chosen = _chosen(reply, turn.topics, lexicon)
    subject = Subject(text=chosen or (signals.rest or reply).strip(" .?!"))
    query = _with_subject(turn.question, subject, lexicon)
    return Rewrite(
        query=query,
        needs_rewrite=True,
        is_follow_up=True,
        topics=(subject.text,),
        reasoning="answer to our clarifying question",
        confidence=0.8,
        method="heuristic",
    )


def _with_subject(unclear: str, subject: Subject, lexicon: Lexicon) -> str:
    """Names the subject in an unclear question; a bare word that the subject holds ("leave", "Leave policy") goes."""
    if set(lexicon.content_of(unclear)) <= subject.words and lexicon.rewriting.about:
        return lexicon.rewriting.about.format(focus=subject.text)
    before = detect_followup(unclear, lexicon)
    if before.dependent:
        return compose(before, subject, lexicon)
    return as_question(appended(unclear, subject), lexicon)


def _chosen(reply: str, interpretations: Sequence[str], lexicon: Lexicon) -> str | None:
    """Returns the interpretation that a reply picks, by its place ("the second one", "2") or by words of its own."""
    step, number = step_in(reply, lexicon), reply.strip(" .)#")
    place = int(number) if number.isdecimal() else step.to if step is not None else None
    if place is not None:
        exists = 0 < abs(place) <= len(interpretations)
        return interpretations[place - 1 if place > 0 else place] if exists else None
    words = set(lexicon.content_of(reply))
    named = [interpretation for interpretation in interpretations if words <= set(words_of(interpretation))]
    return named[0] if words and len(named) == 1 else None
