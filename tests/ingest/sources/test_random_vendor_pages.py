"""Pages of vendors made at random, through their source's conversion and the parser: no word is
lost, none is said twice, their order is kept, and what a reader sees as words is no heading.

Every word is another one, so that they can be compared one by one.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.parsers.formats import parse_file
from ingest.sources.confluence.links import PageLinks
from ingest.sources.confluence.storage import storage_to_markdown
from ingest.sources.notion.blocks import Block, blocks_to_markdown
from ingest.sources.slack.people import Directory, Names
from ingest.sources.slack.threads import thread_page, threads_of

WORD = re.compile(r"[^\W\d_]+\d+x")
SCRIPTS = ("word", "Straße", "слово", "كلمة", "מילה", "单词", "단어")
AROUND = (
    "{}", "{{{{ {} }}}}", "{{% {} %}}", "{{: {} }}", "\\<{}>", "<%= {} %>", "<{}>", "&nbsp;{}", "# {}", "## {}", "> {}", "- {}",
    "* {}", "+ {}", "1. {}", "7) {}", "| {} |", "[{}]", "[{}]: x", "![{}](a.png)", "--- {}", "=== {}", "``` {}", "~~~ {}", "`{}",
    "*{}", "_{}_", "**{}**", "~{}~", "<!-- {} -->", "<script>{}", "<details>{}", "{}:", "\\{}", "import {} from 'y'", ":::{}",
    "!!! {}", "{{#{}}}", "{} {{#id}}", "${}$", "[^{}]: x", "<!--{}", "{}<br", "---", "===", "***", "```", "~~~", "    {}", "&lt;{}",
)  # fmt: skip
"""What people write around a word, without meaning any of it as mark-up."""
UNFENCED = tuple(form for form in AROUND if "```" not in form)
EXAMPLES = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@dataclass
class Author:
    """Writes words that were not there before."""

    draw: st.DrawFn
    words: list[str] = field(default_factory=list)

    def word(self) -> str:
        self.words.append(f"{self.draw(st.sampled_from(SCRIPTS))}{len(self.words)}x")
        return self.words[-1]

    def text(self, *, around: tuple[str, ...] = AROUND, most: int = 4) -> str:
        return " ".join(
            form.format(self.word()) if "{}" in form else form
            for form in self.draw(st.lists(st.sampled_from(around), min_size=1, max_size=most))
        )

    def some(self, make: Callable[[], Any], most: int = 3) -> list[Any]:
        return [make() for _ in range(self.draw(st.integers(1, most)))]

    def one_of(self, *choices: Callable[[], Any]) -> Any:
        return self.draw(st.sampled_from(choices))()


def read(markdown: str) -> tuple[list[str], list[str]]:
    """Words of the page as the index would hold it, in their order; and those in its headings."""
    page = parse_file(markdown.encode(), path="x", media_type="text/markdown")
    words = [
        word
        for part in page.sections
        for block in part.blocks
        for word in WORD.findall(html.unescape(block.text))
    ]
    heads = [word for part in page.sections for name in part.path for word in WORD.findall(name)]
    return words, heads


class StorageAuthor(Author):
    """Writes storage format."""

    def page(self) -> str:
        return "".join(self.some(lambda: self.block(3), most=5))

    def block(self, depth: int) -> str:
        leaves = [self.paragraph, self.code]
        if depth <= 0:
            return str(self.one_of(*leaves))
        return str(
            self.one_of(
                *leaves,
                lambda: f"<ul>{''.join(self.some(lambda: f'<li>{self.inner(depth)}</li>'))}</ul>",
                lambda: f"<ol>{''.join(self.some(lambda: f'<li>{self.inner(depth)}</li>'))}</ol>",
                lambda: f"<blockquote>{self.inner(depth)}</blockquote>",
                lambda: f"<table><tbody>{''.join(self.rows(depth))}</tbody></table>",
                lambda: self.macro(self.draw(st.sampled_from(("info", "expand", "panel", "ui-tab", "card", "toc-zone", "excerpt", "my-macro"))), depth),
                lambda: f"<ac:layout><ac:layout-section><ac:layout-cell>{self.inner(depth)}</ac:layout-cell></ac:layout-section></ac:layout>",
                lambda: f"<ac:task-list><ac:task><ac:task-status>complete</ac:task-status><ac:task-body>{self.inline()}</ac:task-body></ac:task></ac:task-list>",
            )
        )  # fmt: skip

    def inner(self, depth: int) -> str:
        return str(self.one_of(self.inline, lambda: "".join(self.some(lambda: self.block(depth - 1)))))

    def rows(self, depth: int) -> list[str]:
        width = self.draw(st.integers(1, 3))
        head = "".join(f"<th>{self.word()}</th>" for _ in range(width))
        cells = lambda: "".join(f"<td>{self.inner(depth - 1)}</td>" for _ in range(width))  # noqa: E731
        return [f"<tr>{head}</tr>", *self.some(lambda: f"<tr>{cells()}</tr>")]

    def macro(self, name: str, depth: int) -> str:
        title = f'<ac:parameter ac:name="title">{html.escape(self.word())}</ac:parameter>' if name in ("info", "expand", "ui-tab", "my-macro") else ""  # fmt: skip
        return f'<ac:structured-macro ac:name="{name}">{title}<ac:rich-text-body>{self.inner(depth)}</ac:rich-text-body></ac:structured-macro>'

    def paragraph(self) -> str:
        return f"<p>{self.inline()}</p>"

    def code(self) -> str:
        words = " <b> & {{ }} # ".join(self.some(self.word))
        return f'<ac:structured-macro ac:name="code"><ac:plain-text-body><![CDATA[{words}]]></ac:plain-text-body></ac:structured-macro>'

    def inline(self) -> str:
        return " ".join(
            self.some(
                lambda: self.one_of(
                    lambda: html.escape(self.text(), quote=False),
                    lambda: f"<strong>{self.word()}</strong>",
                    lambda: f"<code>{html.escape(self.word())}</code>",
                    lambda: f"<a href='https://x.example'>{self.word()}</a>",
                    lambda: f'<ac:structured-macro ac:name="excerpt"><ac:rich-text-body>{self.word()}</ac:rich-text-body></ac:structured-macro>',
                    lambda: f"{self.word()}<br/>{html.escape(self.text(), quote=False)}",
                )
            )
        )  # fmt: skip


LINKS = PageLinks(base_url="https://acme.example/wiki", edition="cloud", space="E", title="T")


@EXAMPLES
@given(st.data())
def test_a_page_of_storage_format_keeps_its_words(data: st.DataObject) -> None:
    author = StorageAuthor(data.draw)
    storage = author.page()
    markdown = f"# Title\n\n{storage_to_markdown(storage, LINKS)}"
    words, heads = read(markdown)

    if storage.count("<table") > 1:  # of one within a cell, the headers stand at each value
        assert set(words) == set(author.words), markdown
    else:
        assert words == author.words, markdown
    assert not heads


class NotionAuthor(Author):
    """Writes blocks of Notion."""

    def blocks(self, depth: int) -> tuple[Block, ...]:
        return tuple(self.some(lambda: self.block(depth)))

    def block(self, depth: int) -> Block:
        kinds = [
            "paragraph",
            "code",
            "table",
            "quote",
            "callout",
            "bulleted_list_item",
            "numbered_list_item",
            "to_do",
            "toggle",
        ]
        kind = self.draw(st.sampled_from([*kinds, "column_list", "ai_block"] if depth else kinds[:3]))
        if kind == "table":
            rows = self.some(lambda: {"cells": [self.rich(), self.rich()]})
            return self.made(kind, {}, tuple(self.made("table_row", row) for row in rows))
        if kind == "code":
            return self.made(
                kind, {"rich_text": [{"plain_text": " <b> & {{ }} # ".join(self.some(self.word))}]}
            )
        held = {} if kind == "column_list" else {"rich_text": self.rich()}
        return self.made(kind, held, self.blocks(depth - 1) if depth and self.draw(st.booleans()) else ())

    def made(self, kind: str, held: dict[str, Any], children: tuple[Block, ...] = ()) -> Block:
        return Block(id="0" * 32, kind=kind, held=held, children=children)

    def rich(self) -> list[dict[str, Any]]:
        return self.some(
            lambda: (
                {
                    "plain_text": self.draw(st.sampled_from(("{} ", "{}\n", "\n{}"))).format(self.text()),
                    "annotations": {self.draw(st.sampled_from(("bold", "italic", "none", "code"))): True},
                }
                if self.draw(st.booleans())
                else {"plain_text": f"{self.word()} ", "href": "https://x.example"}
            )
        )


@EXAMPLES
@given(st.data())
def test_a_page_of_notion_keeps_its_words(data: st.DataObject) -> None:
    author = NotionAuthor(data.draw)
    first = author.made("paragraph", {"rich_text": author.rich()})  # a page needs some text
    markdown = f"# Title\n\n{blocks_to_markdown((first, *author.blocks(2)))}\n"
    words, heads = read(markdown)

    assert words == author.words, markdown
    assert not heads


class SlackAuthor(Author):
    """Writes messages. Three backticks are code there, whoever means them."""

    def said(self) -> str:
        return html.escape(self.text(around=UNFENCED), quote=False)

    def message(self) -> str:
        lines = self.some(
            lambda: self.one_of(
                self.said,
                lambda: f"```{html.escape(' <b> & {{ }} # '.join(self.some(self.word)), quote=False)}```",
                lambda: f"• {self.said()}",
                lambda: f"&gt; {self.said()}",
                lambda: f"*{self.word()}* `{self.word()}` <https://x.example|{self.word()}>",
            )
        )
        return self.draw(st.sampled_from(("\n", "\n\n"))).join(lines)


@EXAMPLES
@given(st.data())
def test_a_thread_of_slack_keeps_its_words_and_its_parts(data: st.DataObject) -> None:
    author = SlackAuthor(data.draw)
    texts = [author.message() for _ in range(3)]
    records = [
        {"type": "message", "user": "U1", "ts": f"17000000{at:02}.000100", "thread_ts": "1700000000.000100", "text": text,
         "reactions": [{"name": "ok"}] if at == 1 else []}
        for at, text in enumerate(texts)
    ]  # fmt: skip
    (thread,) = threads_of(records, channel="C1", pins=frozenset())
    people = Names(Directory([]))
    markdown = thread_page(thread, channel="it", people=people, accepted=frozenset({"ok"})).markdown
    page = parse_file(markdown.encode(), path="C1/1700000000.000100", media_type="text/markdown")
    found = {
        part.path: WORD.findall(html.unescape(" ".join(block.text for block in part.blocks)))
        for part in page.sections
    }

    assert list(found) == [(), ("Accepted answer",), ("Other replies",)], markdown
    assert [word for words in found.values() for word in words] == author.words, markdown
    for words, text in zip(found.values(), texts, strict=True):
        assert words == WORD.findall(html.unescape(text)), markdown
