"""Names in a text by their spelling: capitals within a sentence, codes, and what is typed to the letter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kb.citations.fact_words import MONTHS, UNITS, WEEKDAYS
from kb.citations.tongue import tongue
from kb.text.wording import STOP_WORDS, plain, stem, word_set

_NAME = re.compile(
    r"(?P<before>^|[:.!?|(\"“„«/–—-]\s*|\s)(?P<name>[^\W_](?:[\w'&-]|\.(?=\w))*)", re.MULTILINE
)
_TYPED = re.compile(
    r"`([^`\n]+)`|(?<![\w&/])(#[a-z][\w-]+)|(?<![\w.])([\w.+-]+@[\w-]+\.[\w.-]+\w)|(?<![\w/.:])(/[a-z][\w-]+)(?![\w/])"
    r"|(?<![\w.])(\.[a-z][a-z\d]{1,4})(?!\w|\.\w)"
)
"""What is typed to the letter: code, a channel, an address, a command, the ending of a file."""
_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(?P<code>.*?)(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL
)
_PLACEHOLDER = re.compile(r"<[^<>\n]+>|\{[^{}\n]+\}|\$\w+")
_REMARK = re.compile(r"\s*(?:#|//|--|;|REM\b)")
"""How a line of code begins that only remarks on the others: its words may be the answer's own."""
_DOTTED = re.compile(r"\b(?:[A-Z]\.){2,}")
"""U.S. is US."""
_CAPITALISED = r"[A-Z][\w&'-]*"
_RUN = re.compile(rf"{_CAPITALISED}(?:[ -](?:of |the |and |for |von |der |van |de )*{_CAPITALISED})+")
_LONGEST_ACRONYM = 6
_CALENDAR = frozenset().union(MONTHS, WEEKDAYS, word_set("mon tue tues wed thu thur thurs fri sat sun"))
MANY_NAMES = 6
"""From more capitalised words than these on a sentence is a line of titles, and their capitals tell nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """`runs`: capitalised words in a row, of which one that is known is enough. `initials`: of every run, with its words.

    `literal`: the text to find typed things in.
    """

    words: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    capitals: frozenset[str] = frozenset()
    initials: frozenset[tuple[str, str]] = frozenset()
    literal: str = ""
    runs: tuple[frozenset[str], ...] = ()

    @property
    def any(self) -> bool:
        return bool(self.words or self.typed)


def read_names(text: str) -> Names:
    words = _DOTTED.sub(lambda dotted: dotted.group().replace(".", ""), plain(text))
    found = tuple(_names(words))
    return Names(
        words=found,
        typed=tuple(_typed(text)),
        capitals=frozenset(name.rstrip("s") for name in found if name[:2].isupper()),
        initials=frozenset(_initials(words)),
        literal=_folded(text),
        runs=tuple(frozenset(re.split(r"[ -]", run.group())) for run in _RUN.finditer(words)),
    )


def join_names(names: list[Names]) -> Names:
    return Names(
        words=tuple(word for one in names for word in one.words),
        typed=tuple(word for one in names for word in one.typed),
        capitals=frozenset().union(*(one.capitals for one in names)),
        initials=frozenset().union(*(one.initials for one in names)),
        literal="\n".join(one.literal for one in names),
    )


def missing_names(said: Names, known: Names, stems: frozenset[str], *, same_language: bool) -> Names:
    """The names of `said` that are not in `known`. Across languages only what is typed has to agree."""
    typed = tuple(one for one in said.typed if not _is_typed(one, known.literal))
    if not same_language:
        return replace(said, words=(), typed=typed)
    missing = {one for one in said.words if not (_has_name(one, stems) or _is_short_for(one, said, known))}
    partly = frozenset().union(*(run for run in said.runs if not run <= missing))
    words = tuple(one for one in said.words if one in missing and (_is_exact(one) or one not in partly))
    if len(said.words) > MANY_NAMES:
        words = tuple(filter(_is_exact, words))
    return replace(said, words=words, typed=typed)


def _typed(text: str) -> Iterator[str]:
    """What is typed to the letter: in the text, and every line of its blocks of code."""
    for block in _FENCE.finditer(text):
        yield from (
            _folded(line) for line in block["code"].splitlines() if line.strip() and not _REMARK.match(line)
        )
    outside = _FENCE.sub("", text).replace("```", "")
    yield from (_folded("".join(match.groups(""))) for match in _TYPED.finditer(outside))


def _is_typed(typed: str, literal: str) -> bool:
    """To the letter, but for placeholders: `<name>`, `{id}` and `$HOST` stand for anything."""
    start = "" if typed.startswith(".") else r"(?<![\w-])"  # a file's ending stands behind its name
    parts = [re.escape(part) for part in _PLACEHOLDER.split(typed)]
    return re.search(rf"{start}{'[^ ]+'.join(parts)}(?![\w-])", literal) is not None


def _is_exact(name: str) -> bool:
    """Whether no capitals beside it make up for it: T480, FOO_BAR."""
    return any(letter.isdigit() or letter in "_." for letter in name)


def _is_short_for(name: str, said: Names, known: Names) -> bool:
    """EU for European Union, and the other way round."""
    acronym = name.rstrip("s") if name.isupper() or name[:-1].isupper() else ""
    if acronym and (acronym in known.capitals or any(acronym == initials for initials, _ in known.initials)):
        return True
    return any(name in words.split() and initials in known.capitals for initials, words in said.initials)


def _names(words: str) -> Iterator[str]:
    german = tongue(words) == "de"
    for match in _NAME.finditer(words):
        word = match["name"].rstrip("-'.").removesuffix("'s")
        folded = word.casefold()
        common = folded in STOP_WORDS and not _is_acronym(word, words)
        if len(word) < 2 or folded.startswith("i'") or common or folded in _CALENDAR:
            continue
        if _is_code(word):
            if folded not in UNITS:
                yield word
        elif word[0].isupper() and match["before"].isspace() and not german:
            yield word  # German gives every noun a capital: no sign of a name there


def _is_acronym(word: str, words: str) -> bool:
    """US and IT among small letters; in a line of capitals they are the small words."""
    return len(word) > 1 and word.isupper() and not words.isupper()


def _is_code(word: str) -> bool:
    letters = [letter for letter in word if letter.isalpha()]
    if not letters:
        return word.count(".") >= 2
    if word[0].isalpha() and any(letter.isdigit() for letter in word):
        return True
    return sum(letter.isupper() for letter in word) >= 2 and "-" not in word


def _initials(words: str) -> Iterator[tuple[str, str]]:
    for match in _RUN.finditer(words):
        run = [word for word in re.split(r"[ -]", match.group()) if word[:1].isupper()]
        for size in range(2, min(len(run), _LONGEST_ACRONYM) + 1):
            for start in range(len(run) - size + 1):
                part = run[start : start + size]
                yield "".join(word[0] for word in part), " ".join(part)


def _has_name(name: str, stems: frozenset[str]) -> bool:
    if name.casefold() in STOP_WORDS:
        return False  # US, IT, MIT: small letters are another word
    parts = [stem(part) for part in re.split(r"[-&/_]", name) if part]
    return stem(name) in stems or all(any(_akin(part, other) for other in stems) for part in parts)


def _akin(one: str, other: str) -> bool:
    """Canada and Canadian, not Austria and Australia: all but one letter of the shorter agree. Codes: to the letter."""
    if one == other or any(letter.isdigit() for letter in one):
        return one == other
    shorter = min(len(one), len(other))
    common = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    return common >= max(5, shorter - 1) or (common == shorter >= 4 and len(one) - len(other) in (-1, 1))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
