"""How people in a thread speak to each other, by language: `[speaking]` of the files in `kb/languages`."""

from __future__ import annotations

from kb.text.word_lists import NONE, LexiconPart, Patterns, Words


class SpeakingWords(LexiconPart):
    """Words and patterns of `kb.rewriting.replies`.

    Patterns are searched in a sentence in lower case, without its marks and without "ok, thanks" in front.
    """

    acknowledgements: tuple[str, ...] = ()
    """What asks nothing, beyond `small_talk.acknowledgements`."""
    sounds: Words = NONE
    """Words in front that say nothing: "hm", "well"."""
    asking: tuple[str, ...] = ()
    """Beginnings of a request, beyond `small_talk.asking`."""
    inverted: Patterns = ()
    """Questions without their mark: "is it paid"."""
    statements: Patterns = ()
    """What begins like a question or names a thing, and is neither: "what a day", "when I left", "I'll ask her"."""
    rhetorical: tuple[str, ...] = ()
    """Whole questions that want no answer: "really", "who knew"."""
    tags: tuple[str, ...] = ()
    """What a statement ends with to be agreed with: "right"."""
    persons: Patterns = ()
    """Questions to a person, or plans: "can you send it to me", "shall we meet"."""
    events: Patterns = ()
    """Questions about what happened: "how was it", "what did they say"."""
    groups: Patterns = ()
    """What is said to everybody who reads: "anyone up for lunch", "does anyone know"."""
    concerning: Words = NONE
    """Before what a question is asked of once more: "for contractors"."""
    alternatives: Words = NONE
    """Between two of which one is asked for: "before or after tax"."""
    knowing: Words = NONE
    """What everybody is asked for: "does anyone know how", "any idea where"."""
    meaning: tuple[str, ...] = ()
    """Beginnings of what somebody meant: "I meant contractors"."""
    denials: Words = NONE
    """Words before what is meant instead: "no, for contractors"."""
    wishes: tuple[str, ...] = ()
    """Beginnings that answer "what do you mean?", and at any other time tell something: "I need the price list"."""
    choices: Words = NONE
    """Words that pick among what was offered: "both"."""
    actors: Words = NONE
    """Who acts in a statement: "I", "we", "she"."""
