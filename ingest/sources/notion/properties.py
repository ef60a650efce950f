"""The columns of a row of a database, as a reader sees them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from decimal import Decimal
from typing import Any

from ingest.sources.notion.connection import REFUSED, Connection, NotionError
from ingest.sources.notion.family import Found, PageNames
from ingest.sources.notion.missing import Missing
from ingest.sources.notion.text import plain_text, rich_text

_CURRENCIES = {
    "dollar": "$", "euro": "€", "pound": "£", "yen": "¥", "rupee": "₹", "won": "₩", "yuan": "CN¥", "ruble": "₽",
    "shekel": "₪", "baht": "฿", "lira": "₺", "real": "R$", "australian_dollar": "A$", "canadian_dollar": "CA$",
    "hong_kong_dollar": "HK$", "new_zealand_dollar": "NZ$", "singapore_dollar": "SGD ", "new_taiwan_dollar": "NT$",
    "franc": "CHF ", "krona": "SEK ", "norwegian_krone": "NOK ", "danish_krone": "DKK ", "zloty": "PLN ",
    "forint": "HUF ", "koruna": "CZK ", "leu": "RON ", "rand": "ZAR ", "dirham": "AED ", "riyal": "SAR ",
    "ringgit": "MYR ", "rupiah": "IDR ", "mexican_peso": "MX$", "philippine_peso": "₱", "chilean_peso": "CLP ",
    "colombian_peso": "COP ", "argentine_peso": "ARS ", "uruguayan_peso": "UYU ", "peruvian_sol": "PEN ",
}  # fmt: skip
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?")
_DEEPEST = 5


class PropertyReader:
    """Reads the columns of rows; of each data source the formats of its numbers once."""

    def __init__(self, connection: Connection, names: PageNames) -> None:
        self._connection = connection
        self._names = names
        self._formats: dict[str, Mapping[str, str]] = {}

    async def read(self, page: Found, missing: Missing) -> dict[str, str]:
        """Returns column -> its value in one line, of those that say something; counts the others in `missing`."""
        columns: dict[str, str] = {}
        for name, value in (page.get("properties") or {}).items():
            if value.get("type") == "relation":
                text = await self._linked(page, name, value, missing)
            elif value.get("type") == "number" and value.get("number") is not None:
                formats = await self._formats_of(page, missing)
                text = number(value["number"], formats.get(str(name), ""))
            elif value.get("type") == "rollup":
                text = await self._rolled_up(value.get("rollup") or {}, missing)
            elif value.get("type") == "title":
                continue  # it is the page's title
            else:
                text = property_text(value)
            if words := " ".join(text.split()):
                columns[str(name)] = words
        return columns

    async def _linked(self, page: Found, name: str, value: Mapping[str, Any], missing: Missing) -> str:
        entries = value.get("relation") or []
        if value.get("has_more") and value.get("id"):
            try:
                entries = [entry async for entry in self._every_relation(str(page["id"]), str(value["id"]))]
            except NotionError as error:
                missing.columns.add(name)
                missing.passing |= error.status not in REFUSED
        return await self._titles(entries, missing)

    async def _every_relation(self, page_id: str, property_id: str) -> AsyncIterator[Mapping[str, Any]]:
        """Yields all entries of a relation; a page itself shows the first 25 alone."""
        call = self._connection.client.pages.properties.retrieve
        async for item in self._connection.all(call, page_id=page_id, property_id=property_id):
            yield item.get("relation") or {}

    async def _titles(self, entries: list[Mapping[str, Any]], missing: Missing) -> str:
        titles = [await self._names.of(str(entry["id"]), missing) for entry in entries if entry.get("id")]
        return ", ".join(filter(None, titles))

    async def _rolled_up(self, held: Mapping[str, Any], missing: Missing) -> str:
        if held.get("type") != "array":
            return property_text({"type": "rollup", "rollup": held})
        parts = [
            await self._titles(entry.get("relation") or [], missing)
            if entry.get("type") == "relation"
            else property_text(entry)
            for entry in held.get("array") or []
        ]
        return ", ".join(filter(None, parts))

    async def _formats_of(self, page: Found, missing: Missing) -> Mapping[str, str]:
        """Returns column -> format of its numbers; empty outside of databases, and where Notion does not tell."""
        source_id = (page.get("parent") or {}).get("data_source_id")
        if not source_id:
            return {}
        if source_id not in self._formats:
            call = self._connection.client.data_sources.retrieve
            try:
                found = await self._connection.ask(call, data_source_id=source_id)
            except NotionError as error:
                missing.formats = True
                missing.passing |= error.status not in REFUSED
                return {}
            self._formats[source_id] = _formats(found)
        return self._formats[source_id]


def _formats(source: Found) -> Mapping[str, str]:
    columns = (source.get("properties") or {}).items()
    return {str(name): str((column.get("number") or {}).get("format", "")) for name, column in columns}


def property_text(value: Mapping[str, Any], depth: int = 0) -> str:
    """Writes a value for reading; empty for none, and for ids that say nothing to a reader."""
    kind = str(value.get("type", ""))
    held = value.get(kind)
    if depth > _DEEPEST:
        return ""
    match kind:
        case "rich_text":
            return rich_text(held or [])
        case "title":
            return plain_text(held or [])
        case "select" | "status" | "created_by" | "last_edited_by":
            return str((held or {}).get("name") or "")
        case "multi_select" | "people" | "files":
            return ", ".join(str(entry["name"]) for entry in held or [] if entry.get("name"))
        case "place":
            return ", ".join(str(held[part]) for part in ("name", "address") if held and held.get(part))
        case "number":
            return "" if held is None else number(held, "")
        case "url" | "email" | "phone_number" | "string":
            return "" if held is None else str(held)
        case "checkbox" | "boolean":
            return "" if held is None else "yes" if held else "no"
        case "created_time" | "last_edited_time":
            return str(held or "")[:10]
        case "date":
            ends = [str(held[end]) for end in ("start", "end") if held and held.get(end)]
            return " to ".join(_TIME.sub(_time, end) for end in ends)
        case "unique_id":
            parts = ((held or {}).get("prefix"), (held or {}).get("number"))
            return "-".join(str(part) for part in parts if part is not None)
        case "formula" | "rollup":
            held = held or {}
            if held.get("type") == "array":
                return ", ".join(filter(None, (property_text(entry, depth + 1) for entry in held["array"])))
            return property_text(held, depth + 1)
        case _:
            return ""


def number(value: float, kind: str) -> str:
    """Writes a number by the column's format, as Notion names it: 0.075 is 7.5% to a reader, 1249.5 is €1249.50."""
    exact = Decimal(str(value))
    if kind == "percent":
        return f"{(exact * 100).normalize():f}%"
    if kind in _CURRENCIES:
        amount = f"{abs(exact):.2f}" if exact % 1 and exact == round(exact, 2) else f"{abs(exact):f}"
        return f"{'-' if exact < 0 else ''}{_CURRENCIES[kind]}{amount}"
    return f"{exact:f}"


def _time(found: re.Match[str]) -> str:
    zone = "UTC" if found[3] == "Z" else found[3]
    return " ".join(filter(None, (found[1], found[2], zone)))
