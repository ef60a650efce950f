"""Where the language model is reached, with which key, and whether it is Claude itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from kb.config.model_settings import ModelSettings
from kb.errors import SettingsError

CLAUDE_API = "https://api.anthropic.com"
NO_KEY = "local"
"""What is sent as a key to an endpoint that wants none: the SDK insists on one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """`native`: it takes search results, cites them, holds JSON to a schema and caches; others drop these without a
    word. `tools`: it takes tools.
    """

    base_url: str
    host: str
    key: str = field(repr=False)
    native: bool
    tools: bool


def choose_endpoint(settings: ModelSettings) -> Endpoint:
    """Chooses where the model of the settings is reached, and with which key.

    Raises:
        SettingsError: the provider is named but its address or key is missing, or the key cannot be sent.
    """
    base_url = _base_url(settings)
    host = urlsplit(base_url).hostname or ""
    if not host:
        raise SettingsError("the model's base URL has no host; write it as http://host:port")
    is_claude = host == "anthropic.com" or host.endswith(".anthropic.com")
    return Endpoint(
        base_url=base_url,
        host=host,
        key=_key(settings, needed=is_claude),
        native=is_claude if settings.native_citations is None else settings.native_citations,
        tools=is_claude if settings.tools is None else settings.tools,
    )


def _base_url(settings: ModelSettings) -> str:
    if settings.effective_provider != "ollama":
        chosen = settings.base_url or CLAUDE_API
    elif settings.ollama_base_url is None:
        raise SettingsError("model.provider is ollama but it has no address; set OLLAMA_BASE_URL")
    else:
        chosen = settings.ollama_base_url
    # People paste the address of the OpenAI-like API; the SDK adds /v1/messages itself.
    return chosen.rstrip("/").removesuffix("/v1")


def _key(settings: ModelSettings, *, needed: bool) -> str:
    if settings.api_key is None or settings.effective_provider == "ollama":
        if needed:
            raise SettingsError("model.provider is anthropic but there is no key; set ANTHROPIC_API_KEY")
        return NO_KEY
    key = settings.api_key.get_secret_value().strip()
    # Checked here, since the HTTP library's own error would show the key.
    if not key.isascii() or not key.isprintable() or " " in key or not key:
        raise SettingsError("ANTHROPIC_API_KEY holds characters that no key has; copy it again")
    return key
