"""Somebody who uses the playground's page: what they do, by role and label, and what they then have before them."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.fakes.browser import until_true

HOME = {"alice": "U0ALICE", "bram": "U0BRAM", "dana": "U0DANA", "emma": "U0EMMA", "farid": "U0FARID"}
CHANNELS = {"general": "C0GENERAL", "garden-shop": "C0GARDEN", "people-leads": "G0PEOPLE"}
PATIENCE_MS = 45_000
"""How long a person waits for anything; only a broken bot takes that long, also on a busy machine."""


class Colleague:
    """One person in one browser window, at first in one channel.

    `heard` holds every change that the server told the page, in order. `problems` holds script errors and dialogs that
    nobody asked for; it has to stay empty.
    """

    def __init__(self, page: Any, url: str, name: str) -> None:
        self.page = page
        self.name = name
        self.heard: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self.messages = page.get_by_role("log", name="Messages", exact=True)
        self.thread = page.get_by_role("complementary", name="Thread")
        self.dialog = page.get_by_role("dialog")
        self._url = url
        self._correction: str | None = None
        self._feed: Any = None
        self._holding = False
        self._held: list[str] = []

    async def sit_down(self, channel: str) -> None:
        """Opens the page and waits until one can write in the channel."""
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", self._meet_dialog)
        await self.page.route_web_socket(re.compile("/page/feed"), self._listen)
        await self.page.goto(f"{self._url}#/{HOME[self.name]}/{CHANNELS[channel]}")
        await self.field(f"Message #{channel}").wait_for()

    def field(self, label: str) -> Any:
        return self.page.get_by_role("combobox", name=label, exact=True)

    async def ask(self, question: str, *, channel: str = "general") -> None:
        """Mentions the bot with the help of the suggestions, and sends the question as a message of its own."""
        await self.close_thread()
        await self.field(f"Message #{channel}").press_sequentially("@foot")
        await self.page.get_by_role("option", name="@footnote").click()
        await self.page.keyboard.type(question)
        await self.page.keyboard.press("Enter")

    async def close_thread(self) -> None:
        """Closes the open thread, if there is one; the focus is then on the message that it hangs on."""
        if await self.thread.is_visible():
            await self.page.get_by_role("button", name="Close thread").click()
            await self.thread.wait_for(state="hidden")
            await until_true(self.page, "document.activeElement.matches('#messages article')")

    async def close_dialog(self) -> None:
        """Closes an open view. It belongs to the person, not to the window, and would meet their next window too."""
        if await self.dialog.is_visible():
            await self.page.keyboard.press("Escape")
            await self.dialog.wait_for(state="hidden")

    async def reply(self, text: str) -> None:
        """Writes in the open thread, without a mention."""
        await self.field("Reply in thread").click()
        await self.page.keyboard.type(text)
        await self.page.keyboard.press("Enter")

    async def command(self, text: str, *, channel: str = "general") -> None:
        await self.field(f"Message #{channel}").click()
        await self.page.keyboard.type(text)
        await self.page.keyboard.press("Enter")

    async def correct(self, question: str, corrected: str) -> None:
        """Edits a message of one's own in the channel."""
        message = self.messages.get_by_role("article").filter(has_text=question).last
        await message.hover()
        self._correction = corrected
        await message.get_by_role("button", name="Edit message").click()

    async def answer(self, number: int = 1) -> Any:
        """The bot's `number`-th message in the open thread, once it is there."""
        found = self.thread.get_by_role("article", name=re.compile("^footnote,")).nth(number - 1)
        await found.wait_for()
        return found

    async def sees_in_a_thread(self, text: str) -> None:
        """Opens the newest thread of the channel, and waits until it says that."""
        await self.messages.get_by_role("button", name=re.compile("repl(y|ies)")).last.click()
        await self.thread.get_by_text(text).wait_for()

    async def follow(self, link: Any) -> Any:
        """Opens a link, and returns the page that opened beside this one."""
        async with self.page.context.expect_page() as opening:
            await link.click()
        opened = await opening.value
        await opened.wait_for_load_state()
        return opened

    def hold_back(self) -> None:
        """From the bot's next reply on the page is told nothing, as on a slow line, until `let_go`."""
        self._holding = True

    def let_go(self) -> None:
        self._holding = False
        while self._held:
            self._feed.send(self._held.pop(0))

    def said_by_the_bot(self) -> str:
        """All that the bot's messages and views held, as they came."""
        of_the_bot = [one for one in self.heard if one["kind"] == "view" or (one["body"] or {}).get("bot_id")]
        return json.dumps(of_the_bot)

    def texts_of(self, beginning: str) -> list[str]:
        """What the one message whose text first began so has said, from then to now."""
        said = [change["body"] for change in self.heard if change["kind"] in {"message", "ephemeral"}]
        first = next((one for one in said if one.get("text", "").startswith(beginning)), None)
        return [] if first is None else [one["text"] for one in said if one["ts"] == first["ts"]]

    def _listen(self, feed: Any) -> None:
        server = feed.connect_to_server()
        self._feed = feed

        def pass_on(text: str) -> None:
            change = json.loads(text)
            self.heard.append(change)
            if self._holding and (_begins_a_reply(change) or self._held):
                self._held.append(text)
            else:
                feed.send(text)

        server.on_message(pass_on)

    async def _meet_dialog(self, dialog: Any) -> None:
        if dialog.type == "prompt" and self._correction is not None:
            correction, self._correction = self._correction, None
            await dialog.accept(correction)
            return
        self.problems.append(dialog.message)
        await dialog.dismiss()


def _begins_a_reply(change: dict[str, Any]) -> bool:
    """The bot's message, or the end of its status: the server tells of that first."""
    kind, body = change["kind"], change["body"]
    return (kind == "message" and "bot_id" in body) or (kind == "status" and not body["text"])
