"""Offers an operator another embedder, where people ask or write in languages that the present one does not read."""

from __future__ import annotations

import logging

from bot.stats.analytics import Analytics
from kb.answering.language_offer import LanguageOffer, language_offer, pages_by_language, reads_all
from kb.config.model_settings import EmbedSettings
from kb.errors import UnavailableError
from kb.index.port import VectorIndex

logger = logging.getLogger(__name__)


async def current_offer(
    settings: EmbedSettings, *, analytics: Analytics, index: VectorIndex
) -> LanguageOffer | None:
    """None where there is nothing to offer, or nobody can tell. Asks nobody where the embedder reads everything."""
    if reads_all(settings.model):
        return None
    try:
        asked = await analytics.latest_languages()
        return language_offer(settings.model, asked=asked, pages=await pages_by_language(index))
    except UnavailableError as error:
        logger.warning("offer.unavailable", extra={"cause": type(error).__name__})
        return None
