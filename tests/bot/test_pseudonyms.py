"""Names that leave Slack in a file are numbers."""

from __future__ import annotations

import pytest

from bot.stats.pseudonyms import Pseudonyms, names_nobody


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Ask @bram about it.", "Ask person-1 about it."),
        ("Ask @Bram de Vries, please", "Ask person-1, please"),
        ("@alice and @bob and @Alice?", "person-1 and person-2 and person-1?"),
        ("mail bram.de-vries+x@mail.havik.nl now", "mail person-1@example.com now"),
        ("call +31 6 1234 5678 or (020) 123 45 67", "call 000 000 000 or 000 000 000"),
        ("in #garden-shop, not in #people", "in channel-1, not in channel-2"),
        ("is U0ABCDEFGH in C0ABCDEFGH?", "is person-1 in channel-1?"),
        ("@bram. Thanks", "person-1. Thanks"),
    ],
)
def test_who_and_where_are_replaced(text: str, told: str) -> None:
    assert Pseudonyms().text(text) == told
    assert not names_nobody(text)


@pytest.mark.parametrize(
    "text",
    [
        "How many days of holiday do I get?",
        "Is issue #12 closed since 2026-11-27, 01-02-2026 or 1.000.000?",
        "Open https://kb.example/a#annual-leave or &#39;",
        "Tell @here that version 0.12.3456.789-rc1 is out",
    ],
)
def test_dates_figures_addresses_and_whole_channels_stay(text: str) -> None:
    assert Pseudonyms().text(text) == text
    assert names_nobody(text)


def test_a_name_has_one_number_through_the_whole_file() -> None:
    names = Pseudonyms()
    assert [names.text(one) for one in ("@alice", "@bob", "@alice #x", "#y #x")] == [
        "person-1",
        "person-2",
        "person-1 channel-1",
        "channel-2 channel-1",
    ]
