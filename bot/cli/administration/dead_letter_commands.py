"""`footnote dead-letters`, and what `status` and `doctor` say of them.
Nobody's words are shown: who asked and where is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from bot.cli.as_json import print_json
from bot.cli.check import Check
from bot.cli.session.opening import open_session
from bot.queue.dead_letter_reasons import reason_in_words
from kb.config.settings import Settings

SHOWN = 50
"""Dead letters that a person is shown; `--json` has them all."""


async def show(settings: Settings, *, as_json: bool) -> int:
    async with open_session(settings, "dead-letters", models=False) as session:
        letters = await session.dead_letters()
    if as_json:
        print_json(letters)
    else:
        _show(letters)
    return 0


async def retry(settings: Settings, ids: Sequence[str] | None, *, as_json: bool) -> int:
    async with open_session(settings, "dead-letters", models=False) as session:
        done = await session.retry_dead_letters(ids)
    return _ended(done, ids, "asked again", as_json=as_json)


async def drop(settings: Settings, ids: Sequence[str] | None, *, as_json: bool) -> int:
    async with open_session(settings, "dead-letters", models=False) as session:
        done = await session.drop_dead_letters(ids)
    return _ended(done, ids, "dropped", as_json=as_json)


def told(reasons: Mapping[str, int]) -> str:
    """ "3 questions could not be answered: 2 the bot token was revoked, 1
    the channel is archived"; "" where there are none.
    """
    number = sum(reasons.values())
    if not number:
        return ""
    why = ", ".join(f"{count} {reason_in_words(reason)}" for reason, count in reasons.items())
    return f"{number} question{'s' if number > 1 else ''} could not be answered: {why}"


MEND = (
    "`footnote dead-letters` lists them; fix the cause, then `footnote dead-letters retry --all`, or `drop`"
)


def dead_letter_checks(status: Mapping[str, Any]) -> list[Check]:
    """What doctor says. `status`: a session's."""
    said = told(status.get("dead_letter_reasons") or {})
    return [Check(name="dead letters", state="warning", told=said, mend=MEND)] if said else []


def _ended(done: Sequence[str], ids: Sequence[str] | None, what: str, *, as_json: bool) -> int:
    missing = [letter_id for letter_id in ids or () if letter_id not in done]
    if as_json:
        print_json({"done": list(done), "unknown": missing})
        return 1 if missing else 0
    console = Console()
    console.print(f"{len(done)} {what}.", highlight=False)
    for letter_id in missing:
        console.print(f"No dead letter is called {letter_id}.", highlight=False, markup=False, style="yellow")
    return 1 if missing else 0


def _show(letters: Sequence[Mapping[str, Any]]) -> None:
    console = Console()

    def say(line: str, style: str = "") -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True, style=style)

    if not letters:
        say("Every question was answered, or its asker told why not.")
    for letter in letters[:SHOWN]:
        say(letter["id"], "bold")
        attempts = f"{letter['attempts']} attempt{'s' if letter['attempts'] != 1 else ''}"
        say(
            f"  {letter['told']} ({letter['reason']}) · "
            f"given up {letter['given_up_at'][:16].replace('T', ' ')} · {attempts}"
        )
        if letter["channel"]:
            asked = (letter["asked_at"] or "")[:16].replace("T", " ")
            say(f"  asked {asked} in {letter['channel']} by {letter['user'] or 'a form'}")
    if len(letters) > SHOWN:
        say(f"and {len(letters) - SHOWN} more; --json lists them all")
