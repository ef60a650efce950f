"""Renders the buttons below "Do you mean A or B?". A press does what a reply that names the interpretation does.
Pure.
"""

from __future__ import annotations

from typing import Any

from bot.rendering.citation_blocks import title_of
from bot.rendering.layout import label, shorten
from kb.answer import Answer

READING = "footnote_reading_"
"""What the action ids start with: Slack wants each of a message's buttons to have its own."""
LABEL_CHARACTERS = 75
"""Slack's limit of a button's text."""
VALUE_CHARACTERS = 2000


def interpretation_buttons(answer: Answer) -> list[dict[str, Any]]:
    """Renders a button for each interpretation; none where there is only one, or the answer asks nothing back."""
    if answer.outcome != "unclear" or len(answer.interpretations) < 2:
        return []
    return [
        {
            "type": "button",
            "action_id": f"{READING}{number}",
            "value": shorten(title_of(title), VALUE_CHARACTERS),
            "text": label(shorten(title_of(title), LABEL_CHARACTERS)),
        }
        for number, title in enumerate(answer.interpretations, start=1)
    ]
