"""Names in a text by their spelling: capitals within a sentence, codes, and what is typed to the letter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kb.citations.fact_words import MONTHS, UNITS, WEEKDAYS
from kb.text.language import detect
from kb.text.lexicon import lexicon, union
from kb.text.wording import STOP_WORDS, plain, stem

_NAME = re.compile(
    r"(?P<before>^|[:.!?|(\"“„«/–—-]\s*|\s)(?P<name>[^\W_](?:[\w'&-]|\.(?=\w))*)", re.MULTILINE
)
_TYPED = re.compile(
    r"`([^`\n"
    r"]+)`|(?<![\w&/])(#[a-z][\w-]+)|(?<![\w.+-])([\w.+-]++@[\w-]+\.[\w.-]+\w)|(?<![\w/.:])(/[a-z][\w-]+)(?![\w/])"
    r"|(?<![\w.])(\.[a-z][a-z\d]{1,4})(?!\w|\.\w)"
)
"""What is typed to the letter: code, a channel, an address, a command, the ending of a file."""
_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(?P<code>.*?)(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL
)
_PLACEHOLDER = re.compile(r"<[^<>\n]+>|\{[^{}\n]+\}|\$\w+")
_LONGEST_ACRONYM = 6
_CONTINUED = re.compile(r"\\[ \t]*\n")
_REMARK = re.compile(r"\s*(?:#|//|--|;|REM\b)")
"""How a line of code begins that only remarks on the others: its words may be the answer's own."""
_CAPITALS = re.compile(r"\b[A-Z]{2,}")
_RUN = re.compile(r"[A-Z][\w&'-]*(?:[ -](?:of |the |and |for |von |der |van |de )*[A-Z][\w&'-]*)+")
_CALENDAR = frozenset().union(MONTHS, WEEKDAYS, union(lambda lexicon: lexicon.figures.short_days))


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """`capitals`: words of capitals only. `runs`: capitalised words in a
    row. `literal`: the text to find typed things in.
    """

    words: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    capitals: frozenset[str] = frozenset()
    runs: tuple[tuple[str, ...], ...] = ()
    literal: str = ""

    @property
    def any(self) -> bool:
        return bool(self.words or self.typed)


def read_names(text: str) -> Names:
    words = plain(text)
    return Names(
        words=tuple(_names(plain(_TYPED.sub(" ", text)))),  # what is typed is compared separately
        typed=tuple(_typed(text)),
        capitals=frozenset(_CAPITALS.findall(words)),
        runs=tuple(tuple(re.split(r"[ -]", run.group())) for run in _RUN.finditer(words)),
        literal=_folded(text),
    )


def join_names(names: list[Names]) -> Names:
    return Names(
        capitals=frozenset().union(*(found.capitals for found in names)),
        literal="\n".join(found.literal for found in names),
    )


def missing_names(stated: Names, known: Names, stems: frozenset[str], *, same_language: bool) -> Names:
    """Returns the names of `stated` that are not in `known`. Across languages only what is typed has to agree.

    Capitals alone tell little (titles, "Additionally"): where one name of
    the sentence is known, the others pass but for codes.
    """
    typed = tuple(name for name in stated.typed if not _is_typed(name, known.literal))
    short = {word for run in stated.runs if _is_short(run, known.capitals) for word in run}
    words = [word for word in stated.words if not (word in short or _has_name(word, stems))]
    if len(words) < len(stated.words):
        words = [word for word in words if _is_exact(word)]
    return replace(stated, words=tuple(words) if same_language else (), typed=typed)


def _typed(text: str) -> Iterator[str]:
    """Yields what is typed to the letter: in the text, and every line of its blocks of code."""
    for block in _FENCE.finditer(text):
        yield from (
            _folded(line) for line in block["code"].splitlines() if line.strip() and not _REMARK.match(line)
        )
    outside = _FENCE.sub("", text).replace("```", "")
    yield from (_folded("".join(match.groups(""))) for match in _TYPED.finditer(outside))


def _is_typed(typed: str, literal: str) -> bool:
    """Compares literally, but for placeholders: `<name>`, `{id}` and `$HOST` stand for anything."""
    start = "" if typed.startswith(".") else r"(?<![\w-])"  # a file's ending stands behind its name
    parts = [re.escape(part) for part in _PLACEHOLDER.split(typed)]
    return re.search(rf"{start}{'[^ ]+'.join(parts)}(?![\w-])", literal) is not None


def _is_exact(name: str) -> bool:
    """Tells whether no capitals beside a name make up for it: T480, FOO_BAR, PASSWORDS."""
    return name.isupper() or any(letter.isdigit() or letter in "_." for letter in name)


def _names(words: str) -> Iterator[str]:
    """Finds names, without acronyms: answers write CPU and HCD for what the page spells out."""
    has_capital_nouns = lexicon(detect(words)).words.capital_nouns
    for match in _NAME.finditer(words):
        word = match["name"].rstrip("-'.").removesuffix("'s")
        folded = word.casefold()
        if len(word) < 2 or folded in STOP_WORDS or folded.startswith("i'") or folded in _CALENDAR:
            continue
        if _is_code(word):
            if folded not in UNITS:
                yield word
        elif word[0].isupper() and match["before"].isspace() and not (has_capital_nouns or _is_acronym(word)):
            yield word  # German gives every noun a capital: no sign of a name there


def _is_code(word: str) -> bool:
    letters = [letter for letter in word if letter.isalpha()]
    if not letters:
        return word.count(".") >= 2
    if word[0].isalpha() and any(letter.isdigit() for letter in word):
        return True
    return sum(letter.isupper() for letter in word) >= 2 and "-" not in word and not _is_acronym(word)


def _is_acronym(word: str) -> bool:
    letters = word.replace(".", "").rstrip("s")
    return letters.isalpha() and letters.isupper() and len(letters) <= _LONGEST_ACRONYM


def _is_short(run: tuple[str, ...], capitals: frozenset[str]) -> bool:
    """Tells whether the page has it in capitals: European Union as EU, IBM Cloud as IBM."""
    initials = "".join(word[0] for word in run if word[:1].isupper())
    return initials.endswith(tuple(capitals)) or not capitals.isdisjoint(run)


def _has_name(name: str, stems: frozenset[str]) -> bool:
    parts = [stem(part) for part in re.split(r"[-&/_]", name) if part]
    return stem(name) in stems or all(any(_akin(part, other) for other in stems) for part in parts)


def _akin(name: str, other: str) -> bool:
    """Tells whether two names are akin: Canada and Canadian, not Austria and Australia. Codes must be equal."""
    if name == other or any(letter.isdigit() for letter in name):
        return name == other
    shorter = min(len(name), len(other))
    common = next((index for index in range(shorter) if name[index] != other[index]), shorter)
    return common >= max(5, shorter - 1) or (common == shorter >= 4 and len(name) - len(other) in (-1, 1))


def _folded(text: str) -> str:
    """Returns the text in small letters on one line; a command broken over lines with a backslash is one command."""
    return " ".join(_CONTINUED.sub(" ", text).casefold().split())
