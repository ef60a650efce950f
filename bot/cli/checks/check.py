"""What a check of `footnote doctor` found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

State = Literal["ok", "warning", "broken"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """`told`: what was found. `mend`: what to do about it, empty where nothing is to be done."""

    name: str
    state: State
    told: str
    mend: str = ""

    @classmethod
    def ok(cls, name: str, finding: str, mend: str = "") -> Self:
        return cls(name=name, state="ok", told=finding, mend=mend)

    @classmethod
    def warning(cls, name: str, finding: str, mend: str = "") -> Self:
        return cls(name=name, state="warning", told=finding, mend=mend)

    @classmethod
    def broken(cls, name: str, finding: str, mend: str = "") -> Self:
        return cls(name=name, state="broken", told=finding, mend=mend)
