"""Checks a model's translation of a query, as far as two languages can be compared.

Words cannot be compared across languages, so what a translation asks is taken on trust: it never stands alone (the
user's own words and the rewrite are searched beside it), and finds only what its reader may read. What can be
compared is: its length, its language, its figures, codes and names, and that it still asks.
"""

from __future__ import annotations

import re
import unicodedata

from kb.conversation.topics import names_in
from kb.rewriting.context import ThreadContext
from kb.rewriting.grounding import adds_links, adds_mention, answers
from kb.rewriting.validation import FLOOR, LONGEST_GROWTH, leaks_prompt
from kb.text.language import detect
from kb.text.lexicon import SPACELESS, Lexicon, lexicon, words_of

SPACELESS_GROWTH = 8
"""Times the original that a translation out of a script without spaces may have: a character of it says a word."""
FEWEST_WORDS = 0.25
"""Share of the query's words: a compound of one language is three words of another, a question never one word."""
SMALL_NUMBER = 12
"""Up to here a number may be a word in one language and a figure in the other: "drei Tage", "3 days"."""
CAPITALISED = frozenset({"de"})
"""Languages that write every noun with a capital: it makes no name."""

_NUMBER = re.compile(r"\d+")
_CODE = re.compile(
    r"(?<!\w)(?:[^\W\d_]+\d\w*|\w+_\w+|--\w[\w-]*)(?!\w)"  # "v2", "leave_days", "--dry-run"
    r"|(?<![\w.])(?=[\d.]*[^\W\d_])\w{2,}(?:\.\w{2,})+(?!\w)"  # "footnote.toml"
)
_EXAMPLE = re.compile(r'translated "([^"]+)"')
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9.+-]*[A-Za-z0-9]")


def unusable_translation(
    query: str,
    translated: str,
    context: ThreadContext,
    *,
    language: str,
    pages_language: str,
    rules: str,
    examples: str = "",
) -> str | None:
    """Returns why it may not be used, as a short code for logs and counters; None when it may.

    `query` is what it translates, in `language`. `rules` are the instructions that the model was given, `examples`
    those of right translations: each is right for its own query alone.
    """
    if not translated.strip():
        return "missing"
    leaked = leaks_prompt(query, translated, prompt=rules, thread=context.text)
    return (
        _form(query, translated, pages_language)
        or ("prompt_leak" if leaked or _is_example(query, translated, examples) else None)
        or ("link_added" if adds_links(query, translated, context) else None)
        or ("mention_added" if adds_mention(query, translated) else None)
        or _figures(query, translated)
        or _names(query, translated, lexicon(language))
        or ("answered" if _answers(query, translated, language, pages_language) else None)
    )


def _form(query: str, translated: str, pages_language: str) -> str | None:
    if "\n" in translated.strip():
        return "several_lines"
    spaceless = SPACELESS.search(query) is not None
    growth = SPACELESS_GROWTH if spaceless else LONGEST_GROWTH
    if len(translated) > max(growth * len(query), FLOOR):
        return "too_long"
    fewer = len(words_of(translated)) < FEWEST_WORDS * len(words_of(query))
    if fewer and not (spaceless or SPACELESS.search(translated)):
        return "too_short"
    if detect(translated, default=pages_language, hint=pages_language) != pages_language:
        return "language_changed"
    return None


def _is_example(query: str, translated: str, examples: str) -> bool:
    example_text = " ".join(examples.split())
    recited = translated.casefold() in (example.casefold() for example in _EXAMPLE.findall(example_text))
    return recited and query.casefold() not in example_text.casefold()


def _figures(query: str, translated: str) -> str | None:
    """Compares numbers and code words, the same in every language. A small number may have been a word."""
    numbers, translated_numbers = _numbers(query), _numbers(translated)
    codes = {match.group().casefold() for match in _CODE.finditer(query)}
    if not numbers <= translated_numbers or not all(code in translated.casefold() for code in codes):
        return "figure_lost"
    added = translated_numbers - numbers
    return "figure_added" if any(len(figure) > 2 or int(figure) > SMALL_NUMBER for figure in added) else None


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(unicodedata.normalize("NFKC", text)))


def _names(query: str, translated: str, lexicon: Lexicon) -> str | None:
    """Compares names. One may have another form ("Duitsland") with a capital; months have none in most languages."""
    lower = translated.casefold()
    if SPACELESS.search(query):
        kept = all(word.casefold() in lower for word in _LATIN.findall(query))
        return None if kept else "name_lost"
    calendar = {*lexicon.sequence.weekdays, *lexicon.sequence.months}
    names = [name for name in names_in(query, lexicon) if name.casefold() not in calendar]
    if not names or lexicon.language in CAPITALISED or any(name.casefold() in lower for name in names):
        return None
    capital = any(word[:1].isupper() for word in translated.split()[1:])
    return None if capital or SPACELESS.search(translated) else "name_lost"


def _answers(query: str, translated: str, language: str, pages_language: str) -> bool:
    """Whether the translation of a question states something. A heading ("parental leave") states nothing."""
    nothing = ThreadContext(exchanges=(), topics=())
    return answers(query, translated, nothing, lexicon(pages_language), asked_in=lexicon(language))
