"""Addresses within a Confluence: of pages by title, of headings, of issues in Jira."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote

Edition = Literal["cloud", "data_center"]
USER_IDS = {"ri:account-id": "accountId", "ri:userkey": "key", "ri:username": "username"}
"""How a mention names somebody -> how the API is asked for them."""
_MENTION = re.compile(rf"({'|'.join(USER_IDS)})\s*=\s*[\"']([^\"'<>]+)[\"']")


def mentioned(storage: str) -> set[tuple[str, str]]:
    """Returns (attribute, id) of everybody whom a page mentions."""
    return {(found[1], found[2]) for found in _MENTION.finditer(storage)}


@dataclass(frozen=True, kw_only=True, slots=True)
class PageLinks:
    """How a page links. `base_url` has no slash at its end; `title` is the page's own. `people`: id -> name of whom it
    mentions.
    """

    base_url: str
    edition: Edition
    space: str
    title: str
    people: Mapping[str, str] = field(default_factory=dict)

    def anchor(self, heading: str) -> str:
        """Returns the fragment that Confluence gives a heading: in Cloud with dashes for spaces, elsewhere after the
        page's title.
        """
        if self.edition == "cloud":
            return re.sub(r"\s+", "-", heading)
        return re.sub(r"\s+", "", f"{self.title}-{heading}")

    def markdown(self, text: str, address: str) -> str:
        """Writes a link as Markdown; returns the text alone where the address leads a reader nowhere."""
        if address.startswith("/"):
            address = self._site + address
        if not address.startswith(("http://", "https://", "mailto:")):
            return text
        return f"[{text or address}]({address.replace(' ', '%20').replace(')', '%29')})"

    def page(self, title: str, space: str = "") -> str:
        """Returns the address of a page by its title; both editions redirect it to the page's current address."""
        return f"{self.base_url}/display/{quote(space or self.space)}/{quote(title, safe='').replace('%20', '+')}"

    def issue(self, key: str) -> str:
        """Links a Jira issue: in Cloud on the same site; elsewhere its server is unknown, so the key alone."""
        return f"[{key}]({self._site}/browse/{quote(key)})" if self.edition == "cloud" else key

    def to_resource(self, text: str, *, kind: str, read: Callable[[str], str], anchor: str) -> str:
        """Links to a resource identifier (`ri:page` and so on), whose attributes `read` returns."""
        match kind:
            case "ri:page" | "ri:blog-post":
                title = read("ri:content-title") or self.title
                return self.markdown(text or title, self.page(title, read("ri:space-key")))
            case "ri:space":
                key = read("ri:space-key")
                return self.markdown(text or key, f"{self.base_url}/display/{quote(key)}")
            case "ri:url":
                return self.markdown(text, read("ri:value"))
            case "ri:attachment":
                return text or read("ri:filename")
            case "ri:shortcut":
                return text or read("ri:parameter")
            case "ri:user":
                return text or next(filter(None, (self.people.get(read(name), "") for name in USER_IDS)), "")
            case _:
                return text or anchor

    @property
    def _site(self) -> str:
        return re.sub(r"^(https?://[^/]+).*", r"\1", self.base_url)
