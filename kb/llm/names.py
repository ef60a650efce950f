"""Which models are asked: those of the settings, or what a local server offers where none is named."""

from __future__ import annotations

from kb.config.model_settings import ModelSettings
from kb.llm.ollama import pick_model


class ModelNames:
    """Names of models. Without Ollama's its server is asked when the first request needs one, and then no more."""

    def __init__(self, settings: ModelSettings, base_url: str) -> None:
        self._answers, self._small = _named(settings)
        self._base_url = base_url
        self.picked = False

    @property
    def told(self) -> str:
        """The answer model, for people, as far as it is known by now."""
        return self._answers or f"the largest that {self._base_url} offers"

    async def find(self) -> tuple[str, str]:
        """The answer model and the small one.

        Raises:
            ModelUnavailableError: the server offers none, or does not answer.
        """
        if not self._answers:
            self._answers = self._small = await pick_model(self._base_url)
            self.picked = True
        return self._answers, self._small


def _named(settings: ModelSettings) -> tuple[str, str]:
    """ "" twice where the server is to be asked. The defaults are
    Claude's, and of one that is named for Ollama both are.
    """
    answers, small = settings.answer_model, settings.rewrite_model
    if settings.effective_provider != "ollama":
        return answers, small
    given = settings.model_fields_set
    answers = answers if "answer_model" in given else ""
    small = small if "rewrite_model" in given else ""
    return answers or small, small or answers
