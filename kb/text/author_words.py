"""How authors say what holds for a page, in front matter and in lines about it, as the files in `kb/languages` have it.

`ingest.front_matter` reads these sections by `kb.text.language_files`; the classes check them and say what they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from kb.text.word_lists import NONE, LexiconPart, OrderedWords, Words

Unit = Literal["day", "week", "month", "quarter", "half", "year"]


class DateWords(LexiconPart):
    """Words of dates and periods, besides the months and weekdays of `SequenceWords` and `FigureWords`."""

    months: OrderedWords = ()
    """Other forms; "/" between several, "-" for none."""
    weekdays: Words = NONE
    fillers: Words = NONE
    """They may stand in a date and say nothing: "3rd of May"."""
    clock_before: Words = NONE
    """Before a time of day: "at 9:30"."""
    clock: Words = NONE
    """Words behind a time."""
    quarter: Words = NONE
    half: Words = NONE
    week: Words = NONE
    ordinals: OrderedWords = ()
    """Ordinals of quarters; forms as for months."""
    ordinal_endings: Words = NONE
    units: Mapping[Unit, Words] = {}
    every: Mapping[Unit, Words] = {}
    """How often, in one word: "monthly"."""
    one: Words = NONE
    each: Words = NONE
    """Before a period: "every 6 months"."""


class FrontMatterWords(LexiconPart):
    """Names of fields and what they hold, joined, without signs; case and accents count for nothing."""

    readers: Words = NONE
    """Fields that say who may read a page."""
    readers_surely: Words = NONE
    """Those of them that say nothing else wherever they stand."""
    closed_fields: Words = NONE
    """Fields that limit a page by a yes: "private"."""
    open_fields: Words = NONE
    """Fields that limit it by a no: "public"."""
    graded_fields: Words = NONE
    """Fields that hold a class of confidentiality."""
    closed: Words = NONE
    """Classes that are not for all."""
    closed_labels: Words = NONE
    """Those of them that limit a page as a label; others are subjects: "secret"."""
    labels_of_subjects: Words = NONE
    """Those of `closed_fields` that are subjects as a label."""
    high: Words = NONE
    """Words of a high sensitivity."""
    open: Words = NONE
    """Everybody."""
    nobody: Words = NONE
    """Words that look like a channel's name but are not: they do not say whom they mean."""
    grades: Words = NONE
    """Before the number of a class: "level 3"."""
    negations: Words = NONE
    limiting: Words = NONE
    """ "only"."""
    yes: Words = NONE
    no: Words = NONE
    draft_fields: Words = NONE
    """Fields that make a page a draft where they say yes; names of other things as well."""
    published_fields: Words = NONE
    """Fields that make it one where they say no."""
    status_fields: Words = NONE
    """Fields that hold a page's state."""
    drafts: Words = NONE
    """States of a page that is not in force yet."""
    unpublished: Words = NONE
    retired: Words = NONE
    """States of a page that is no longer kept up."""
    retired_fields: Words = NONE
    replaced_by: tuple[str, ...] = ()
    """In a state, before the name of the page that counts now."""
    edited_fields: Words = NONE
    reviewed_fields: Words = NONE
    review_by_fields: Words = NONE
    expires_fields: Words = NONE
    written_fields: Words = NONE


class NoticeWords(LexiconPart):
    """What a page says of its own standing in its text: see `ingest.parsers.notices`. Parts of regular expressions."""

    this: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    """What a page calls itself behind `this`."""
    copula: tuple[str, ...] = ()
    this_is: tuple[str, ...] = ()
    """Before a version: "this is version 2"."""
    article: tuple[str, ...] = ()
    """Articles behind those."""
    wholly: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    replaced_by: tuple[str, ...] = ()
    """Phrases at the beginning of a line."""
    was_replaced: tuple[str, ...] = ()
    """Phrases behind "this page"."""
    status_replaces: tuple[str, ...] = ()
    """In the status of a decision record, before a link."""
    status_replaced: tuple[str, ...] = ()
    articles: tuple[str, ...] = ()
    """Before the name of what is replaced."""
    name_ends: tuple[str, ...] = ()
    """They end that name."""
    version: tuple[str, ...] = ()
    """Before a number."""
    edition: tuple[str, ...] = ()
    """Before or behind a year."""


class InjectionWords(LexiconPart):
    """Orders to an assistant: see `kb.citations.prompt_injection`. Each is part of a regular expression."""

    joins: tuple[str, ...] = ()
    """Before an imperative within a sentence: "please"."""
    ignore: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    """ "Ignore what you were told"."""
    before: tuple[str, ...] = ()
    """ "everything above"."""
    machine: tuple[str, ...] = ()
    greeting: tuple[str, ...] = ()
    greeted: tuple[str, ...] = ()
    """A machine's names that mean people or something else unless they are greeted."""
