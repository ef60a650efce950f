"""Drafts an answer by a language model: turns passages into sentences that cite them, while they are written.

Claude cites by itself (`search_result` blocks); other endpoints get numbered passages and are asked for [n] markers.
Where the endpoint takes tools the model may search again. What comes out is a draft: whether the passages hold it is
for `kb.citations` to say.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from anthropic.types import MessageParam, ToolParam, ToolResultBlockParam
from pydantic import BaseModel, Field, ValidationError

from kb.answer import join_sentences
from kb.answering.answerer import Asked
from kb.answering.language import is_in_other_language
from kb.answering.parsed_reply import ParsedReply, finished_part, parse_reply_text
from kb.answering.requests import (
    REMINDER,
    SEARCH_TOOL,
    answer_system,
    earlier_turns,
    language_name,
    numbered_passages,
    question_text,
    recites_rules,
)
from kb.citations import DraftSentence
from kb.citations.citation_markers import Marked, SplitPassage, from_citations, from_markers
from kb.citations.passage import passage_head
from kb.config.model_settings import ModelSettings
from kb.errors import ModelRefusedError, ModelReplyError, ModelUnavailableError, UnavailableError
from kb.llm.client import LanguageModel
from kb.llm.request import CitablePassage, search_result, tool_result
from kb.llm.stream import OnText, Reply, TextBlock, ToolUse
from kb.models import Hit

logger = logging.getLogger(__name__)

SHORT_S = 0.02
"""Seconds of CPU time that parsing a reply so far may take without a pause."""
RESTS = 10
"""Factor by which parsing pauses after a slow parse, so that it takes at most a tenth of the time."""
SEARCHES = 2
"""Further searches that the model may make."""
LONGEST_SENTENCE = 4000
"""Characters of a sentence, a list item or a block of code; no passage is as long. What is longer is left out."""
SHORTEST_RETRY_S = 3.0
"""Least seconds for a second answer: with less it would not be complete."""

Search = Callable[[str], Awaitable[Sequence[Hit]]]
OnSentences = Callable[[Sequence[DraftSentence], Sequence[Hit]], Awaitable[None]]
"""Gets every sentence of a reply that is finished so far, and the passages that they cite. Another round, or another
attempt, begins anew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelDraft:
    """`passages`: all that the model has read, in the order of their numbers; `searches`: its own queries."""

    reply: ParsedReply
    passages: tuple[Hit, ...]
    searches: tuple[str, ...] = ()
    dropped_markers: int = 0


class SearchInput(BaseModel):
    query: Annotated[str, Field(min_length=1, max_length=400)]


class ModelDrafter:
    def __init__(self, model: LanguageModel, settings: ModelSettings, *, max_sentences: int) -> None:
        self.model = model
        self._settings = settings
        self._max_sentences = max_sentences

    async def draft(
        self,
        asked: Asked,
        passages: Sequence[Hit],
        *,
        search: Search | None,
        on_sentences: OnSentences | None = None,
    ) -> ModelDraft:
        """Answers the user's own words from the passages, within the deadline of an answer.

        Raises:
            ModelUnavailableError, ModelRefusedError, ModelReplyError: as `LanguageModel` does.
        """
        ends_at = time.monotonic() + self._settings.answer_deadline_s
        draft = await _Conversation(self, asked, passages, search, ends_at).held(on_sentences)
        text = join_sentences([sentence.text for sentence in draft.reply.sentences])
        if ends_at - time.monotonic() < SHORTEST_RETRY_S or not is_in_other_language(text, asked.reply_in):
            return draft
        logger.info("answer.in_other_language", extra={"wanted": asked.reply_in})
        try:
            again = _Conversation(self, asked, draft.passages, None, ends_at, reminded=True)
            return await again.held(None)
        except (ModelUnavailableError, ModelReplyError, ModelRefusedError) as error:
            logger.info("answer.language_not_mended", extra={"cause": repr(error)})
            return draft

    async def ask(
        self,
        messages: Sequence[MessageParam],
        tools: Sequence[ToolParam],
        ends_at: float,
        on_text: OnText | None,
    ) -> Reply:
        """Sends one request; its deadline is the time that is left."""
        return await self.model.converse(
            system=answer_system(
                sentences=self._max_sentences,
                marked=not self.model.native_citations,
                searches=SEARCHES if tools else 0,
            ),
            messages=messages,
            tools=tools,
            max_tokens=self._settings.max_answer_tokens,
            deadline_s=max(0.1, ends_at - time.monotonic()),
            on_text=on_text,
        )


class _Conversation:
    """The rounds of one answer: the question, and what the model searches for before it writes."""

    def __init__(
        self,
        drafter: ModelDrafter,
        asked: Asked,
        passages: Sequence[Hit],
        search: Search | None,
        ends_at: float,
        *,
        reminded: bool = False,
    ) -> None:
        self._drafter = drafter
        self._asked = asked
        self._passages = list(passages)
        self._native = drafter.model.native_citations
        self._search = search if drafter.model.tools else None
        self._ends_at = ends_at
        self._reminded = reminded
        self._searches: list[str] = []

    async def held(self, on_sentences: OnSentences | None) -> ModelDraft:
        messages = [*earlier_turns(self._asked.turns), self._question()]
        tools = [SEARCH_TOOL] if self._search is not None else []
        on_text = self._watching(on_sentences) if on_sentences is not None else None
        for _ in range(SEARCHES + 2):  # one more than there are searches, for a model that has to be told so
            reply = await self._drafter.ask(messages, tools, self._ends_at, on_text)
            if not reply.tool_uses:
                break
            messages += [
                {"role": "assistant", "content": list(reply.content)},
                {"role": "user", "content": [await self._searched(use) for use in reply.tool_uses]},
            ]
        marked = self._marked(reply.blocks)
        return ModelDraft(
            reply=parse_reply_text(marked.sentences),
            passages=tuple(self._passages),
            searches=tuple(self._searches),
            dropped_markers=marked.dropped,
        )

    def _question(self) -> MessageParam:
        text = question_text(self._asked)
        if self._reminded:
            text += "\n" + REMINDER.format(language=language_name(self._asked.reply_in))
        if not self._native:
            passages = numbered_passages(self._passages, first=1)
            return {"role": "user", "content": "\n\n".join(["Passages:", *passages, text])}
        return {
            "role": "user",
            "content": [*map(search_result, map(_citable, self._passages)), {"type": "text", "text": text}],
        }

    async def _searched(self, use: ToolUse) -> ToolResultBlockParam:
        """Runs a search of the model and returns passages that it has not read. Failures are reported to the model."""
        try:
            query = SearchInput.model_validate(use.input).query
        except ValidationError:
            return tool_result(use.id, "A search needs a query of at most 400 characters.", is_error=True)
        if self._search is None or len(self._searches) == SEARCHES:
            return tool_result(use.id, "No searches are left. Answer from the passages.", is_error=True)
        self._searches.append(query)
        try:
            found = await self._search(query)
        except UnavailableError as error:
            logger.warning("answer.search_failed", extra={"cause": repr(error)})
            return tool_result(
                use.id, "The search is not available. Answer from the passages.", is_error=True
            )
        read = {hit.chunk.text for hit in self._passages}
        fresh = self._renamed([hit for hit in found if not any(hit.chunk.text in text for text in read)])
        first = len(self._passages) + 1
        self._passages += fresh
        if not fresh:
            return tool_result(use.id, "Nothing was found but what you have read.")
        if self._native:
            return tool_result(use.id, [_citable(hit) for hit in fresh])
        return tool_result(use.id, "\n\n".join(numbered_passages(fresh, first=first)))

    def _renamed(self, hits: Sequence[Hit]) -> list[Hit]:
        """Gives a passage that was read before with other neighbours its own id, since a sentence cites one of them."""
        ids = {hit.chunk.id for hit in self._passages}
        number = len(self._searches)
        return [
            replace(hit, chunk=replace(hit.chunk, id=f"{hit.chunk.id}+{number}"))
            if hit.chunk.id in ids
            else hit
            for hit in hits
        ]

    def _watching(self, on_sentences: OnSentences) -> OnText:
        rests_until = 0.0

        async def on_text(blocks: tuple[TextBlock, ...]) -> None:
            nonlocal rests_until
            if time.monotonic() < rests_until:
                return
            began = time.thread_time()  # of this thread alone: a busy machine is no slow parse
            marked = self._marked(blocks)
            if (took := time.thread_time() - began) > SHORT_S:  # others wait for the loop meanwhile
                rests_until = time.monotonic() + RESTS * took
            if finished := finished_part(marked.sentences):
                await on_sentences(finished, tuple(self._passages))

        return on_text

    def _marked(self, blocks: Sequence[TextBlock]) -> Marked:
        if self._native:
            marked = from_citations(blocks, [SplitPassage.of(hit.chunk) for hit in self._passages])
        else:
            marked = from_markers(
                "".join(block.text for block in blocks), [hit.chunk.id for hit in self._passages]
            )
        own = tuple(
            sentence
            for sentence in marked.sentences
            if len(sentence.text) <= LONGEST_SENTENCE and not recites_rules(sentence.text)
        )
        return replace(marked, sentences=own)


def _citable(hit: Hit) -> CitablePassage:
    units = SplitPassage.of(hit.chunk).units
    return CitablePassage(
        source=hit.chunk.url, title=passage_head(hit.chunk), blocks=tuple(unit.text for unit in units)
    )
