"""`FrozenModel`: the base of JSON that Redis or Slack keeps for us. Its errors quote no values."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """Immutable; ignores unknown fields, so that an older version reads what a newer one wrote."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)
