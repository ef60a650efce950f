"""Describes the live index to an operator: its embedder, and what was measured on its pages."""

from __future__ import annotations

import logging

from bot.cli.composition.runtime import Runtime
from kb.answering.language_offer import LanguageOffer, language_offer, pages_by_language, reads_all
from kb.calibration import Calibration
from kb.config.model_settings import EmbedSettings
from kb.errors import UnavailableError
from kb.index.port import IndexManifest
from kb.inference.embedder import embedder_for

logger = logging.getLogger(__name__)


def other_embedder(manifest: IndexManifest | None, settings: EmbedSettings) -> str:
    """Explains that the settings name another model than the index was made with; "" where they do not."""
    if manifest is None or embedder_for(manifest.embedder, settings).models == settings.models:
        return ""
    return (
        f"the index was made with {manifest.embedder}, the settings name {settings.model}: the next sync rebuilds it "
        "beside the old one, which answers meanwhile"
    )


async def current_offer(runtime: Runtime) -> LanguageOffer | None:
    """Offers another embedder, where people ask or write in languages that the present one does not read.

    None where there is nothing to offer, or nobody can tell. Asks nobody where the embedder reads everything.
    """
    model = runtime.settings.embed.model
    if reads_all(model):
        return None
    try:
        asked = await runtime.analytics.latest_languages()
        return language_offer(model, asked=asked, pages=await pages_by_language(runtime.index))
    except UnavailableError as error:
        logger.warning("offer.unavailable", extra={"cause": type(error).__name__})
        return None


def reranking_line(found: Calibration) -> str:
    """Words the result of trying the cross-encoder, for an operator; "" where it was not tried."""
    tried = found.reranking
    if tried is None:
        return ""
    if not tried.samples:
        return f"{tried.model} is not run: these pages have no headings to try it on"
    day = f" on {found.measured:%Y-%m-%d %H:%M}" if found.measured else ""
    figures = (
        f"tried{day} on {found.passages} passages, of {tried.samples} headings the section comes at "
        f"a mean reciprocal rank "
        f"of {tried.before:.2f} without it and {tried.after:.2f} with it"
    )
    if not tried.helps:
        return f"{tried.model} is not run: {figures}, which may be luck or is too little for its time"
    return (
        f"{tried.model} reads {tried.candidates} passages a question and counts {tried.weight:.0%}: {figures}; "
        f"{tried.milliseconds:.0f} ms a question when it was tried, in the background"
    )
