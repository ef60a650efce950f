"""Renders "Why this answer?": what was understood and searched, which pages were found and why, how sure it is; below
a line the figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.messages.catalog import Messages, messages_in
from bot.questions.explanation_record import Cited, Explanation, Passage
from bot.rendering.citation_blocks import titled_link
from bot.rendering.layout import SECTION_CHARACTERS, Block, context, cut, cut_lines, section, shorten
from bot.rendering.mrkdwn import escape
from bot.rendering.notes import OPERATORS_ONLY, note_wording
from kb.calibration import Reranking

SHOWN_CHARACTERS = 400
SHOWN_LINES = 8
SHOWN_OTHERS = 3
VERY_SURE, FAIRLY_SURE = 0.75, 0.5
"""From these confidences on an answer is called very sure, and fairly sure."""


def _context(explanation: Explanation, messages: Messages) -> str:
    if not explanation.context or not explanation.context_share:
        return messages.none
    return f"{', '.join(explanation.context)} ({messages.percent(explanation.context_share)})"


def explanation_blocks(explanation: Explanation) -> list[Block]:
    """Builds the modal's blocks: what a person asks first, and below a line the details for operators."""
    messages = messages_in(explanation.language)
    parts = [
        _fact(messages.why_spoke, str(getattr(messages, f"because_{explanation.reason}", ""))),
        _marked(messages.why_understood, _understood(explanation, messages)),
        _marked(messages.why_looked, _looked(explanation, messages)),
        _marked(messages.why_sure, _sure(explanation, messages)),
    ]
    pages = [
        *(_citation_text(citation, messages) for citation in explanation.cited),
        *_others(explanation, messages),
    ]
    return [
        *(section(part) for part in cut("\n".join(filter(None, parts)), SECTION_CHARACTERS)),
        *_listed(messages.why_pages, pages),
        *_listed(messages.why_removed, [_plain(line) for line in explanation.removed]),
        *_listed(messages.why_notes, [escape(note) for note in _notes(explanation, messages)]),
        {"type": "divider"},
        section(f"*{messages.why_details}*"),
        *_details(explanation, messages),
    ]


def _understood(explanation: Explanation, messages: Messages) -> str:
    if explanation.parts:
        return messages.understood_parts.format(
            parts=" · ".join(f"_{_plain(part)}_" for part in explanation.parts)
        )
    if not explanation.rewritten:
        return messages.understood_as_asked.format(query=_plain(explanation.question))
    if explanation.readable:
        return messages.understood_rewritten.format(query=_plain(explanation.rewritten))
    return messages.understood_thread.format(
        query=_plain(explanation.question), topics=_plain(", ".join(explanation.topics))
    )


def _looked(explanation: Explanation, messages: Messages) -> str:
    parts = [messages.looked_everywhere]
    if explanation.context and explanation.context_share:
        parts.append(messages.looked_along.format(words=_plain(", ".join(explanation.context))))
    if explanation.translated:
        parts.append(messages.looked_translated.format(query=_plain(explanation.translated)))
    if explanation.searches:
        parts.append(messages.looked_further.format(queries=_plain(" / ".join(explanation.searches))))
    return " ".join(parts)


def _sure(explanation: Explanation, messages: Messages) -> str:
    """Words the confidence, with its percentage."""
    by_outcome = {
        "closest": messages.sure_closest,
        "declined": messages.sure_declined,
        "unclear": messages.sure_unclear,
    }
    if explanation.confidence >= VERY_SURE:
        answered = messages.sure_very
    else:
        answered = messages.sure_fairly if explanation.confidence >= FAIRLY_SURE else messages.sure_barely
    return by_outcome.get(explanation.outcome, answered).format(
        percent=messages.percent(explanation.confidence)
    )


def _citation_text(cited: Cited, messages: Messages) -> str:
    how = [str(getattr(messages, f"found_by_{name}")) for name in cited.found_by]
    if "words" in cited.found_by and "meaning" in cited.found_by:
        how = [messages.found_by_both, *([messages.found_by_thread] if "thread" in cited.found_by else [])]
    place = titled_link(cited.title, cited.url)
    if cited.section:
        place += f" › {escape(shorten(cited.section, 100))}"
    return " – ".join([f"[{cited.n}] {place}", *(["; ".join(how)] if how else [])])


def _others(explanation: Explanation, messages: Messages) -> list[str]:
    """Lists pages that were found and that the answer does not rest on."""
    cited = {citation.title for citation in explanation.cited}
    others = {
        passage.title: passage.url.partition("#")[0]
        for passage in explanation.passages
        if passage.title not in cited
    }
    shown = [titled_link(title, url) for title, url in list(others.items())[:SHOWN_OTHERS]]
    return [messages.found_unused.format(pages=", ".join(shown))] if shown else []


def _notes(explanation: Explanation, messages: Messages) -> list[str]:
    return [
        note_wording(note, messages, removed=len(explanation.removed), quoted_in=explanation.quoted_in)
        for note in explanation.notes
        if note not in OPERATORS_ONLY
    ]


def _listed(title: str, lines: Sequence[str]) -> list[Block]:
    """Puts lines of mrkdwn under a title; no lines, no title."""
    text = "\n".join([f"*{title}*", *(f"• {line}" for line in lines[:SHOWN_LINES])])
    return [section(part) for part in cut_lines(text.split("\n"), SECTION_CHARACTERS)] if lines else []


def _plain(text: str) -> str:
    return escape(shorten(" ".join(text.split()), SHOWN_CHARACTERS))


def _marked(name: str, text: str) -> str:
    return f"*{name}:* {text}" if text else ""


def _details(explanation: Explanation, messages: Messages) -> list[Block]:
    percent = messages.percent(explanation.confidence)
    facts = [
        _fact(messages.why_question, explanation.question),
        _fact(messages.why_searched, explanation.rewritten or messages.why_unchanged),
        _fact(messages.why_translated, explanation.translated),
        _fact(messages.why_parts, " / ".join(explanation.parts)),
        _fact(messages.why_method, _how(explanation, messages)),
        _fact(messages.why_lost, explanation.lost),
        _fact(messages.why_topics, ", ".join(explanation.topics) or messages.none),
        _fact(messages.why_follow_up, messages.yes if explanation.is_follow_up else messages.no),
        _fact(messages.why_context, _context(explanation, messages)),
        _fact(messages.why_searches, " / ".join(explanation.searches)),
        _fact(
            messages.why_anchors, ", ".join(explanation.anchors) or messages.none, explanation.anchor_reason
        ),
        _fact(messages.why_rerank, _reranking(explanation.reranking, messages)),
        _fact(
            messages.why_decision, f"{explanation.outcome}, {messages.why_confidence.format(percent=percent)}"
        ),
        _fact(messages.why_judge, str(getattr(messages, f"judge_{explanation.judge}", ""))),
    ]
    blocks = [section(part) for part in cut("\n".join(filter(None, facts)), SECTION_CHARACTERS)]
    if explanation.passages:
        blocks.append(section(f"*{messages.why_passages}*"))
        blocks.extend(section(_passage_text(passage, messages)) for passage in explanation.passages)
    blocks += _listed(messages.why_freshness, [_plain(line) for line in explanation.freshness])
    return (
        [*blocks, context(_timings(explanation.timings_ms, messages))] if explanation.timings_ms else blocks
    )


def _how(explanation: Explanation, messages: Messages) -> str:
    """Tells who rewrote it, why, and how surely: "heuristic: reference word 'it' -> 'mulch', sure to 90%"."""
    method = f"{explanation.method}: {explanation.reasoning}" if explanation.reasoning else explanation.method
    if explanation.sure >= 1:
        return method
    return f"{method}, {messages.why_unsure.format(percent=messages.percent(explanation.sure))}"


def _reranking(trial: Reranking | None, messages: Messages) -> str:
    if trial is None:
        return ""
    text = messages.why_rerank_on if trial.helps else messages.why_rerank_off
    return text.format(
        samples=trial.samples,
        before=messages.percent(trial.before),
        after=messages.percent(trial.after),
        candidates=trial.candidates,
        weight=messages.percent(trial.weight),
    )


def _fact(name: str, value: str, reason: str = "") -> str:
    fact = _marked(name, _plain(value))
    return f"{fact} ({escape(shorten(reason, SHOWN_CHARACTERS))})" if reason else fact


def _passage_text(passage: Passage, messages: Messages) -> str:
    place = titled_link(passage.title, passage.url)
    if passage.section:
        place += f" › {escape(shorten(passage.section, 100))}"
    mark = f"[{passage.cited_as}]  " if passage.cited_as is not None else ""
    return f"{mark}{place}\n{_scores(passage, messages)}"


def _scores(passage: Passage, messages: Messages) -> str:
    """Lists the scores of the stages that ran for this passage."""
    scores = passage.model_dump(include={"dense", "lexical", "fused", "anchor", "rerank", "final"})
    ran = {stage: f"{score:.2f}" for stage, score in scores.items() if score is not None}
    if not scores["anchor"]:
        ran.pop("anchor", None)
    parts = messages.why_scores.split(" · ")
    return " · ".join(part.format(**ran) for part in parts if any(f"{{{stage}}}" in part for stage in ran))


def _timings(timings_ms: Mapping[str, float], messages: Messages) -> str:
    stages = " · ".join(
        f"{escape(stage)} {milliseconds:.0f} ms" for stage, milliseconds in timings_ms.items()
    )
    return shorten(f"{messages.why_timings}: {stages}", 1000)
