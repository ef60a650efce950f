"""Links answers to the playground's page viewer, where a page has no address of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from bot.questions.ports import PipelinePort
from kb.addresses import split_address
from kb.answer import Answer, Citation, Sentence
from kb.answering.progress import Progress, Stage, Unwatched
from kb.models import Audience, Chunk, Page, Question, Turn


class LinkedAnswers:
    """A pipeline whose relative page addresses lead below `base`, e.g. "http://127.0.0.1:8765/kb/".

    `address` makes what comes behind the base of a page's path.
    """

    def __init__(self, pipeline: PipelinePort, base: str, address: Callable[[str], str]) -> None:
        self._pipeline = pipeline
        self._base = base
        self._address = address

    async def answer(
        self, question: Question, turns: Sequence[Turn] = (), *, progress: Progress | None = None
    ) -> Answer:
        shown = _LinkedProgress(progress or Unwatched(), self._citation)
        answer = await self._pipeline.answer(question, turns, progress=shown)
        return replace(
            answer,
            citations=tuple(self._citation(citation) for citation in answer.citations),
            quotes=tuple(replace(quote, citation=self._citation(quote.citation)) for quote in answer.quotes),
            warnings=tuple(replace(warning, page=self._page(warning.page)) for warning in answer.warnings),
            nearest=tuple(replace(page, url=self._url(page.url)) for page in answer.nearest),
            trace=replace(
                answer.trace,
                hits=tuple(replace(hit, chunk=self._chunk(hit.chunk)) for hit in answer.trace.hits),
            ),
        )

    def turn(self, answer: Answer, *, question_ts: str | None = None) -> Turn:
        return self._pipeline.turn(answer, question_ts=question_ts)

    async def may_show(self, page_ids: Collection[str], audience: Audience) -> bool:
        return await self._pipeline.may_show(page_ids, audience)

    def _citation(self, citation: Citation) -> Citation:
        return replace(citation, chunk=self._chunk(citation.chunk))

    def _chunk(self, chunk: Chunk) -> Chunk:
        return replace(chunk, page=self._page(chunk.page), url=self._url(chunk.url))

    def _page(self, page: Page) -> Page:
        return replace(page, url=self._url(page.url))

    def _url(self, url: str) -> str:
        if split_address(url).scheme:
            return url
        path, hash_mark, anchor = url.partition("#")
        return f"{self._base}{self._address(path)}{hash_mark}{anchor}"


class _LinkedProgress:
    """What is shown of an unfinished answer, linked as the finished one will be."""

    def __init__(self, progress: Progress, linked: Callable[[Citation], Citation]) -> None:
        self._progress = progress
        self._linked = linked

    async def stage(self, stage: Stage, *, pages: int = 0) -> None:
        await self._progress.stage(stage, pages=pages)

    async def written(self, sentences: Sequence[Sentence], citations: Sequence[Citation]) -> None:
        await self._progress.written(sentences, [self._linked(citation) for citation in citations])
