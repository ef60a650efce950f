"""Request, progress and reply of a backup, as the socket in the data folder carries them."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict


class BackupRequest(BaseModel):
    """`file`: absolute, in an existing folder. `settings`: the caller's as TOML, without secrets; "": none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: Path
    settings: str = ""


class BackupReply(BaseModel):
    """`pages` and `passages` of the live generation; `keys` of the store."""

    model_config = ConfigDict(frozen=True)

    file: Path
    bytes: int
    pages: int
    passages: int
    generations: int
    keys: int


class BackupProgress(BaseModel):
    """`done` of `total` passages of a generation ("live" or "previous"). The last one has the reply."""

    model_config = ConfigDict(frozen=True)

    generation: str = ""
    done: int = 0
    total: int = 0
    reply: BackupReply | None = None
