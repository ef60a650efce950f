"""How an answer reads in a terminal: what Rich would draw of images and addresses is put in words."""

from io import StringIO

from rich.console import Console
from rich.markdown import Markdown

from bot.cli.ask import _in_words


def shown(markdown: str) -> str:
    console = Console(file=StringIO(), width=100)
    console.print(_in_words(Markdown(markdown, hyperlinks=True)))
    return console.file.getvalue().strip()  # type: ignore[attr-defined]


def test_an_image_is_its_words_and_mailto_an_address_but_for_code() -> None:
    assert (
        shown("See ![the map](map.png) or ask <mailto:ann@kb.example>.")
        == "See the map or ask ann@kb.example."
    )
    assert shown("Write `mailto:ann@kb.example`.") == "Write mailto:ann@kb.example."
