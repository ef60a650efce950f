"""The page in a real Chromium: as a person would use it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import Limits, Playground, sample_workspace
from bot.playground.kb_pages import ShownPage, ShownSection
from tests.fakes.browser import CHROMIUM, NO_CHROMIUM, a_chromium

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),  # a browser takes seconds to start: one serves every test
    pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Any]:
    async with a_chromium() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def playground(clock: Callable[[], float], limits: Limits) -> AsyncIterator[Playground]:
    async with Playground(sample_workspace(), clock=clock, limits=limits) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def page(chromium: Any, playground: Playground) -> AsyncIterator[Any]:
    """A page of Alice's in #general. A script error or a dialog that a message opened fails the test."""
    page = await chromium.new_page(viewport={"width": 1280, "height": 800})
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "dialog", lambda dialog: problems.append(dialog.message) or asyncio.ensure_future(dialog.dismiss())
    )
    await page.goto(f"{playground.url}#/U0ALICE/C0GENERAL")
    await page.wait_for_selector("textarea")
    yield page
    await page.close()
    assert problems == []


def mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


async def post(client: AsyncWebClient, *blocks: dict[str, Any], **more: Any) -> str:
    answer = await client.chat_postMessage(channel="C0GENERAL", text="fallback", blocks=list(blocks), **more)
    return str(answer["ts"])


async def drawn(page: Any, ts: str) -> Any:
    found = page.locator(f'#messages [data-ts="{ts}"] .body')
    await found.wait_for()
    return found


async def test_a_mention_is_completed_and_the_answer_opens_beside_it(
    page: Any, playground: Playground, client: AsyncWebClient
) -> None:
    await page.keyboard.type("@foo")
    assert await page.locator("[role=option]").inner_text() == "Footnote @footnote · app"
    await page.keyboard.press("Enter")
    await page.keyboard.type("How many days?")
    await page.keyboard.press("Enter")
    (asked,) = await playground.wait_for(lambda: playground.messages("#general"))
    assert asked["text"] == "<@U0FOOTNOTE> How many days?"
    call = {"channel_id": "C0GENERAL", "thread_ts": asked["ts"]}
    await client.assistant_threads_setStatus(**call, status="Searching the handbook…")
    await page.get_by_text("Searching the handbook…").first.wait_for()
    await client.chat_postMessage(channel="C0GENERAL", text="25 days", thread_ts=asked["ts"])
    await page.locator("#thread").get_by_text("25 days").wait_for()
    assert await page.get_by_text("Searching the handbook…").count() == 0
    await page.locator("#messages .replies").get_by_text("1 reply").wait_for()
    await page.locator("#composer-thread textarea").fill("and when do they expire?")
    await page.keyboard.press("Enter")
    replies = await playground.wait_for(lambda: playground.messages("#general", asked["ts"])[2:])
    assert replies[0]["text"] == "and when do they expire?"
    await page.keyboard.press("Escape")
    await page.locator("#thread").wait_for(state="hidden")


async def test_a_stream_is_drawn_as_it_grows_with_what_is_done_below_it(
    page: Any, playground: Playground, client: AsyncWebClient
) -> None:
    root = await playground.say("alice", "#general", "How many days?")
    started = await client.chat_startStream(
        channel="C0GENERAL",
        thread_ts=root,
        markdown_text="Twenty-five days. ([1](https://kb.example/leave))",
        recipient_team_id="T0HAVIK",
        recipient_user_id="U0ALICE",
    )
    await page.goto(f"{playground.url}#/U0ALICE/C0GENERAL/{root}")
    draft = page.locator(f'aside [data-ts="{started["ts"]}"]')
    await draft.get_by_text("Twenty-five days.").wait_for()
    assert await draft.get_by_label("still writing").count() == 1
    assert await draft.get_by_role("link", name="1").get_attribute("href") == "https://kb.example/leave"
    stream = {"channel": "C0GENERAL", "ts": started["ts"]}
    await client.chat_appendStream(**stream, markdown_text=" Unused ones expire.")
    await draft.get_by_text("Unused ones expire.").wait_for()
    status = {"channel_id": "C0GENERAL", "thread_ts": root}
    await client.assistant_threads_setStatus(**status, status="Checking the answer…")
    checking = page.locator("aside").get_by_role("status").filter(has_text="Checking the answer…")
    await checking.wait_for()
    await client.chat_stopStream(**stream)
    await client.assistant_threads_setStatus(**status, status="")
    await checking.wait_for(state="detached")
    assert await draft.get_by_label("still writing").count() == 0


async def test_mrkdwn_is_drawn(page: Any, client: AsyncWebClient) -> None:
    text = (
        "*bold* _it_ ~no~ `code` *_both_* 2*3*4 snake_case_name <https://x.example/?a=1&amp;b=2|a *label*> "
        "*<https://y.example|bold link>* _<@U0BRAM>_ * not bold * "
        "<@U0BRAM> <#C0GARDEN> <!here> :tada: :nonesuch: &lt;i&gt;\n&gt; quoted\n```\nfenced *x* &amp; y\n```"
    )
    body = await drawn(page, await post(client, mrkdwn(text)))
    html = await body.inner_html()
    for piece in (
        "<strong>bold</strong> <em>it</em> <s>no</s> <code>code</code> <strong><em>both</em></strong>",
        "2*3*4 snake_case_name",
        '<a href="https://x.example/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">a <strong>label</strong></a>',
        '<strong><a href="https://y.example" target="_blank" rel="noopener noreferrer">bold link</a></strong>',
        '<em><span class="mention">@Bram de Vries</span></em> * not bold * <span class="mention">@Bram de Vries</span>',
        '<span class="mention">#garden-shop</span>',
        '<span class="mention loud">@here</span>',
        ":nonesuch:",
        "&lt;i&gt;",
        "<blockquote>quoted</blockquote>",
        "<code>fenced *x* &amp; y</code>",
    ):
        assert piece in html, piece
    assert await body.get_by_role("img", name="tada").inner_text() == "🎉"


async def test_standard_markdown_is_drawn(page: Any, client: AsyncWebClient) -> None:
    text = (
        "## Title\n**b** and *i* and `c` and ~~s~~ [l](https://x.example/a_b_(c))[¹](https://y.example) <b>no</b>\n\n"
        "- one\n  - deeper\n- two\n\n3. three\n4. four\n\n> q\n\n| a | b |\n|---|--:|\n| 1 | **2** |\n\n"
        "```py\nx < 1 **not bold**\n```"
    )
    body = await drawn(page, await post(client, {"type": "markdown", "text": text}))
    html = await body.inner_html()
    for piece in (
        "<strong>b</strong> and <em>i</em> and <code>c</code> and <s>s</s>",
        '<a href="https://x.example/a_b_(c)" target="_blank" rel="noopener noreferrer">l</a>',
        "&lt;b&gt;no&lt;/b&gt;",
        "<ul><li>one<ul><li>deeper</li></ul></li><li>two</li></ul>",
        '<ol start="3"><li>three</li><li>four</li></ol>',
        '<td class="right"><strong>2</strong></td>',
        "<code>x &lt; 1 **not bold**</code>",
    ):
        assert piece in html, piece
    assert await body.get_by_role("heading", name="Title").count() == 1


async def test_every_block_is_drawn(page: Any, client: AsyncWebClient) -> None:
    text = {"type": "plain_text", "text": "Go"}
    cell = {"type": "raw_text", "text": "cell"}
    button = {"type": "button", "action_id": "go", "text": text}
    body = await drawn(
        page,
        await post(
            client,
            {"type": "header", "text": {"type": "plain_text", "text": "Header"}},
            {"type": "section", "fields": [{"type": "mrkdwn", "text": "*F1*"}], "accessory": button},
            {"type": "context", "elements": [{"type": "mrkdwn", "text": "small print"}]},
            {"type": "divider"},
            {"type": "table", "rows": [[cell, cell], [cell, cell]]},
            {"type": "image", "image_url": "https://x.example/a.png", "alt_text": "a chart"},
            {
                "type": "rich_text",
                "elements": [
                    {
                        "type": "rich_text_section",
                        "elements": [
                            {"type": "text", "text": "rich", "style": {"bold": True}},
                            {"type": "user", "user_id": "U0BRAM"},
                        ],
                    }
                ],
            },
        ),
    )
    assert await body.get_by_role("heading", name="Header").count() == 1
    assert await body.get_by_role("button", name="Go").count() == 1
    assert await body.get_by_text("small print").count() == 1
    assert await body.locator("hr").count() == 1
    assert await body.get_by_role("columnheader").count() == 2
    assert await body.get_by_role("img", name="a chart").count() == 1
    assert await body.locator("strong", has_text="rich").count() == 1
    assert await page.locator("img").count() == 0


EVIL = '<img src=x onerror=alert(1)><script>alert(2)</script>"><a href="javascript:alert(3)">x</a>'


async def test_no_text_becomes_markup(page: Any, playground: Playground, client: AsyncWebClient) -> None:
    """Wherever a text may come from, the page shows it and runs none of it."""
    plain = {"type": "plain_text", "text": EVIL[:75]}
    ts = await post(
        client,
        mrkdwn(f'{EVIL} <javascript:alert(4)|click> <https://x.example/" onmouseover="alert(5)|label>'),
        {
            "type": "markdown",
            "text": f"{EVIL}\n\n[x](javascript:alert(6)) ![y](javascript:alert(7)) <{EVIL}>",
        },
        {"type": "header", "text": plain},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": EVIL}]},
        {"type": "table", "rows": [[{"type": "raw_text", "text": EVIL}]]},
        {"type": "actions", "elements": [{"type": "button", "action_id": "go", "text": plain}]},
    )
    body = await drawn(page, ts)
    said = await playground.say("bram", "#general", EVIL)
    typed = await drawn(page, said)
    assert EVIL in await typed.inner_text()
    assert await page.locator("#messages img, #messages script").count() == 0
    for link in await page.locator("#messages a").all():
        assert (await link.get_attribute("href") or "").startswith("https://")
        assert await link.get_attribute("rel") == "noopener noreferrer"
        assert await link.get_attribute("onmouseover") is None
    assert "<script>" in await body.inner_text()


async def test_a_modal_is_filled_in_with_the_keyboard_and_closed_with_escape(
    page: Any, playground: Playground, client: AsyncWebClient
) -> None:
    text = {"type": "plain_text", "text": "Comment"}
    field = {"type": "plain_text_input", "action_id": "text"}
    view = {
        "type": "modal",
        "title": {"type": "plain_text", "text": "Tell us"},
        "submit": {"type": "plain_text", "text": "Send"},
        "blocks": [{"type": "input", "block_id": "c", "label": text, "element": field}],
    }
    await client.views_open(trigger_id=playground._slack.surfaces.new_trigger("U0ALICE"), view=view)
    dialog = page.get_by_role("dialog", name="Tell us")
    await dialog.wait_for()
    await dialog.get_by_role("button", name="Send").click()
    await dialog.get_by_text("Please complete this required field.").wait_for()
    assert await page.evaluate("document.activeElement.name") == "c"
    await page.keyboard.press("Escape")
    await dialog.wait_for(state="hidden")
    assert playground.modal("alice") is None


async def test_an_ephemeral_message_and_another_person(
    page: Any, playground: Playground, client: AsyncWebClient
) -> None:
    await client.chat_postEphemeral(channel="C0GENERAL", user="U0ALICE", text="Only admins can reindex.")
    await page.get_by_text("Only visible to you").wait_for()
    await page.get_by_label("You are").select_option("U0BRAM")
    await page.get_by_role("button", name="people-leads").wait_for(state="detached")
    assert await page.get_by_text("Only admins can reindex.").count() == 0
    await page.get_by_label("Message #general").fill("I am Bram")
    await page.keyboard.press("Enter")
    messages = await playground.wait_for(lambda: playground.messages("#general"))
    assert messages[-1]["user"] == "U0BRAM"


async def test_the_page_catches_up_after_a_lost_connection(page: Any, playground: Playground) -> None:
    await playground._page.close()
    await playground.say("bram", "#general", "said meanwhile")
    await page.get_by_text("said meanwhile").wait_for(timeout=10_000)


async def test_arrow_keys_move_through_channels_and_messages(page: Any, playground: Playground) -> None:
    first = await playground.say("bram", "#general", "first")
    second = await playground.say("chidi", "#general", "second")
    await drawn(page, second)
    await page.locator(f'[data-ts="{second}"]').focus()
    await page.keyboard.press("ArrowUp")
    assert await page.evaluate("document.activeElement.dataset.ts") == first
    await page.get_by_role("button", name="general", exact=True).focus()
    await page.keyboard.press("ArrowDown")
    assert "garden-shop" in await page.evaluate("document.activeElement.textContent")


@pytest.mark.parametrize("width", [390, 1280])
async def test_nothing_sticks_out_sideways(page: Any, client: AsyncWebClient, width: int) -> None:
    cells = [{"type": "raw_text", "text": "a long cell of text"}] * 12
    ts = await post(client, {"type": "table", "rows": [cells]}, mrkdwn("x" * 400))
    await drawn(page, ts)
    await page.set_viewport_size({"width": width, "height": 780})
    assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_a_cited_section_of_a_document_is_scrolled_to(
    chromium: Any, clock: Callable[[], float], limits: Limits
) -> None:
    def section(number: int) -> ShownSection:
        text = "\n\n".join([f"Line of page {number}."] * 40)
        return ShownSection(anchor=f"page={number}", headings=((2, f"Page {number}"),), markdown=text)

    async def pages(path: str) -> ShownPage | None:
        shown = ShownPage(title="Report", sections=tuple(section(number) for number in (1, 2, 3)))
        return shown if path == "report.pdf" else None

    async with Playground(sample_workspace(), clock=clock, limits=limits, pages=pages) as running:
        page = await chromium.new_page(viewport={"width": 1280, "height": 800})
        await page.goto(f"{running.url}kb/report.pdf#page=2")
        top = await page.evaluate("document.getElementById('page=2').getBoundingClientRect().top")
        scrolled = await page.evaluate("window.scrollY")
        await page.close()
    assert scrolled > 800
    assert -1 <= top <= 40
