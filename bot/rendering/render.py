"""Renders an `Answer` as a Slack message. Pure: the day is an argument.

What the pages say, or what a model wrote from them, comes first; above it stands a doubt about the page that carries a
written answer. Then come what was left open, doubts about further pages, the sources of written sentences, a quiet line
on what was degraded, and the buttons. Slack's limits hold by construction: each part has its share of the 13,200
characters that a message's blocks may have together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from bot.messages.catalog import Messages, messages_in
from bot.rendering.citation_blocks import source_line, title_of, titled_link
from bot.rendering.disambiguation import disambiguated
from bot.rendering.fallback_actions import FallbackActions, fallback_buttons, owner_line
from bot.rendering.layout import Block, button, context, label, section, shorten
from bot.rendering.mrkdwn import escape, to_mrkdwn
from bot.rendering.notes import reader_notes
from bot.rendering.quote_headers import markdown_link
from bot.rendering.quotes import QuoteBlocks, quote_blocks, quote_markdown, shorten_part
from bot.rendering.statements import statement_blocks
from bot.rendering.warnings import warning_lines
from kb.answer import Answer, AnswerWarning, NearestPage
from kb.marked import marked_markdown

ANSWER_CHARACTERS = 8000
OPEN_CHARACTERS = 600
WARNING_CHARACTERS = 1200
SOURCE_CHARACTERS = 2400
QUERY_CHARACTERS = 250
TEXT_CHARACTERS = 4000
"""Slack advises at most this much for the text that notifications and screen readers use."""

HELPFUL, NOT_HELPFUL, WHY = "footnote_helpful", "footnote_not_helpful", "footnote_why"
READING = "footnote_reading_"
"""The action ids of the interpretations start so: Slack wants each of a message's buttons to have its own."""
BUTTON_CHARACTERS = 75
"""Slack's limit of a button's text."""
BUTTON_VALUE_CHARACTERS = 2000


@dataclass(frozen=True, kw_only=True, slots=True)
class Rendered:
    """A message. `text` says the same as the blocks: notifications and clients without blocks use it."""

    text: str
    blocks: tuple[Block, ...] = ()


def render(
    answer: Answer,
    *,
    question_id: str,
    today: date,
    fallback: FallbackActions | None = None,
    in_thread: bool = False,
) -> Rendered:
    """Renders the message. `in_thread`: others see it and can choose what it asks back."""
    chosen = _interpretation_buttons(answer) if in_thread else []
    answer, messages = disambiguated(answer), messages_in(answer.language)
    body = _body(answer, messages, fallback)
    interpreted = _interpreted(answer, messages)
    left_open = _left_open(answer, messages)
    above, below = _warnings(answer, messages, today)
    sources = _sources(answer, messages)
    notes = " ".join(reader_notes(answer, messages, shortened=body.cut))
    blocks = [
        *([context(interpreted)] if interpreted else []),
        *_lines(above, section, budget=WARNING_CHARACTERS),
        *body.blocks,
        *(section(line) for line in left_open),
        *_lines(below, section, budget=WARNING_CHARACTERS),
        *_lines(sources, context, budget=SOURCE_CHARACTERS),
        *([context(notes)] if notes else []),
        *_actions(answer, chosen or _buttons(messages, question_id, fallback)),
    ]
    heading = [f"{messages.sources}:"] if sources else []
    parts = [body.text, *left_open, *above, *below, *heading, *sources, notes, interpreted]
    return Rendered(
        text=shorten("\n".join(line for line in parts if line), TEXT_CHARACTERS), blocks=tuple(blocks)
    )


def plain(text: str) -> Rendered:
    """Returns one of our own sentences, without blocks."""
    return Rendered(text=text)


def answer_markdown(answer: Answer) -> str:
    """Returns the answer as Markdown, for a terminal or an API: sentences with their marks, or quotes with heads."""
    answer, messages = disambiguated(answer), messages_in(answer.language)
    unfound = _unfound(answer, messages, str)
    if _is_written(answer):
        marked = marked_markdown(answer.sentences, "[{}]".format, below=messages.sources_below)
        parts = [marked, answer.left_open, *unfound]
    elif answer.quotes and answer.outcome == "answered":
        parts = [quote_markdown(answer.quotes, messages), *unfound]
    else:
        lead, after = _around_quotes(answer, messages, _nearest_markdown, str, None)
        quotes = quote_markdown(answer.quotes, messages, closest=True)
        parts = [*lead.split("\n"), quotes, *unfound, *after.split("\n")]
    return "\n\n".join(part for part in parts if part)


def answer_warnings(answer: Answer, today: date) -> list[str]:
    """Returns the warnings as Markdown without links, for a terminal."""
    answer = disambiguated(answer)
    return warning_lines(answer, messages_in(answer.language), today, named=lambda title, _: title_of(title))


def _is_written(answer: Answer) -> bool:
    """Returns whether it has sentences of its own: of a model, a clarifying question or a greeting, not a quote."""
    written = answer.sentences and not answer.quotes
    return bool(written) and answer.outcome in {"answered", "unclear", "chat"}


def _interpreted(answer: Answer, messages: Messages) -> str:
    if answer.interpreted is None:
        return ""
    return messages.interpreted_as.format(
        query=escape(shorten(" ".join(answer.interpreted.split()), QUERY_CHARACTERS))
    )


def _body(answer: Answer, messages: Messages, fallback: FallbackActions | None) -> QuoteBlocks:
    """Returns the answer's blocks and its plain text."""
    if _is_written(answer):
        blocks, text, cut = statement_blocks(answer, messages, budget=ANSWER_CHARACTERS)
        return QuoteBlocks(blocks=tuple(blocks), text=text, cut=cut)
    if answer.quotes and answer.outcome == "answered":
        return quote_blocks(answer.quotes, messages, budget=ANSWER_CHARACTERS)
    lead, after = _around_quotes(answer, messages, _nearest_link, escape, fallback)
    quotes = quote_blocks(answer.quotes[:1], messages, budget=ANSWER_CHARACTERS, closest=True)
    return replace(
        quotes,
        blocks=(section(lead), *quotes.blocks, *([section(after)] if after else [])),
        text="\n".join(part for part in (lead, quotes.text, after) if part),
    )


def _around_quotes(
    answer: Answer,
    messages: Messages,
    shown: Callable[[NearestPage], str],
    as_text: Callable[[str], str],
    fallback: FallbackActions | None,
) -> tuple[str, str]:
    """Returns what is said where no page answers: before the closest quote, if there is one, and after it."""
    match answer.outcome:
        case "unavailable":
            return messages.unavailable, ""
        case "chat":
            return str(getattr(messages, answer.small_talk or "greeting")), ""
        case "unclear":
            return _clarifying([as_text(title_of(title)) for title in answer.interpretations], messages), ""
    if "nothing more" in answer.notes and not answer.quotes:
        return messages.nothing_more, ""
    owner = owner_line(answer, messages, shown, as_text, fallback)
    if not answer.quotes:
        return _declined(answer, messages, shown, owner), ""
    lead = messages.closest if answer.outcome == "closest" else messages.closest_declined
    quote = answer.quotes[0].citation.chunk
    others = [page for page in answer.nearest if page.url not in (quote.url, quote.page.url)]
    further = [messages.nearest_others.format(pages=", ".join(map(shown, others)))] if others else []
    named = owner or quote.page.owner
    return lead, "\n".join(
        [*further, *([owner] if owner else []), *([] if named else [messages.ask_better_alone])]
    )


def _declined(answer: Answer, messages: Messages, shown: Callable[[NearestPage], str], owner: str) -> str:
    pages = ", ".join(map(shown, answer.nearest))
    if not pages:
        return f"{messages.declined} {messages.ask_better_alone}"
    near = messages.nearest.format(pages=pages)
    return "\n".join([messages.declined, near, *([owner] if owner else []), messages.ask_better])


def _clarifying(interpretations: Sequence[str], messages: Messages) -> str:
    """Words one question, with the interpretations where there are several: "Do you mean A, B or C?"."""
    if len(interpretations) < 2:
        return messages.unclear
    *first, last = interpretations
    return messages.unclear_readings.format(
        readings=messages.or_else.format(first=", ".join(first), last=last)
    )


def _nearest_link(page: NearestPage) -> str:
    return titled_link(page.title, page.url)


def _nearest_markdown(page: NearestPage) -> str:
    return markdown_link(page.url, title_of(page.title))


def _left_open(answer: Answer, messages: Messages) -> list[str]:
    """Returns what the pages do not tell, in a model's words, and the parts of a question without a find."""
    left = [shorten(to_mrkdwn(answer.left_open), OPEN_CHARACTERS)] if answer.left_open.strip() else []
    return [*left, *_unfound(answer, messages, escape)]


def _unfound(answer: Answer, messages: Messages, as_text: Callable[[str], str]) -> list[str]:
    parts = ", ".join(f"_{as_text(shorten_part(part))}_" for part in answer.unfound)
    return [shorten(messages.unfound.format(parts=parts), OPEN_CHARACTERS)] if parts else []


def _warnings(answer: Answer, messages: Messages, today: date) -> tuple[list[str], list[str]]:
    """Returns the warnings above and below the answer. Quotes carry their dates: above them stand conflicts alone."""

    def is_above(warning: AnswerWarning) -> bool:
        return warning.carries and (_is_written(answer) or warning.kind == "conflict")

    above = warning_lines(answer, messages, today, shown=is_above)
    below = warning_lines(answer, messages, today, shown=lambda warning: not is_above(warning))
    return [f"⚠️ {line}" for line in above], [f"⚠️ {line}" for line in below]


def _sources(answer: Answer, messages: Messages) -> list[str]:
    """Returns a line for each source of written sentences. The head of a quote says the same already."""
    if answer.quotes:
        return []
    doubts = {warning.page.id: warning for warning in answer.warnings if warning.kind != "conflict"}
    return [
        source_line(citation, doubts.get(citation.chunk.page.id), messages) for citation in answer.citations
    ]


def _lines(lines: Sequence[str], make: Callable[[str], Block], *, budget: int) -> list[Block]:
    kept: list[str] = []
    for line in lines:
        budget -= len(line) + 1
        if budget < 0:
            break
        kept.append(line)
    return [make("\n".join(kept))] if kept else []


def _actions(answer: Answer, buttons: list[dict[str, Any]]) -> list[Block]:
    return [] if answer.outcome in {"chat", "unavailable"} else [{"type": "actions", "elements": buttons}]


def _buttons(messages: Messages, question_id: str, fallback: FallbackActions | None) -> list[dict[str, Any]]:
    return [
        button(HELPFUL, "👍", question_id, meaning=messages.helpful),
        button(NOT_HELPFUL, "👎", question_id, meaning=messages.not_helpful),
        button(WHY, messages.why, question_id),
        *fallback_buttons(messages, question_id, fallback),
    ]


def _interpretation_buttons(answer: Answer) -> list[dict[str, Any]]:
    """Renders a button for each interpretation; none where there is only one, or the answer asks nothing back."""
    if answer.outcome != "unclear" or len(answer.interpretations) < 2:
        return []
    return [
        {
            "type": "button",
            "action_id": f"{READING}{number}",
            "value": shorten(title_of(title), BUTTON_VALUE_CHARACTERS),
            "text": label(shorten(title_of(title), BUTTON_CHARACTERS)),
        }
        for number, title in enumerate(answer.interpretations, start=1)
    ]
