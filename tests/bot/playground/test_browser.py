"""The page in a real Chromium: as a person would use it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import SlackLimits, sample_workspace
from bot.playground.guide import Guide, Suggestion
from bot.playground.kb_pages import ShownPage, ShownSection
from tests.fakes.browser import CHROMIUM, NO_CHROMIUM, Windows, a_chromium, until_true
from tests.fakes.playground import Playground

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),  # a browser takes seconds to start: one serves every test
    pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Any]:
    async with a_chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def windows(chromium: Any) -> Windows:
    return Windows(chromium, viewport={"width": 1280, "height": 800})


@pytest_asyncio.fixture(loop_scope="module")
async def playground(clock: Callable[[], float], limits: SlackLimits) -> AsyncIterator[Playground]:
    async with Playground(sample_workspace(), clock=clock, limits=limits) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def page(windows: Windows, playground: Playground) -> AsyncIterator[Any]:
    """A page of Alice's in #general. A script error or a dialog that a message opened fails the test."""
    problems: list[str] = []
    async with windows.window() as page:
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "dialog",
            lambda dialog: problems.append(dialog.message) or asyncio.ensure_future(dialog.dismiss()),
        )
        await page.goto(f"{playground.url}#/U0ALICE/C0GENERAL")
        await page.wait_for_selector("textarea")
        yield page
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
    windows: Windows, clock: Callable[[], float], limits: SlackLimits
) -> None:
    def section(number: int) -> ShownSection:
        text = "\n\n".join([f"Line of page {number}."] * 40)
        return ShownSection(anchor=f"page={number}", headings=((2, f"Page {number}"),), markdown=text)

    async def pages(path: str) -> ShownPage | None:
        shown = ShownPage(title="Report", sections=tuple(section(number) for number in (1, 2, 3)))
        return shown if path == "report.pdf" else None

    async with (
        Playground(sample_workspace(), clock=clock, limits=limits, pages=pages) as running,
        windows.window() as page,
    ):
        await page.goto(f"{running.url}kb/report.pdf#page=2")
        await until_true(page, "window.scrollY > 800")
        top = await page.evaluate("document.getElementById('page=2').getBoundingClientRect().top")
    assert -1 <= top <= 40


async def test_files_are_attached_shown_and_can_be_taken_off_again(page: Any, playground: Playground) -> None:
    notes = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"1\n2\n3\n4\n5\n6\n7"}
    scan = {"name": "scan.pdf", "mimeType": "application/pdf", "buffer": b"%PDF" * 500}
    await page.locator("#composer-main input[type=file]").set_input_files([notes, scan])
    await page.get_by_role("button", name="Remove scan.pdf").click()
    await page.get_by_label("Message #general").press("Enter")
    (sent,) = await playground.wait_for(lambda: playground.messages("#general"))
    (file,) = sent["files"]
    assert (file["name"], file["size"], file["mode"]) == ("notes.txt", 13, "snippet")
    body = await drawn(page, sent["ts"])
    assert "2 more lines" in await body.inner_text()
    assert await page.locator(".upload").count() == 0


async def test_a_message_is_forwarded_and_opens_where_it_was_said(page: Any, playground: Playground) -> None:
    ts = await playground.say("bram", "#general", f"What does it *cost*? {EVIL}")
    message = page.locator(f'#messages [data-ts="{ts}"]')
    await message.hover()
    await message.get_by_role("button", name="Forward message").click()
    sheet = page.get_by_role("dialog", name="Forward this message")
    await sheet.get_by_label("To", exact=True).select_option("C0GARDEN")
    await sheet.get_by_label("Add a message").fill("look")
    await page.keyboard.press("Enter")
    shared = page.get_by_label("Forwarded from Bram de Vries")
    await shared.wait_for()
    assert "What does it cost?" in await shared.inner_text()
    assert await page.locator(".shared img, .shared script").count() == 0
    await until_true(page, "document.title.includes('garden-shop')")
    await shared.get_by_role("link", name="View message").click()
    await page.locator(f'#messages [data-ts="{ts}"]').wait_for()


async def test_a_reply_is_also_sent_to_the_channel(page: Any, playground: Playground) -> None:
    root = await playground.say("bram", "#general", "How many days?")
    await page.goto(f"{playground.url}#/U0ALICE/C0GENERAL/{root}")
    reply = page.get_by_role("combobox", name="Reply in thread")
    await page.get_by_label("Also send to #general").check()
    await reply.fill("25, I think")
    await reply.press("Enter")
    line = page.locator("#messages article").filter(has_text="25, I think")
    await line.get_by_text("Replied to").wait_for()
    assert not await page.get_by_label("Also send to #general").is_checked()
    await page.get_by_role("button", name="Close thread").click()
    await line.get_by_role("button", name="a thread").click()
    await page.locator("#thread").get_by_text("Also sent to the channel").wait_for()


async def test_a_shortcut_is_run_from_the_menu_with_the_keyboard(page: Any, playground: Playground) -> None:
    ts = await playground.say("bram", "#general", "How many days?")
    await page.locator(f'[data-ts="{ts}"]').focus()
    await page.locator(f'[data-ts="{ts}"]').get_by_role("button", name="More actions").focus()
    await page.keyboard.press("Enter")
    menu = page.get_by_role("menu", name="More actions")
    await menu.wait_for()
    await page.keyboard.press("ArrowDown")
    assert await page.evaluate("document.activeElement.textContent") == "Copy link"
    await page.keyboard.press("Escape")
    assert await page.evaluate("document.activeElement.getAttribute('aria-label')") == "More actions"
    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    await page.get_by_text("This app didn't respond. Try again?").wait_for()  # no app is connected here
    assert [one.event_type for one in playground.deliveries if one.kind == "interactive"] == [
        "message_action"
    ]


async def test_a_group_is_opened_and_a_workflow_posts(page: Any, playground: Playground) -> None:
    await page.get_by_role("button", name="Attach").click()
    await page.get_by_role("menuitem", name="Post as a workflow").click()
    await page.get_by_label("The form's text").fill("@footnote how many days?")
    await page.keyboard.press("Enter")
    posted = page.get_by_role("article", name="Ask HR")
    await posted.get_by_text("WORKFLOW").wait_for()
    await page.get_by_role("button", name="New group message").click()
    await page.get_by_label("Bram de Vries").check()
    await page.get_by_role("button", name="Open", exact=True).click()
    await page.get_by_role("heading", name="Bram", exact=True).wait_for()
    await page.get_by_label("Message Bram").fill("just us two")
    await page.keyboard.press("Enter")
    group = await playground.open_group("bram", "alice")
    await playground.wait_for(lambda: playground.messages(group))


def a_field(kind: str, block_id: str, **more: Any) -> dict[str, Any]:
    options = [{"text": {"type": "plain_text", "text": one.title()}, "value": one} for one in ("red", "blue")]
    held = {"type": kind, "action_id": "it"} | ({} if kind == "plain_text_input" else {"options": options})
    label = {"type": "plain_text", "text": block_id.title()}
    return {"type": "input", "block_id": block_id, "label": label, "element": held | more}


async def test_every_field_of_a_dialog_tells_what_was_chosen_and_keeps_it_when_it_is_redrawn(
    page: Any, playground: Playground, client: AsyncWebClient
) -> None:
    red = {"text": {"type": "plain_text", "text": "Red"}, "value": "red"}
    view = {
        "type": "modal",
        "title": {"type": "plain_text", "text": "Choose"},
        "submit": {"type": "plain_text", "text": "Save"},
        "blocks": [
            a_field("static_select", "menu", initial_option=red),
            a_field("radio_buttons", "one"),
            a_field("checkboxes", "some"),
            a_field("multi_static_select", "many", initial_options=[red]),
            a_field("plain_text_input", "words", multiline=True),
        ],
    }
    trigger = playground._slack.surfaces.new_trigger("U0ALICE")
    opened = (await client.views_open(trigger_id=trigger, view=view))["view"]
    dialog = page.get_by_role("dialog", name="Choose")
    await dialog.get_by_role("button", name="Save").click()
    assert await dialog.get_by_text("Please complete this required field.").count() == 3
    await dialog.get_by_label("Menu").select_option("blue")
    await dialog.get_by_role("radiogroup", name="One").get_by_label("Blue").check()
    await dialog.get_by_role("group", name="Some").get_by_label("Red").check()
    await dialog.get_by_role("group", name="Many").get_by_label("Blue").check()
    await dialog.get_by_label("Words").fill("hello")
    await client.views_update(
        view_id=opened["id"], view=view | {"title": {"type": "plain_text", "text": "Still"}}
    )
    redrawn = page.get_by_role("dialog", name="Still")
    await redrawn.wait_for()
    told = await page.evaluate(
        "import('/static/fields.js').then((fields) => fields.values(document.getElementById('modal')))"
    )
    assert told == {
        "menu": {"it": "blue"},
        "one": {"it": "blue"},
        "some": {"it": ["red"]},
        "many": {"it": ["red", "blue"]},
        "words": {"it": "hello"},
    }
    await page.keyboard.press("Escape")


async def test_prompts_of_the_pane_send_and_threads_have_their_title(
    page: Any, playground: Playground
) -> None:
    workspace = replace(sample_workspace(), scopes=(*sample_workspace().scopes, "assistant:write"))
    async with Playground(workspace, limits=playground.limits) as running:
        client = AsyncWebClient(token=workspace.bot_token, base_url=running.api_url)
        prompts = [{"title": "Leave", "message": "How many days of leave?"}]
        dm = running.dm("alice")
        await client.assistant_threads_setSuggestedPrompts(
            channel_id=dm, title="For example", prompts=prompts
        )
        await page.goto(f"{running.url}#/U0ALICE/{dm}")
        await page.get_by_role("group", name="Suggested prompts").get_by_role("button", name="Leave").click()
        (sent,) = await running.wait_for(lambda: running.messages(dm))
        assert sent["text"] == "How many days of leave?"
        await client.assistant_threads_setTitle(channel_id=dm, thread_ts=sent["ts"], title="Days of leave")
        await page.goto(f"{running.url}#/U0ALICE/{dm}/{sent['ts']}")
        await page.get_by_role("heading", name="Days of leave").wait_for()
        await page.get_by_text("No replies yet.").wait_for()
        await page.goto(f"{running.url}#/U0ALICE/{dm}/1111111111.000000")
        await page.get_by_text("This thread is not here any more.").wait_for()
        await page.goto("about:blank")


QUESTIONS = (
    Suggestion(text="What should I know about annual leave?"),
    Suggestion(text="And unpaid leave?", kind="follow_up"),
    Suggestion(text="Who feeds the office cat?", kind="unanswered"),
)


@pytest.mark.parametrize(
    ("guide", "told"),
    [
        (
            Guide(model=None, pages=3, questions=QUESTIONS),
            "Answers are quotes from the pages. To have a model write",
        ),
        (
            Guide(model="claude-sonnet-5-5", pages=3, questions=QUESTIONS),
            "Answers are written by claude-sonnet-5-5",
        ),
        (Guide(pages=0), "No pages are indexed yet."),
    ],
)
async def test_the_first_screen_says_who_writes_and_what_to_try(
    windows: Windows, clock: Callable[[], float], limits: SlackLimits, guide: Guide, told: str
) -> None:
    async def ask() -> Guide:
        return guide

    async with (
        Playground(sample_workspace(), clock=clock, limits=limits, guide=ask) as running,
        windows.window() as page,
    ):
        await page.goto(f"{running.url}#/U0ALICE/C0GENERAL")
        await page.locator("#welcome").get_by_text(told).wait_for()
        if guide.questions:
            await page.get_by_role("button", name="And unpaid leave?").click()
            (asked,) = await running.wait_for(lambda: running.messages("#general"))
            assert asked["text"] == "<@U0FOOTNOTE> What should I know about annual leave?"
            client = AsyncWebClient(token=running.workspace.bot_token, base_url=running.api_url)
            await client.chat_postMessage(channel="C0GENERAL", thread_ts=asked["ts"], text="25 days")
            thread = await running.wait_for(lambda: running.messages("#general", asked["ts"])[2:])
            assert thread[0]["text"] == "And unpaid leave?", "the follow-up needs no mention"
            await page.get_by_role("button", name="Questions to try").click()
            await page.get_by_role("menuitem", name="Who feeds the office cat?").click()
            await page.locator("#messages").get_by_text("Who feeds the office cat?").wait_for()
            assert running.messages("#general")[-1]["text"].startswith("<@U0FOOTNOTE> Who feeds")


async def test_an_answer_that_came_before_the_page_got_there_opens_beside_its_question(
    page: Any, playground: Playground
) -> None:
    client = AsyncWebClient(token=playground.workspace.bot_token, base_url=playground.api_url)
    await playground.say("bram", "#general", "How many weeks of parental leave are there?")

    async def confirm_late(route: Any) -> None:
        confirmed = await route.fetch()
        (asked,) = playground.messages("#people-leads")
        await client.chat_postMessage(channel="G0PEOPLE", thread_ts=asked["ts"], text="26 weeks")
        await page.locator("button.unread").filter(has_text="people-leads").wait_for()
        await route.fulfill(response=confirmed)

    await page.route("**/page/forward", confirm_late)
    await page.get_by_role("article").hover()
    await page.get_by_role("button", name="Forward message").click()
    await page.get_by_label("To", exact=True).select_option("G0PEOPLE")
    await page.get_by_label("Add a message").fill("@footnote do you know?")
    await page.keyboard.press("Enter")
    await page.locator("#thread").get_by_text("26 weeks").wait_for()


async def test_a_follow_up_is_asked_though_the_answer_comes_before_the_question_is_confirmed(
    windows: Windows, clock: Callable[[], float], limits: SlackLimits
) -> None:
    async def ask() -> Guide:
        return Guide(model=None, pages=3, questions=QUESTIONS)

    async with (
        Playground(sample_workspace(), clock=clock, limits=limits, guide=ask) as running,
        windows.window() as page,
    ):
        client = AsyncWebClient(token=running.workspace.bot_token, base_url=running.api_url)

        async def confirm_late(route: Any) -> None:
            confirmed = await route.fetch()
            (asked, *_rest) = running.messages("#general")
            if len(running.messages("#general", asked["ts"])) == 1:
                await client.chat_postMessage(channel="C0GENERAL", thread_ts=asked["ts"], text="25 days")
                await page.locator("#thread").get_by_text("25 days").wait_for()
            await route.fulfill(response=confirmed)

        await page.route("**/page/say", confirm_late)
        await page.goto(f"{running.url}#/U0ALICE/C0GENERAL")
        await page.get_by_role("button", name="And unpaid leave?").click()
        (asked,) = await running.wait_for(lambda: running.messages("#general"))
        thread = await running.wait_for(lambda: running.messages("#general", asked["ts"])[2:])
        assert [message["text"] for message in thread] == ["And unpaid leave?"]
        await page.unroute_all(behavior="wait")


async def test_what_is_said_while_a_channel_is_being_loaded_is_shown(
    page: Any, playground: Playground
) -> None:
    async def slowly(route: Any) -> None:
        answer = await route.fetch()
        await playground.say("bram", "#garden-shop", "Said meanwhile.")
        await asyncio.sleep(0.3)  # the feed is faster than the answer
        await route.fulfill(response=answer)

    await page.route("**/page/messages?*", slowly)
    await page.get_by_role("button", name="garden-shop").click()
    await page.locator("#messages").get_by_text("Said meanwhile.").wait_for()


async def test_what_is_said_before_the_page_is_told_of_changes_is_shown(
    windows: Windows, playground: Playground
) -> None:
    async with windows.window() as page:
        asked = asyncio.Event()
        page.on("response", lambda response: asked.set() if "/page/messages" in response.url else None)

        async def connect_late(feed: Any) -> None:
            with suppress(TimeoutError):
                await asyncio.wait_for(asked.wait(), 1)
            await playground.say("bram", "#general", "Said early.")
            feed.connect_to_server()

        await page.route_web_socket(re.compile("/page/feed"), connect_late)
        await page.goto(f"{playground.url}#/U0ALICE/C0GENERAL")
        await page.locator("#messages").get_by_text("Said early.").wait_for()


class Held:
    """Answers that come when the test wants them, not before."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self._answer = asyncio.Event()

    async def __call__(self, route: Any) -> None:
        response = await route.fetch()
        self.asked.set()
        await self._answer.wait()
        await route.fulfill(response=response)

    async def let_go(self, page: Any) -> None:
        """Returns when the page has them."""
        self._answer.set()
        await page.unroute_all(behavior="wait")


async def test_who_sits_down_stays_though_the_list_of_rooms_of_the_person_before_comes_late(
    page: Any, playground: Playground
) -> None:
    rooms = Held()
    await page.route("**/page/workspace?user=U0ALICE", rooms)
    await playground.open_group("bram", "alice")
    await rooms.asked.wait()
    await page.get_by_label("You are").select_option("U0BRAM")
    await page.get_by_role("button", name="people-leads").wait_for(state="detached")
    await rooms.let_go(page)
    await page.get_by_label("Message #general").fill("I am Bram")
    await page.keyboard.press("Enter")
    (sent,) = await playground.wait_for(lambda: playground.messages("#general"))
    assert sent["user"] == "U0BRAM"


async def test_the_channel_that_was_picked_last_is_written_in_though_the_one_before_loads_longer(
    page: Any, playground: Playground
) -> None:
    messages = Held()
    await page.route("**/page/messages?*channel=C0GARDEN*", messages)
    await page.get_by_role("button", name="garden-shop").click()
    await messages.asked.wait()
    await page.get_by_role("button", name="general", exact=True).click()
    await messages.let_go(page)
    await page.get_by_role("heading", name="# general").wait_for()
    await page.get_by_label("Message #general").fill("Here")
    await page.keyboard.press("Enter")
    await playground.wait_for(lambda: playground.messages("#general"))


async def test_what_is_typed_before_a_message_is_confirmed_is_the_next_message(
    page: Any, playground: Playground
) -> None:
    confirmed = Held()
    await page.route("**/page/say", confirmed)
    await page.keyboard.type("first")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    await confirmed.asked.wait()
    await page.keyboard.type("second")
    await confirmed.let_go(page)
    await page.keyboard.press("Enter")
    said = await playground.wait_for(lambda: playground.messages("#general")[1:])
    assert [message["text"] for message in playground.messages("#general")] == ["first", "second"], said


async def test_what_was_refused_stands_in_the_field_again(page: Any, playground: Playground) -> None:
    async def refuse(route: Any) -> None:
        await route.fulfill(status=400, json={"error": "Not now."})

    await page.route("**/page/say", refuse)
    notes = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"1"}
    await page.locator("#composer-main input[type=file]").set_input_files([notes])
    field = page.get_by_label("Message #general")
    await field.fill("How many days?")
    await page.keyboard.press("Enter")
    await page.get_by_text("Not now.").wait_for()
    await page.get_by_role("button", name="Remove notes.txt").wait_for()
    assert await field.input_value() == "How many days?"
    assert playground.messages("#general") == []


async def test_a_dialog_that_the_app_changes_while_it_is_being_sent_stays_as_it_is_now(
    page: Any, playground: Playground, client: AsyncWebClient
) -> None:
    title = {"type": "plain_text", "text": "Tell us"}
    submit = {"type": "plain_text", "text": "Send"}
    view = {"type": "modal", "title": title, "submit": submit, "blocks": [a_field("plain_text_input", "a")]}
    trigger = playground._slack.surfaces.new_trigger("U0ALICE")
    opened = (await client.views_open(trigger_id=trigger, view=view))["view"]
    answer = Held()
    await page.route("**/page/submit_view", answer)
    dialog = page.get_by_role("dialog", name="Tell us")
    await dialog.get_by_label("A", exact=True).fill("x")
    await dialog.get_by_role("button", name="Send").click()
    await answer.asked.wait()
    await client.views_update(
        view_id=opened["id"], view=view | {"blocks": [a_field("plain_text_input", "b")]}
    )
    await dialog.get_by_label("B", exact=True).wait_for()
    await answer.let_go(page)
    assert await dialog.get_by_label("B", exact=True).get_attribute("aria-invalid") is None


async def test_a_button_whose_message_changes_while_it_is_pressed_is_pressed(
    page: Any, playground: Playground, client: AsyncWebClient
) -> None:
    go = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}
    blocks = [{"type": "actions", "elements": [go]}]
    ts = await post(client, *blocks)
    await (await drawn(page, ts)).get_by_role("button", name="Go").hover()
    await page.mouse.down()
    await client.chat_update(channel="C0GENERAL", ts=ts, text="fallback", blocks=[mrkdwn("New"), *blocks])
    await asyncio.sleep(0.5)  # it would be drawn by now
    await page.mouse.up()
    await playground.wait_for(lambda: [one for one in playground.deliveries if one.kind == "interactive"])
    await page.get_by_text("New", exact=True).wait_for()
