"""For whom, where and what kind a statement holds: "part-time", "abroad", "premium", "sick leave".

Two statements whose scopes differ do not contradict one another, however alike they are. A class holds words that
exclude one another: a statement about one of them says nothing about another, and the rule for all nothing about one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kb.text.lexicon import lexicons
from kb.text.word_lists import Words
from kb.text.wording import tokens

Member = tuple[str, str]
"""A class and its member: ("working_time", "part-time")."""
Scope = dict[str, frozenset[str]]

_MARKERS = ("special", "roles")
"""Names in a class of a language file that list members instead of words."""
_PLURALS = ("s", "es", "n", "en")
_NO_PLURAL = frozenset(
    {"basic", "plus", "pro", "standard", "gold", "silver", "new", "first", "last", "final"}
)


def _classes() -> Iterator[tuple[str, Mapping[str, Words]]]:
    for lexicon in lexicons():
        yield from lexicon.scopes.items()


def _listed(marker: str) -> frozenset[Member]:
    return frozenset((kind, member) for kind, listed in _classes() for member in listed.get(marker, ()))


def _members() -> dict[str, frozenset[Member]]:
    """Maps each form of a word to what it names."""
    found: dict[str, frozenset[Member]] = {}
    for kind, listed in _classes():
        for member, words in listed.items():
            for word in words if member not in _MARKERS else ():
                for form in (word, *(f"{word}{ending}" for ending in _PLURALS if word not in _NO_PLURAL)):
                    found[form] = found.get(form, frozenset()) | {(kind, member)}
    return found


_OF = _members()
_SPECIAL = _listed("special")
_ROLES = _listed("roles")


def scope_of(words: Iterable[str]) -> Scope:
    """Maps each class to its members that the words name."""
    found: dict[str, set[str]] = {}
    for word in words:
        for kind, member in _OF.get(word.casefold(), ()):
            found.setdefault(kind, set()).add(member)
    return {kind: frozenset(members) for kind, members in found.items()}


def read_scope(text: str, context: str) -> Scope:
    """Returns the scope of a sentence: its own words, and those of its headings where they name one member of a class.

    Who a page is for by its headings ("For suppliers") says little of each of its sentences: roles count in these only.
    """
    own = scope_of(_words(text))
    around = {kind: members for kind, members in scope_of(_words(context)).items() if len(members) == 1}
    telling = {
        kind: members for kind, members in around.items() if kind in own or not _is_role(kind, members)
    }
    return {**telling, **own}


def _is_role(kind: str, members: frozenset[str]) -> bool:
    return any((kind, member) in _ROLES for member in members)


def scopes_differ(first: Scope, second: Scope) -> bool:
    """Tells whether they name different members of a class, or only one of them a special case."""
    return any(
        _differ(kind, first.get(kind, _NONE), second.get(kind, _NONE))
        for kind in first.keys() | second.keys()
    )


_NONE: frozenset[str] = frozenset()


def _differ(kind: str, first: frozenset[str], second: frozenset[str]) -> bool:
    if first and second:
        return first != second
    return any((kind, member) in _SPECIAL for member in first | second)


def _words(text: str) -> list[str]:
    return [part for token in tokens(text) for part in {token, *token.split("-")}]
