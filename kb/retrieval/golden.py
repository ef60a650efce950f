"""Golden questions: each must go on finding its page, or a rebuilt index does not go live.

The file has one JSON object a line: {"question": "How many days of leave?", "page": "people/leave.md"}. `page` is the
page's path, id (`source:path`) or URL; `channel`, where given, is the channel whose members may read it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kb.config.search_settings import SearchSettings
from kb.errors import SettingsError
from kb.index.port import Searchable
from kb.inference.embedder import Embedder
from kb.models import Audience
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.queries import WeightedQuery
from kb.retrieval.search import Search
from kb.text.language import detect

WITHIN = 10
"""Best passages, before reranking, among which the page must be: twice what an answer uses."""


class GoldenQuestion(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(min_length=1)
    page: str = Field(min_length=1)
    channel: str | None = None

    @property
    def audience(self) -> Audience:
        if self.channel is None:
            return Audience()
        return Audience(channels=frozenset({self.channel, f"#{self.channel.removeprefix('#')}"}))


class GoldenQuestions:
    """Reads the file anew at every check: it may be edited while the bot runs."""

    def __init__(
        self, file: Path, *, embedder: Embedder, lexical: LexicalEncoder, settings: SearchSettings
    ) -> None:
        self._file = file
        self._embedder = embedder
        self._lexical = lexical
        self._settings = settings

    async def lost(self, new: Searchable, *, live: Searchable | None) -> list[GoldenQuestion]:
        """Returns the questions that do not find their page in `new`, without those that `live` misses as well.

        `live` is None where it cannot be searched with the present embedder: then all must be found.

        Raises:
            SettingsError: the file cannot be read.
            UnavailableError: the index or the embedder does not answer.
        """
        in_new = self._search(new)
        in_live = None if live is None else self._search(live)
        lost = []
        for question in await asyncio.to_thread(read_questions, self._file):
            if await _finds(question, in_new):
                continue
            if in_live is None or await _finds(question, in_live):
                lost.append(question)
        return lost

    def _search(self, index: Searchable) -> Search:
        """Makes one search for all questions: it caches the sample of the index that they are compared with."""
        return Search(index, self._embedder, self._lexical, self._settings)


async def _finds(golden: GoldenQuestion, search: Search) -> bool:
    language = await asyncio.to_thread(detect, golden.question)
    queries = [WeightedQuery(text=golden.question, weight=1.0)]
    result = await search.search(queries, audience=golden.audience, language=language)
    pages = [hit.chunk.page for hit in result.hits[:WITHIN]]
    return any(golden.page in (page.id, page.path, page.url) for page in pages)


def read_questions(file: Path) -> Sequence[GoldenQuestion]:
    """
    Raises:
        SettingsError: there is no such file, or a line of it is no golden question.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the golden questions {file} cannot be read: {error}") from error
    read = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            read.append(GoldenQuestion.model_validate_json(line))
        except ValidationError as error:
            raise SettingsError(
                f'{file}, line {number}: write {{"question": "...", "page": "..."}}'
            ) from error
    return read
