"""What a check of `footnote doctor` found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "broken"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """`told`: what was found. `mend`: what to do about it, empty where nothing is to be done."""

    name: str
    state: State
    told: str
    mend: str = ""
