"""Typed text becomes what Slack's composer would send."""

from __future__ import annotations

import pytest

from bot.playground.composer import compose, mentions, rich_text
from bot.playground.workspace import sample_workspace

CHANNELS = {"general": "C0GENERAL", "garden-shop": "C0GARDEN"}


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("@footnote hello", "<@U0FOOTNOTE> hello"),
        ("@Footnote, hello", "<@U0FOOTNOTE>, hello"),
        ("ask @Alice Anderson or @bram", "ask <@U0ALICE> or <@U0BRAM>"),
        ("see #general and #garden-shop.", "see <#C0GENERAL> and <#C0GARDEN>."),
        ("@here @channel", "<!here> <!channel>"),
        ("mail bram@dana.example", "mail bram@dana.example"),
        ("@footnotes are not a person", "@footnotes are not a person"),
        ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
        ("read https://havik.example/a?b=1&c=2.", "read <https://havik.example/a?b=1&amp;c=2>."),
        ("<@U0FOOTNOTE> ready-made", "<@U0FOOTNOTE> ready-made"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
    ],
)
def test_typed_text_is_encoded(typed: str, sent: str) -> None:
    assert compose(typed, sample_workspace(), CHANNELS) == sent


def test_the_rich_text_twin_holds_the_text_unescaped() -> None:
    block = rich_text("<@U0FOOTNOTE> a &lt; b <https://x.example/?a=1&amp;b=2>")
    assert block["elements"][0]["elements"] == [
        {"type": "user", "user_id": "U0FOOTNOTE"},
        {"type": "text", "text": " a < b "},
        {"type": "link", "url": "https://x.example/?a=1&b=2"},
    ]


def test_a_mention_is_recognised_with_and_without_a_label() -> None:
    assert mentions("hi <@U0FOOTNOTE>", "U0FOOTNOTE")
    assert mentions("hi <@U0FOOTNOTE|footnote>", "U0FOOTNOTE")
    assert not mentions("hi <@U0FOOTNOTE2>", "U0FOOTNOTE")
