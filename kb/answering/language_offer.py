"""Offers another embedding model where the present one does not read the languages of questions or pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kb.answering.language import SURE_LANGUAGES
from kb.config.model_settings import MULTILINGUAL
from kb.index.port import VectorIndex
from kb.inference.embedding_languages import reads

LATEST = 50
"""Questions whose languages are remembered: some weeks of a small team's, so that a change of habits shows."""
FEWEST = 5
"""Fewest questions in unread languages for an offer: fewer may be one person's try."""
SHARE = 10
"""One in so many questions, or pages, in unread languages calls for another model."""
NAMED = 3
"""Languages that an offer names, the most frequent."""
SAMPLED = 5000
"""Passages that are sampled for the languages of their pages: all of them at most companies."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LanguageOffer:
    """`number` of the last `total` questions, or of the pages, are in `languages` (most frequent first), unread ones.

    `model`: the value of `embed.model` that reads them.
    """

    of: Literal["questions", "pages"]
    number: int
    total: int
    languages: tuple[str, ...]
    model: str = MULTILINGUAL


def reads_all(model: str) -> bool:
    """Tells whether the model reads every language that could lead to an offer."""
    return all(reads(model, language) for language in SURE_LANGUAGES)


def language_offer(model: str, *, asked: Sequence[str], pages: Mapping[str, int]) -> LanguageOffer | None:
    """Returns the offer that the figures call for, questions before pages; None where the embedder reads nearly all.

    `asked`: the languages of the latest questions, `LATEST` at most; `pages`: how many there are in each language.
    """
    questions = _unread(model, Counter(asked))
    number = sum(questions.values())
    if number >= FEWEST and number * SHARE >= len(asked):
        return LanguageOffer(of="questions", number=number, total=len(asked), languages=_named(questions))
    unread = _unread(model, Counter(pages))
    number, total = sum(unread.values()), sum(pages.values())
    if number and number * SHARE >= total:
        return LanguageOffer(of="pages", number=number, total=total, languages=_named(unread))
    return None


async def pages_by_language(index: VectorIndex) -> Mapping[str, int]:
    """Returns the number of pages in each language, estimated by a sample where there are more passages than `SAMPLED`.

    Raises:
        IndexUnavailableError: it cannot be told.
    """
    languages = {
        passage.chunk.page.id: passage.chunk.page.language for passage in await index.sample(SAMPLED)
    }
    total = max((await index.counts()).pages, len(languages))
    counted = Counter(languages.values())
    return {language: round(number * total / len(languages)) for language, number in counted.items()}


def _unread(model: str, counted: Counter[str]) -> Counter[str]:
    """Keeps the languages that the model does not read and that the detector tells apart well."""
    return Counter(
        {
            language: number
            for language, number in counted.items()
            if language in SURE_LANGUAGES and not reads(model, language)
        }
    )


def _named(counted: Counter[str]) -> tuple[str, ...]:
    return tuple(language for language, _ in counted.most_common(NAMED))
