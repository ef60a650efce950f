"""What an operator is told of the live index: what it was made with, and what was measured on it."""

from __future__ import annotations

from typing import Any

from kb.calibration import Calibration, Reranking
from kb.embed import embedder_for
from kb.index.port import IndexManifest
from kb.settings import EmbedSettings


def other_embedder(manifest: IndexManifest | None, settings: EmbedSettings) -> str:
    """What is the matter where the settings name another model than the index was made with; "" where they do not."""
    if manifest is None or embedder_for(manifest.embedder, settings).models == settings.models:
        return ""
    return (
        f"the index was made with {manifest.embedder}, the settings name {settings.model}: the next sync rebuilds it "
        "beside the old one, which answers meanwhile"
    )


def calibration_as_json(calibration: Calibration | None) -> dict[str, Any] | None:
    """Cosines as they are; `headings` that were asked, `passages` of the index at that time."""
    if calibration is None:
        return None
    spaces = calibration.background.spaces if calibration.background else ()
    return {
        "measured": calibration.measured.isoformat() if calibration.measured else None,
        "passages": calibration.passages,
        "headings": spaces[0].overall.samples if spaces else 0,
        "spaces": {one.model: one.overall.model_dump(mode="json", exclude={"samples"}) for one in spaces},
        "reranking": calibration.reranking.model_dump(mode="json") if calibration.reranking else None,
    }


def told_calibration(calibration: dict[str, Any]) -> str:
    """`calibration` as `calibration_as_json` writes it."""
    day = (calibration["measured"] or "some time ago")[:16].replace("T", " ")
    spaces = "; ".join(
        f"{model.rsplit('/', 1)[-1]}: unrelated {one['unrelated']:.2f}, a heading and its section {one['related']:.2f}"
        for model, one in calibration["spaces"].items()
    )
    asked = f"measured {day} on {calibration['headings']} headings and {calibration['passages']} passages"
    return f"{asked} ({spaces})" if spaces else asked


def told_reranking(found: Reranking) -> str:
    """What a trial of the cross-encoder showed, for an operator."""
    if not found.samples:
        return f"{found.model} is not run: these pages have no headings to try it on"
    figures = (
        f"of {found.samples} headings of these pages the section comes at a mean reciprocal rank of {found.before:.2f} "
        f"without it and {found.after:.2f} with it"
    )
    if not found.helps:
        return f"{found.model} is not run: {figures}, which may be luck or is too little for its time"
    return (
        f"{found.model} reads {found.candidates} passages a question and counts {found.weight:.0%}: {figures}; "
        f"{found.milliseconds:.0f} ms a question when it was tried, in the background"
    )
