"""What people wrote, as Slack sends it."""

import pytest

from bot.slack.slack_text import addresses_others, mentions, people_in, plain_text, without_mention

BOT = "U0BOT"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<@U0BOT> How many days?", "How many days?"),
        ("<@U0BOT>, how many days?", "how many days?"),
        ("<@U0BOT|footnote>: how many days?", "how many days?"),
        ("how many days, <@U0BOT>?", "how many days?"),
        ("hey <@U0BOT> how many days", "hey how many days"),
        ("<@U0BOT> ask <@U1>", "ask <@U1>"),
        ("<@U0BOT>", ""),
        ("  <@U0BOT>  ", ""),
        ("<@U0BOT>\nhow many?", "how many?"),
        ("- one\n- two", "- one\n- two"),
    ],
)
def test_our_own_mention_is_taken_out(text: str, expected: str) -> None:
    assert without_mention(text, BOT) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ask <@U1> or <@U2>", "ask @alice or @U2"),
        ("ask <@U3|carol>", "ask @carol"),
        ("in <#C1|general> or <#C2>", "in #general or #C2"),
        ("see <https://kb.example/a?b=1&amp;c=2|the page>", "see the page"),
        ("see <https://kb.example/a?b=1&amp;c=2>", "see https://kb.example/a?b=1&c=2"),
        ("<mailto:a@kb.example|a@kb.example> <mailto:b@kb.example>", "a@kb.example b@kb.example"),
        ("<!here> <!subteam^S1|@leads> <!subteam^S1>", "@here @leads @subteam"),
        ("1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"),
        ("&amp;lt;", "&lt;"),
    ],
)
def test_links_and_mentions_become_the_words_that_people_see(text: str, expected: str) -> None:
    assert plain_text(text, {"U1": "alice"}) == expected


def test_who_is_spoken_to() -> None:
    assert people_in("<@U1> <@U0BOT> <@U1|x>") == ["U1", "U0BOT"]
    assert mentions("hey <@U0BOT>", BOT)
    assert addresses_others("<@U1> what about it?", BOT)
    assert addresses_others("<!here> what about it?", BOT)
    assert addresses_others("<!subteam^S1|@leads> any idea?", BOT)
    assert not addresses_others("<@U1> and <@U0BOT>, what about it?", BOT)
    assert not addresses_others("what about it in <#C1|general>?", BOT)
