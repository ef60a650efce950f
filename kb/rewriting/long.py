"""What a long message asks: a pasted letter and then "which form do I need for that?".

An embedder reads some hundred words, so that a question behind them
would not be searched for. The message itself stays one of the wordings.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from kb.models import Rewrite
from kb.text.lexicon import Lexicon, words_of
from kb.text.phrases import asks_something, is_empty_reference

LONG = 600
"""Characters. Shorter messages are read whole by every bundled embedder."""
MOST = 300
"""Characters of what is taken for the question."""

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


def asked_at_the_end(message: str, lexicon: Lexicon) -> str | None:
    """The last of a long message's sentences that ask, at most two; None for a short one, and where none asks."""
    return _asked(message, lexicon) if len(message) > LONG else None


def read_of_earlier(message: str, lexicon: Lexicon) -> str:
    """What of an earlier message is read: a short one whole; of a long one what it asks at its end, else its end."""
    if len(message) <= LONG:
        return message
    end = message[-LONG:]
    end = end.partition(" ")[2] or end  # the first word is cut
    return _asked(end, lexicon) or end


def _asked(text: str, lexicon: Lexicon) -> str | None:
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(text)]
    asking = list(islice((sentence for sentence in reversed(sentences) if _asks(sentence, lexicon)), 2))[::-1]
    while asking and len(" ".join(asking)) > MOST:
        asking = asking[1:]
    return " ".join(asking) or None


def _asks(sentence: str, lexicon: Lexicon) -> bool:
    asks = sentence.endswith("?") or (len(words_of(sentence)) > 3 and asks_something(sentence))
    return asks and bool(lexicon.content_of(sentence)) and not is_empty_reference(sentence, lexicon.language)


def of_long_message(rewrite: Rewrite) -> Rewrite:
    """What it asks is searched for in the place of the message, which is no wording that one could search for."""
    reasoning = "; ".join(filter(None, ("asked at the end of a long message", rewrite.reasoning)))
    confidence = max(rewrite.confidence, 0.9) if not rewrite.needs_rewrite else rewrite.confidence
    return replace(
        rewrite,
        needs_rewrite=True,
        method="heuristic",
        clarify=False,
        reasoning=reasoning,
        confidence=confidence,
    )
