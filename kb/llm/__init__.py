"""The language model: `client` is the one to read; the rest are its endpoint, its requests, its stream, its failures."""

from kb.llm.client import CitablePassage, LanguageModel, ModelUsage, Spoken, connect_model

__all__ = ["CitablePassage", "LanguageModel", "ModelUsage", "Spoken", "connect_model"]
