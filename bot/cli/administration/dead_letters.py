"""`footnote dead-letters`, and what `status` and `doctor` say of them.

Nobody's words are shown: who asked and where is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.cli.output import print_json, print_result, say, say_rest
from bot.cli.session.session import open_session
from bot.queue.dead_letter_reasons import reason_in_words
from kb.config.settings import Settings

SHOWN = 50
"""Dead letters that a person is shown; `--json` has them all."""


async def show(settings: Settings, *, as_json: bool) -> int:
    async with open_session(settings, "dead-letters") as session:
        letters = await session.dead_letters()
    print_result(letters, _show, as_json=as_json)
    return 0


async def retry(settings: Settings, ids: Sequence[str] | None, *, as_json: bool) -> int:
    async with open_session(settings, "dead-letters") as session:
        done = await session.retry_dead_letters(ids=ids)
    return _ended(done, ids, "asked again", as_json=as_json)


async def drop(settings: Settings, ids: Sequence[str] | None, *, as_json: bool) -> int:
    async with open_session(settings, "dead-letters") as session:
        done = await session.drop_dead_letters(ids=ids)
    return _ended(done, ids, "dropped", as_json=as_json)


MEND = (
    "`footnote dead-letters` lists them; fix the cause, then `footnote dead-letters retry --all`, or `drop`"
)


def unanswered_line(status: Mapping[str, Any]) -> str:
    """Counts the dead letters of a session's status by reason: "3 questions could not be answered: 2 the bot token was
    revoked, 1 the channel is archived"; "" where there are none.
    """
    reasons: Mapping[str, int] = status.get("dead_letter_reasons") or {}
    number = sum(reasons.values())
    if not number:
        return ""
    why = ", ".join(f"{count} {reason_in_words(reason)}" for reason, count in reasons.items())
    return f"{number} question{'s' if number > 1 else ''} could not be answered: {why}"


def _ended(done: Sequence[str], ids: Sequence[str] | None, what: str, *, as_json: bool) -> int:
    missing = [letter_id for letter_id in ids or () if letter_id not in done]
    if as_json:
        print_json({"done": list(done), "unknown": missing})
    else:
        say(f"{len(done)} {what}.")
        for letter_id in missing:
            say(f"No dead letter is called {letter_id}.", style="yellow")
    return 1 if missing else 0


def _show(letters: Sequence[Mapping[str, Any]]) -> None:
    if not letters:
        say("Every question was answered, or its asker told why not.")
    for letter in letters[:SHOWN]:
        say(letter["id"], style="bold")
        attempts = f"{letter['attempts']} attempt{'s' if letter['attempts'] != 1 else ''}"
        say(
            f"  {letter['told']} ({letter['reason']}) · "
            f"given up {letter['given_up_at'][:16].replace('T', ' ')} · {attempts}"
        )
        if letter["channel"]:
            asked = (letter["asked_at"] or "")[:16].replace("T", " ")
            say(f"  asked {asked} in {letter['channel']} by {letter['user'] or 'a form'}")
    say_rest(len(letters), SHOWN)
