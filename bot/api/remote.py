"""Asks a running bot's HTTP API, for `footnote mcp`: keys and audiences are then the same by construction."""

from __future__ import annotations

import logging

import httpx2
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from bot.api import schemas

logger = logging.getLogger(__name__)

TIMEOUT_S = 120.0
"""Longer than a model may take for an answer."""
NOT_REACHED = (
    "unavailable: Footnote does not answer at {url}. This says nothing about the pages; is `footnote "
    "serve` running?"
)


class RemoteAsker:
    """A `bot.api.mcp_tools.Asker`. `client`: has the key, and the bot's address as its base."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def search(self, request: schemas.SearchRequest) -> schemas.SearchReply:
        try:
            reply = await self._client.post("/api/v1/search", json=request.model_dump(mode="json"))
        except httpx2.HTTPError as error:
            logger.warning("mcp.not_reached", extra={"cause": repr(error)})
            raise ToolError(NOT_REACHED.format(url=self._client.base_url)) from error
        try:
            if reply.status_code == httpx2.codes.OK:
                return schemas.SearchReply.model_validate_json(reply.content)
            fault = schemas.ErrorReply.model_validate_json(reply.content).error
        except ValidationError as error:  # something else listens there
            logger.warning("mcp.not_understood", extra={"status": reply.status_code})
            raise ToolError(NOT_REACHED.format(url=self._client.base_url)) from error
        raise ToolError(f"{fault.code}: {fault.message}")

    async def ask(self, request: schemas.AskRequest) -> schemas.Answer:
        search = schemas.SearchRequest(
            query=request.query, chat_history=request.chat_history, top_k=1, include_answer=True
        )
        answer = (await self.search(search)).answer
        if answer is None:
            raise ToolError(NOT_REACHED.format(url=self._client.base_url))
        return answer
