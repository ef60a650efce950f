"""On which side of something a sentence stays: before or after a day, above or below an amount.

"No later than 14 days after the trip" and "within two weeks of the trip" are on one side, "at least 14 days" is on the
other. English, Dutch, German, Spanish and French.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from kb.citations.fact_words import NUMBER_WORDS
from kb.text.wording import STOP_WORDS, stem

_MORE = (
    r"at least|at a minimum|(?:more|longer|higher|larger|greater|older|bigger|heavier|thicker) than|above|over"
    r"|exceeding|upwards of|minimum of|minimum"
    r"|minstens|minimaal|ten ?minste|vanaf|boven|(?:meer|langer|hoger|groter|ouder|zwaarder|dikker) dan"
    r"|mindestens|wenigstens|oberhalb von|ab|über|(?:mehr|länger|höher|größer|älter|schwerer|dicker) als"
    r"|al menos|como mínimo|mínimo de|más de|superior a|au moins|plus de|minimum de|supérieure? à"
)
_LESS = (
    r"up to|at most|at the most|a maximum of|maximum of|maximum|below|under|within"
    r"|(?:less|fewer|shorter|lower|smaller|younger|lighter|thinner) than"
    r"|hoogstens|maximaal|ten hoogste|onder|binnen|(?<!\d )tot|(?:minder|korter|lager|kleiner|jonger|lichter|dunner) dan"
    r"|höchstens|maximal|unterhalb von|unter|innerhalb von|bis zu"
    r"|(?:weniger|kürzer|niedriger|kleiner|jünger|leichter|dünner) als"
    r"|como máximo|máximo de|menos de|(?<!\d )hasta|inferior a|au plus|au maximum|moins de|maximum de|jusqu'à|inférieure? à"
)
_NOT = r"(?:\b(?:no|not(?: \w+)?|niet|nicht|pas) )?"
_FIGURE = r"(?:[€$£]\s?)?(?:(?:een|a|an|maximum|maximal|of) )?(?P<figure>\d[\d.,]*|[^\W\d_]+(?:-[^\W\d_]+)?)"
_AMOUNT = re.compile(rf"(?P<not>{_NOT})\b(?:(?P<more>{_MORE})|(?P<less>{_LESS}))\s+{_FIGURE}", re.IGNORECASE)
_AMOUNT_OR = re.compile(
    r"(?P<figure>\d[\d.,]*|[^\W\d_]+)(?: [^\W\d_]+| [%€]){0,2} (?:or|of|oder|o|ou) "
    r"(?:(?P<more>more|longer|over|above|meer|langer|mehr|länger|más|plus)"
    r"|(?P<less>less|fewer|shorter|below|under|minder|korter|weniger|kürzer|menos|moins))\b",
    re.IGNORECASE,
)
_MOMENT = re.compile(
    r"\b(?:(?P<less>before|prior to|ahead of|until|vóór|voor|voordat|voorafgaand aan|vor|bevor|antes del?|avant)"
    r"|(?P<more>after|following|na|nadat|nach|nachdem|después del?|tras|après))\b(?P<rest>[^,;.!?()\n]*)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:[.,:'-][^\W_]+)*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """`landmark`: the amount, or the first word of the event. `side`: 1 above or after, -1 below or before."""

    kind: Literal["amount", "moment"]
    landmark: str
    side: int

    @property
    def turned(self) -> Limit:
        return replace(self, side=-self.side)


def read_limits(words: str) -> frozenset[Limit]:
    return frozenset((*_amounts(words), *_moments(words)))


def _amounts(words: str) -> Iterator[Limit]:
    for pattern in (_AMOUNT, _AMOUNT_OR):
        for match in pattern.finditer(words):
            figure = _figure(match["figure"])
            if figure is not None:
                side = 1 if match["more"] else -1
                yield Limit(
                    kind="amount",
                    landmark=figure,
                    side=-side if pattern is _AMOUNT and match["not"] else side,
                )


def _moments(words: str) -> Iterator[Limit]:
    for match in _MOMENT.finditer(words):
        for word in _WORD.findall(match["rest"]):
            if word.casefold() not in STOP_WORDS:
                yield Limit(
                    kind="moment", landmark=_figure(word) or stem(word), side=1 if match["more"] else -1
                )
                break


def _figure(word: str) -> str | None:
    if word[:1].isdigit():
        return re.sub(r"[.,:](?=\d{3}\b)", "", word).rstrip(".,:")
    value = NUMBER_WORDS.get(word.casefold())
    return None if value is None else f"{value:g}"
