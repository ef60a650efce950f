"""The Web API methods that the playground knows, each with the scope that it needs and its rate tier."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bot.playground.methods import assistant, chat, conversations, people, streams, views
from bot.playground.slack import Method

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for module in (assistant, chat, conversations, people, streams, views)
        for method in module.METHODS
    }
)
