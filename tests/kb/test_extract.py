"""What is quoted and how: lists and tables whole, long ones by what answers, nothing twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kb.answering.extract import ExtractiveDrafter, choose
from kb.answering.quotables import LIST_ITEMS, quotables_of
from kb.confidence import Evidence
from kb.lexical import LexicalEncoder
from kb.models import Chunk, Hit, Page, Scores

PROCEDURE = "Follow these steps:\n\n1. Log in.\n2. Print the label.\n3. Send the parcel."


class BagOfWords:
    """Texts are alike by the words that they share: enough to see what is chosen, with no model."""

    def __init__(self) -> None:
        self.documents = 0

    async def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([self._vector(text) for text in texts])

    async def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        self.documents += len(texts)
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> np.ndarray:
        vector = np.full(512, 1e-3, dtype=np.float32)
        for word in text.lower().replace(":", " ").replace(".", " ").replace("?", " ").split():
            vector[sum(map(ord, word)) % 512] += 1.0
        return vector / np.linalg.norm(vector)


def evidence_of(*texts: str, titles: Sequence[str] = ()) -> Evidence:
    hits = []
    for at, text in enumerate(texts):
        title = titles[at] if titles else "Page"
        page = Page(id=title, source="s", path=f"{title}.md", title=title, url=f"{title}.md")
        chunk = Chunk(id=str(at), page=page, position=at, text=text, url=page.url)
        score = 0.8 - at / 100
        hits.append(Hit(chunk=chunk, scores=Scores(dense=score, fused=score, final=score)))
    return Evidence(hits=tuple(hits), relevance=tuple(0.9 for _ in hits))


async def quoted(question: str, evidence: Evidence, *, embedder: BagOfWords | None = None) -> list[str]:
    drafter = ExtractiveDrafter(
        embedder=embedder or BagOfWords(), coverage=LexicalEncoder().coverage, max_sentences=4
    )
    draft = await drafter.draft(question, question, evidence, [], language="en")
    return [sentence.text for sentence in draft.sentences]


async def test_a_procedure_is_quoted_whole_with_the_sentence_that_leads_in():
    said = await quoted("What are the steps to send the parcel?", evidence_of(PROCEDURE))
    assert said == ["Follow these steps:", "1. Log in.", "2. Print the label.", "3. Send the parcel."]


async def test_of_a_long_table_only_the_head_and_the_row_that_answers_are_quoted():
    rows = "\n".join(f"| city{at} | street {at} |" for at in range(9))
    said = await quoted("What is the street in city7?", evidence_of(f"| City | Street |\n|---|---|\n{rows}"))
    assert len(said) == 1
    assert said[0].startswith("| City | Street |")
    assert "city7" in said[0]
    assert "city2" not in said[0]


def test_a_list_too_long_to_quote_whole_falls_into_its_items():
    items = "\n".join(f"- item {at}" for at in range(LIST_ITEMS + 1))
    assert len(quotables_of(0, items)) == LIST_ITEMS + 1


async def test_a_sentence_about_another_item_of_the_series_is_not_the_answer():
    evidence = evidence_of("An engineer in band 3 earns 4,000 euros.\n\nPeople in band 4 earn 5,000 euros.")
    assert (await quoted("What does an engineer in band 4 earn?", evidence))[0].startswith("People in band 4")


async def test_what_two_pages_say_in_the_same_words_is_quoted_once():
    evidence = evidence_of("Parking is free.", "Parking is free.", titles=["Parking", "FAQ"])
    assert await quoted("Is parking free?", evidence) == ["Parking is free."]


def test_the_chosen_sentences_keep_the_order_of_their_page():
    evidence = evidence_of("Refunds take 5 days. Refunds go by bank transfer.")
    first, second = quotables_of(0, evidence.hits[0].chunk.text)
    scored = [replace(second, score=1.0), replace(first, score=0.99)]
    assert [one.text for one in choose(scored, evidence, max_sentences=4)] == [first.text, second.text]


async def test_headings_are_never_quoted():
    assert quotables_of(0, "## Parking") == []


async def test_sentences_read_before_are_not_embedded_again():
    embedder = BagOfWords()
    drafter = ExtractiveDrafter(embedder=embedder, coverage=LexicalEncoder().coverage, max_sentences=4)
    for _ in range(2):
        await drafter.draft("Is it free?", "Is it free?", evidence_of("Parking is free."), [], language="en")
    assert embedder.documents == 1
