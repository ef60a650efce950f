"""Which model a local server is asked for, where nobody has named one."""

from __future__ import annotations

from typing import Any

import pytest

from kb.config.model_settings import ModelSettings
from kb.errors import ModelUnavailableError
from kb.llm.client import LanguageModel
from kb.llm.names import ModelNames
from tests.fakes.messages_server import MessagesServer, Say
from tests.fakes.model_list import ModelList
from tests.fakes.ports import free_port

TAGS = "/api/tags"
MODELS = "/v1/models"


def a_tag(name: str, parameters: str = "", *, size: int = 1, family: str = "qwen3") -> dict[str, Any]:
    return {"name": name, "size": size, "details": {"parameter_size": parameters, "family": family}}


def names_of(url: str, **settings: Any) -> ModelNames:
    return ModelNames(ModelSettings.model_validate({"ollama_base_url": url, **settings}), url)


@pytest.mark.parametrize(
    ("lists", "picked"),
    [
        ({TAGS: {"models": [a_tag("a:1b", "999.9M"), a_tag("b:8b", "8.2B"), a_tag("c:4b", "4B")]}}, "b:8b"),
        ({TAGS: {"models": [a_tag("a", size=5), a_tag("b", size=9)]}}, "b"),
        ({TAGS: {"models": [a_tag("bge-m3", "70B", family="bert"), a_tag("a:1b", "1B")]}}, "a:1b"),
        ({TAGS: {"models": [a_tag("nomic-embed-text", "70B"), a_tag("a:1b", "1B")]}}, "a:1b"),
        ({MODELS: {"data": [{"id": "first"}, {"id": "second"}]}}, "first"),
        (
            {MODELS: {"data": [{"id": "a", "meta": {"n_params": 1}}, {"id": "b", "meta": {"n_params": 2}}]}},
            "b",
        ),
        # llama.cpp has both lists, the first with empty words for numbers, at one address or at two
        (
            {TAGS: {"models": [{"name": "x", "size": ""}]}, MODELS: {"data": [{"id": "qwen.gguf"}]}},
            "qwen.gguf",
        ),
        ({TAGS: {"error": "no"}, MODELS: {"data": [{"id": "only"}]}}, "only"),
        ({MODELS: {"models": [{"name": "x", "size": ""}], "data": [{"id": "qwen.gguf"}]}}, "qwen.gguf"),
    ],
)
async def test_the_largest_model_that_can_answer_is_asked_for_both(
    lists: dict[str, Any], picked: str
) -> None:
    async with ModelList(lists) as server:
        assert await names_of(server.url).find() == (picked, picked)


@pytest.mark.parametrize("settings", [{"answer_model": "mine"}, {"rewrite_model": "mine"}])
async def test_a_model_that_is_named_is_asked_for_both(settings: dict[str, str]) -> None:
    async with ModelList({}) as server:
        names = names_of(server.url, **settings)
        assert (await names.find(), names.display_name) == (("mine", "mine"), "mine")
        assert server.asked == []


async def test_two_models_that_are_named_are_asked_each() -> None:
    names = names_of("http://localhost:1", answer_model="large", rewrite_model="small")
    assert await names.find() == ("large", "small")


async def test_claude_has_its_own_names() -> None:
    names = ModelNames(ModelSettings.model_validate({"api_key": "k"}), "https://api.anthropic.com")
    assert await names.find() == ("claude-sonnet-5-5", "claude-haiku-5-5")


async def test_the_server_is_asked_once_and_told_of_before() -> None:
    async with ModelList({TAGS: {"models": [a_tag("a:1b", "1B")]}}) as server:
        names = names_of(server.url)
        assert names.display_name == f"the largest that {server.url} offers"
        await names.find()
        await names.find()
        assert (names.display_name, server.asked) == ("a:1b", [TAGS])


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ({TAGS: {"models": []}}, "ollama pull"),
        ({TAGS: {"models": [a_tag("nomic-embed-text")]}}, "ollama pull"),
        ({}, "lists no models under /api/tags or /v1/models"),
    ],
)
async def test_a_server_without_models_says_what_to_set(lists: dict[str, Any], said: str) -> None:
    async with ModelList(lists) as server:
        with pytest.raises(ModelUnavailableError, match=said) as caught:
            await names_of(server.url).find()
    assert "FOOTNOTE_MODEL__ANSWER_MODEL" in str(caught.value)


async def test_a_silent_server_says_what_to_mend_and_is_asked_again() -> None:
    names = names_of(f"http://127.0.0.1:{free_port()}")
    for _ in range(2):
        with pytest.raises(ModelUnavailableError, match="ollama serve") as caught:
            await names.find()
        assert "FOOTNOTE_MODEL__ANSWER_MODEL" in str(caught.value)


async def test_an_address_alone_is_enough_to_be_answered() -> None:
    async with MessagesServer(key="local", offers=["a:1b"]) as server:
        server.script(Say("Yes."))
        model = LanguageModel(ModelSettings.model_validate({"ollama_base_url": f"{server.url}/v1/"}))
        reply = await model.converse(
            system="s", messages=[{"role": "user", "content": "?"}], max_tokens=9, deadline_s=20
        )
        assert (reply.text, server.requests[0]["model"], model.name) == ("Yes.", "a:1b", "a:1b")
        assert await model.ping() == ("a:1b",)
        await model.close()
