"""Asks the start addresses where they lead today. The scope follows them there as long as that is the same site."""

from __future__ import annotations

from dataclasses import dataclass, replace

from yarl import URL

from ingest.sources.web.client import Refusal, WebClient, WebError, WebResponse
from ingest.sources.web.document import WebDocument
from ingest.sources.web.memory import Visit, VisitMemory
from ingest.sources.web.pages import asks_who_you_are, leads_on_to
from ingest.sources.web.reader import WebReader
from ingest.sources.web.scope import Scope, names_a_login
from ingest.sources.web.sitemaps import Robots

_MOST_STEPS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """A start page's response, and the document in it. `known`: the visit that its validators were taken from."""

    answer: WebResponse
    known: Visit | None
    document: WebDocument | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Starts:
    """Asks the start addresses. `scope` learns where they lead; `robots` reads the rules of other hosts there."""

    scope: Scope
    client: WebClient
    reader: WebReader
    robots: Robots
    memory: VisitMemory
    refusal: Refusal

    async def open(self, start: URL) -> Opened:
        """Asks a start address, and those to which it leads.

        Raises:
            WebError: there is no page, or it leads to a login or to another site; the reason names the target.
        """
        address = start
        for _ in range(_MOST_STEPS):
            try:
                opened = await self._ask(address)
            except WebError as error:
                if error.to is None:
                    return await self._ask_other_spelling(start, error)
                address = await self._followed(start, error.to, error)
                continue
            document, target = await self._where(start, opened.answer)
            if target is None:
                return replace(opened, document=document)
            address = target
            if self.scope.foreign(target):
                address = await self._followed(start, target, WebError(f"it redirects to {target}"))
        raise WebError(f"{start} redirects more than {_MOST_STEPS} times")

    async def _ask(self, address: URL) -> Opened:
        known = await self.memory.recall(str(self.scope.spelled(address)))
        known = None if known is None or known.document.hidden else known
        validators = known.validators if known else None
        answer = await self.client.get(address, refusal=self.refusal, validators=validators)
        return Opened(answer=answer, known=known)

    async def _ask_other_spelling(self, start: URL, error: WebError) -> Opened:
        """Tries `/handbook` for `/handbook/`, or the reverse: only one of them may exist or redirect."""
        if not error.gone or start.path == "/" or start.query_string:
            raise error
        path = start.path.rstrip("/") if start.path.endswith("/") else f"{start.path}/"
        try:
            opened = await self._ask(start.with_path(path))
        except WebError:
            raise error from None
        document, target = await self._where(start, opened.answer)
        if target is not None:
            raise error
        return replace(opened, document=document)

    async def _where(self, start: URL, answer: WebResponse) -> tuple[WebDocument | None, URL | None]:
        """Reads a start page, and where it sends its visitors on to; None: it is the page. The scope follows it there.

        Raises:
            WebError: it is a login.
        """
        if answer.url != start:
            self.scope.leads(start, answer.url)
        if answer.status == 304:
            return None, None
        document = await self.reader.read(answer)
        if asks_who_you_are(start, answer, document):
            raise _login(start, answer.url)
        target = leads_on_to(answer, document) if document else None
        if target is None or self.scope.spelled(target) == self.scope.spelled(answer.url):
            return document, None
        return document, target

    async def _followed(self, start: URL, target: URL, error: WebError) -> URL:
        if names_a_login(target) and not names_a_login(start):
            raise _login(start, target)
        if not self.scope.may_lead(start, target):
            raise WebError(
                f"{start} redirects to {target.with_query(None)}: that is not one of this source's hosts. "
                "If the pages are there, put that address into `start`",
                gone=error.gone,
                private=error.private,
                to=target,
            )
        self.scope.leads(start, target)
        await self.robots.read(target)
        return target


def _login(start: URL, target: URL) -> WebError:
    where = f" ({target.with_query(None)})" if target.path != start.path or target.host != start.host else ""
    return WebError(
        f"{start} leads to a login page{where}: only pages that need no login can be read",
        private=True,
        to=target,
    )
