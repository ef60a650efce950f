"""Steps in the series that a thread is in: "how about next" after Day 6, "the second one" after a list."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kb.conversation.topics import ThreadState
from kb.rewriting.compose import appended, as_question
from kb.rewriting.sequences import Item, SeriesStep, items_in, resolve, step_in
from kb.text.lexicon import Lexicon

_LIST_ITEM = re.compile(r"^[ \t]*(?:\d{1,3}[.)]|[-*+])[ \t]+(?P<text>.+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedStep:
    """A question with its step resolved. `required`: the item, where pages write it just so.

    A date in the place of "after that" makes no sentence ("what happened February?"): not `readable`.
    """

    text: str
    required: tuple[str, ...] = ()
    readable: bool = True


def resolved_step(question: str, state: ThreadState, lexicon: Lexicon) -> ResolvedStep | None:
    """Resolves the step that a question asks for; None where it asks for none, or the thread has no such series."""
    step = step_in(question, lexicon)
    if step is None:
        return None
    item = _item_at_hand(step, state, lexicon)
    target = (
        resolve(step, item, lexicon, mentioned=items_in(state.answer, lexicon)) if item is not None else None
    )
    if item is None or target is None:
        listed = _listed(question, step, state, lexicon)
        return None if listed is None else ResolvedStep(text=listed)
    return ResolvedStep(
        text=_with_item(question, step, item, target, state, lexicon),
        required=(target.text,) if target.exact else (),
        readable=target.exact and target.kind != "year",
    )


def _with_item(
    question: str, step: SeriesStep, item: Item, target: Item, state: ThreadState, lexicon: Lexicon
) -> str:
    outside = question[: step.span[0]] + " " + question[step.span[1] :]
    if lexicon.content_of(outside):  # a question of its own about the item
        return as_question(question[: step.span[0]] + target.text + question[step.span[1] :], lexicon)
    for old in items_in(state.previous, lexicon):
        if old.same_series(item):
            return as_question(
                state.previous[: old.span[0]] + target.text + state.previous[old.span[1] :], lexicon
            )
    about = lexicon.rewriting.about.format(focus=target.text) if lexicon.rewriting.about else target.text
    return appended(about, state.subject) if state.subject is not None else about


def _item_at_hand(step: SeriesStep, state: ThreadState, lexicon: Lexicon) -> Item | None:
    """Returns the item that a step counts from: what was asked about, else the last that the answer sets apart."""
    asked = items_in(state.previous, lexicon)
    topics = [item for topic in state.topics for item in items_in(topic, lexicon)[:1]]
    mentioned = items_in(state.answer, lexicon)
    for items in (asked, topics, mentioned):
        fitting = [item for item in items if _fits(step, item)]
        if fitting:
            return fitting[-1]
    return None


def _fits(step: SeriesStep, item: Item) -> bool:
    if step.unit:
        return item.unit == step.unit or (item.kind == "weekday" and step.unit in ("day", "dag", "tag"))
    # "What happened after that?" does not ask about the next year.
    return item.kind != "year"


def _listed(question: str, step: SeriesStep, state: ThreadState, lexicon: Lexicon) -> str | None:
    """Puts an item of the answer's list into the question: the second for "Tell me more about the second one"."""
    listed = [match["text"].strip().rstrip(".;") for match in _LIST_ITEM.finditer(state.answer)]
    if step.to is None or not listed or step.to > len(listed):
        return None
    if step.unit and step.unit not in lexicon.sequence.units:
        return None
    text = re.sub(r"[*_`]", "", listed[step.to - 1 if step.to > 0 else -1])
    return as_question(f"{question[: step.span[0]]}{text}{question[step.span[1] :]}", lexicon)
