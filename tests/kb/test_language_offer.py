"""When another embedder is offered, and by which figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from kb.answering.language_offer import LanguageOffer, language_offer, pages_by_language, reads_all
from kb.index.port import IndexCounts, StoredPassage
from kb.inference.embedding_languages import reads
from tests.fakes.passages import a_passage

MINILM = "all-MiniLM-L6-v2"


def offered(model: str = MINILM, **figures: int | Mapping[str, int]) -> LanguageOffer | None:
    """`pages`: how many in each language; every other figure is a number of questions in that language."""
    pages = figures.pop("pages", {})
    asked = [language for language, number in figures.items() for _ in range(number)]  # type: ignore[arg-type]
    return language_offer(model, asked=asked, pages=pages)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("model", "languages", "read"),
    [
        (MINILM, "en", True),
        (MINILM, "nl", False),
        ("/models/all-MiniLM-L6-v2", "nl", False),
        ("multilingual-e5-small", "ja", True),
        ("all-MiniLM-L6-v2+multilingual-e5-small", "nl", True),
        ("multilingual", "nl", True),
        ("intfloat/whatever-it-is", "nl", True),
    ],
)
def test_what_an_embedder_reads_is_known_by_its_name(model: str, languages: str, read: bool) -> None:
    assert reads(model, languages) is read


def test_questions_in_other_languages_bring_an_offer_the_most_frequent_language_first() -> None:
    assert offered(en=36, nl=9, de=5) == LanguageOffer(
        of="questions", number=14, total=50, languages=("nl", "de")
    )


@pytest.mark.parametrize(
    "figures",
    [
        {},
        {"en": 50},
        {"en": 46, "nl": 4},  # fewer than five
        {"en": 46, "eo": 6},  # easily taken for another language
        {"en": 10, "pages": {"en": 100, "nl": 9}},
    ],
)
def test_a_few_in_another_language_bring_none(figures: dict[str, int]) -> None:
    assert offered(**figures) is None


def test_five_of_fifty_are_enough_and_so_is_a_tenth_of_the_pages() -> None:
    assert offered(en=45, nl=5) == LanguageOffer(of="questions", number=5, total=50, languages=("nl",))
    assert offered(en=50, pages={"en": 36, "nl": 4}) == LanguageOffer(
        of="pages", number=4, total=40, languages=("nl",)
    )


@pytest.mark.parametrize(
    "model", ["multilingual", "multilingual-e5-small", f"{MINILM}+multilingual-e5-small"]
)
def test_a_multilingual_embedder_is_never_offered_another(model: str) -> None:
    assert reads_all(model)
    assert not reads_all(MINILM)
    assert offered(model, nl=50, pages={"nl": 40}) is None


class Index:
    def __init__(self, languages: Sequence[str], *, pages: int) -> None:
        self._languages, self._pages = languages, pages

    async def sample(self, limit: int) -> Sequence[StoredPassage]:
        chunks = [
            a_passage("Text.", title=f"Page {at}", language=one) for at, one in enumerate(self._languages)
        ]
        return [StoredPassage(chunk=chunk, dense=(1.0,)) for chunk in chunks for _ in range(2)]

    async def counts(self) -> IndexCounts:
        return IndexCounts(pages=self._pages, chunks=2 * self._pages)


async def test_pages_are_counted_once_and_in_proportion_to_a_sample() -> None:
    assert await pages_by_language(Index(["en", "en", "nl"], pages=3)) == {"en": 2, "nl": 1}
    assert await pages_by_language(Index(["en", "en", "nl", "nl"], pages=40)) == {"en": 20, "nl": 20}
    assert await pages_by_language(Index([], pages=0)) == {}
