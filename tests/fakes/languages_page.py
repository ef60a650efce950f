"""The coverage table of docs/languages.md, made of the language files: `python -m tests.fakes.languages_page` writes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bot.messages.catalog import LANGUAGES
from kb.retrieval.lexical import STEMMED
from kb.text.language_files import language_file, languages

PAGE = Path(__file__).parents[2] / "docs/languages.md"
BEGIN, END = "<!-- coverage -->", "<!-- /coverage -->"
PURPOSES = {
    "words": "kinds of small words: which language a short text is in, what a slip was meant to be, what carries no meaning",
    "reference": "words that point back: \"and when do they expire?\"",
    "ellipsis": "half questions: \"and the price?\", \"tell me more\"",
    "pointing": "messages that point at what stands above: \"do you know?\"",
    "small_talk": "greetings, thanks, remarks, beginnings of a request",
    "speaking": "what people say to one another, and how they ask without a question mark",
    "sequence": "next, previous, ordinals, weekdays, months",
    "rewriting": "how a follow-up becomes a question without a model",
    "parts": "several questions in one",
    "sentences": "abbreviations that end no sentence",
    "measures": "words beside a figure: \"at most\", \"per week\"; disagreeing pages",
    "scopes": "for whom, where and what kind a statement holds: \"part-time\", \"abroad\"",
    "figures": "numbers, dates, units, how often; the check of sentences",
    "examples": "questions to try in the playground",
    "dates": "dates and periods in front matter",
    "front_matter": "names of fields and states: \"draft\", \"confidential\", \"expires\"",
    "notices": "\"this page has been replaced by\", versions",
    "injections": "orders to an assistant that stand on a page",
}  # fmt: skip
"""What each section is for."""


def coverage() -> str:
    codes = sorted(languages(), key=lambda code: (code != "en", code))
    lines = [
        f"| section | {' | '.join(codes)} | for |",
        f"|---|{'--:|' * len(codes)}---|",
        *(
            f"| `{section}` | {' | '.join(_count(code, section) for code in codes)} | {purpose} |"
            for section, purpose in PURPOSES.items()
        ),
        f"| sentences of the bot | {' | '.join(_yes(code in LANGUAGES) for code in codes)} | `bot/messages/` |",
        f"| stemmer of the index | {' | '.join(_yes(code in STEMMED) for code in codes)} | `kb/retrieval/lexical.py` |",
    ]
    return "\n".join(lines)


def _count(code: str, section: str) -> str:
    entries = sum(1 for _ in _entries(language_file(code).get(section, {})))
    return str(entries) if entries else "-"


def _entries(value: Any) -> Iterator[str]:
    """The words and phrases of a table."""
    if isinstance(value, str):
        yield from (word for word in value.split() if word != "-")
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _entries(inner)
    elif isinstance(value, list):
        yield from (str(phrase) for phrase in value)
    else:
        yield str(value)


def _yes(covered: bool) -> str:
    return "yes" if covered else "-"


def in_page(text: str) -> str:
    """What the page has for a table."""
    return text.partition(BEGIN)[2].partition(END)[0].strip()


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = re.compile(rf"{BEGIN}.*{END}", re.DOTALL)
    PAGE.write_text(table.sub(lambda _: f"{BEGIN}\n{coverage()}\n{END}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
